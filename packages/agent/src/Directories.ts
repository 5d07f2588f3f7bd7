import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"

/** A session cannot be set up with these parameters; nothing was created. */
export class SetupRefused extends Schema.TaggedError<SetupRefused>()("SetupRefused", { message: Schema.String }) {}

export interface Directories {
  readonly cwd: string
  /** Canonical, without repetitions and without the working directory. */
  readonly additional: ReadonlyArray<string>
}

/**
 * Checks the directories of a session: absolute, and existing directories (S21, S170). Where the process is fixed to a directory, the
 * working directory must be that one.
 */
export const check = Effect.fnUntraced(function* (
  cwd: string,
  additional: ReadonlyArray<string>,
  fixed?: string,
): Effect.fn.Return<Directories, SetupRefused, FileSystem.FileSystem | Path.Path> {
  const paths = yield* Path.Path
  const missingRoot = () => `the root of this Kit runtime is not a directory: ${fixed}`
  if (!paths.isAbsolute(cwd)) return yield* new SetupRefused({ message: `cwd must be absolute: ${cwd}` })
  if (!additional.every(paths.isAbsolute)) return yield* new SetupRefused({ message: "additional directories must be absolute" })
  const root = yield* canonical(
    cwd,
    () => `cwd does not exist: ${cwd}`,
    () => `cwd must be a directory: ${cwd}`,
  )
  if (fixed !== undefined && root !== (yield* canonical(fixed, missingRoot, missingRoot))) {
    return yield* new SetupRefused({ message: `this Kit runtime is fixed to ${fixed}` })
  }
  const directories = yield* Effect.forEach(additional, (path) =>
    canonical(
      path,
      () => `invalid additional directories: ${path} does not exist`,
      () => `additional directories must be directories: ${path}`,
    ),
  )
  return { cwd, additional: [...new Set(directories)].filter((path) => path !== root) }
})

const canonical = Effect.fnUntraced(function* (path: string, missing: () => string, wrong: () => string) {
  const files = yield* FileSystem.FileSystem
  const real = yield* Effect.mapError(files.realPath(path), () => new SetupRefused({ message: missing() }))
  const { type } = yield* Effect.mapError(files.stat(real), () => new SetupRefused({ message: missing() }))
  return type === "Directory" ? real : yield* new SetupRefused({ message: wrong() })
})

export * as Directories from "./Directories.ts"
