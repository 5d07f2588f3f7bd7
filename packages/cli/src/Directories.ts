import { Host } from "@acp-kit/platform/Host"
import { SystemFailure } from "@acp-kit/platform/SystemFailure"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { failed } from "./CommandFailed.ts"
import { Flag } from "./Flag.ts"

/** Where a command works; the same for every command that runs agents. */
export const flags = {
  root: Flag.text({ placeholder: "DIR", summary: "the working directory of programs and agents", fallback: "the current one" }),
  "add-dir": Flag.texts({ placeholder: "DIR", summary: "a further directory that agents may work in" }),
}

/** The absolute path of a directory that a call names for a purpose; a missing one, and a file, are refused. */
export const existing = Effect.fnUntraced(function* (purpose: string, named: string) {
  const host = yield* Host.Service
  const path = yield* Path.Path
  const files = yield* FileSystem.FileSystem
  const directory = path.resolve(host.cwd, named)
  const found = yield* Effect.mapError(files.stat(directory), (error) =>
    failed(2, "DIRECTORY", `could not open ${purpose} ${directory}: ${SystemFailure.why(error)}`),
  )
  if (found.type !== "Directory") return yield* failed(2, "DIRECTORY", `${purpose} is not a directory: ${directory}`)
  return directory
})

/** The absolute path of the directory that a session works in. */
export const working = (named: string) => existing("working directory", named)

/** The absolute path of a directory that `--add-dir` names. */
export const additional = (named: string) => existing("additional directory", named)

export * as Directories from "./Directories.ts"
