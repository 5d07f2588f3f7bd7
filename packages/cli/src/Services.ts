import type { Services as SubagentServices } from "@acp-kit/orchestrator/Subagents"
import type { Footer } from "./Footer.ts"
import type { Terminal } from "./Terminal.ts"

/** What the app provides: what children need (processes, files, paths, the host, schemas) and the terminal. */
export type AppServices = SubagentServices | Terminal.Service

/** What every command may use. */
export type Services = AppServices | Footer.Service

/** 0 a value, 1 it failed, 2 it did not compile or the call was wrong. An interruption leaves with 130 and is no exit code of a command. */
export type ExitCode = 0 | 1 | 2
