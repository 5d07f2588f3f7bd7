import type { Host } from "@acp-kit/platform/Host"
import type { Processes } from "@acp-kit/platform/Processes"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import type { Terminal } from "./Terminal.ts"

/** What every command may use; the app provides it. */
export type Services = Host.Service | Processes.Service | FileSystem.FileSystem | Path.Path | Terminal.Service

/** 0 a value, 1 it failed, 2 it did not compile or the call was wrong. An interruption leaves with 130 and is no exit code of a command. */
export type ExitCode = 0 | 1 | 2
