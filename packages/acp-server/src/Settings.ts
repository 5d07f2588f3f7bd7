import type { Interface as Sessions } from "@acp-kit/agent/AgentSessions"
import type { SetupRefused } from "@acp-kit/agent/Directories"
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ServerTransport } from "./ServerTransport.ts"

/** What both versions of the server are made of. */
export interface Settings {
  readonly info: { readonly name: string; readonly version: string }
  /** Made at the first request that needs a session. */
  readonly sessions: Effect.Effect<Sessions, SetupRefused>
  /** Where handlers run. */
  readonly context: Context.Context<never>
  readonly transport: ServerTransport
}
