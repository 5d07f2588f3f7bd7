import { SystemFailure } from "@acp-kit/platform/SystemFailure"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { invalid } from "./Arguments.ts"
import type { SubagentError } from "./SubagentError.ts"

/** The working directory of a child (S21): Kit's own, or `cwd` counted from it, without links; missing or no directory fails before anything starts. */
export const resolve = Effect.fnUntraced(function* (
  root: string,
  cwd: string | undefined,
): Effect.fn.Return<string, SubagentError, FileSystem.FileSystem | Path.Path> {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const wanted = cwd === undefined ? root : path.resolve(root, cwd)
  const real = yield* Effect.mapError(files.realPath(wanted), (error) =>
    invalid(`could not open subagent working directory ${wanted}: ${SystemFailure.why(error)}`),
  )
  const info = yield* Effect.mapError(files.stat(real), (error) =>
    invalid(`could not open subagent working directory ${wanted}: ${SystemFailure.why(error)}`),
  )
  if (info.type !== "Directory") return yield* invalid(`subagent working directory is not a directory: ${wanted}`)
  return real
})

export * as WorkingDirectory from "./WorkingDirectory.ts"
