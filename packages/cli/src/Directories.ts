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

/** The absolute path of a directory that a flag names; a missing one, and a file, are refused. */
export const resolve = Effect.fnUntraced(function* (named: string) {
  const host = yield* Host.Service
  const path = yield* Path.Path
  const files = yield* FileSystem.FileSystem
  const directory = path.resolve(host.cwd, named)
  const found = yield* Effect.mapError(files.stat(directory), (error) =>
    failed(2, "DIRECTORY", `could not open working directory ${directory}: ${SystemFailure.why(error)}`),
  )
  if (found.type !== "Directory") return yield* failed(2, "DIRECTORY", `working directory is not a directory: ${directory}`)
  return directory
})

export * as Directories from "./Directories.ts"
