import type { Processes } from "@acp-kit/platform/Processes"
import type { Tool } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import { Edit } from "./Edit.ts"
import { Shell } from "./Shell.ts"

export interface Options {
  /** Absolute path of the directory that the tools work in. */
  readonly root: string
  /** The whole environment of shell commands. */
  readonly env: Readonly<Record<string, string>>
}

/** The tools that work on the machine itself, `shell` and `edit`; the same for `kit compose` and for the Kit agent (S09). */
export const make = (
  options: Options,
): Effect.Effect<ReadonlyArray<Tool>, never, Processes.Service | FileSystem.FileSystem | Path.Path> =>
  Effect.all([Shell.make(options), Edit.make(options)])

export * as LocalTools from "./LocalTools.ts"
