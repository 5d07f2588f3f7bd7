import type { Json } from "@acp-kit/runlet/Host"
import type { SessionStore } from "@acp-kit/store/SessionStore"
import type { StoreError } from "@acp-kit/store/StoreError"
import type { LoadedAgent } from "@acp-kit/store/SubagentStore"
import * as Effect from "effect/Effect"
import type { SubagentError } from "./SubagentError.ts"
import type { HandleValue, Live } from "./Subagents.ts"

/** One agent of a session, ready to go on. */
export interface Runner {
  readonly id: string
  /** What the store knew of it when it was loaded: metadata, system prompt, conversation. */
  readonly agent: LoadedAgent
  /**
   * Continues the conversation by one turn and returns the agent's new value; call it as often as needed. Fails with `SUBAGENT_RETIRED` where the agent was
   * closed, failed, or was in a turn when its parent ended.
   */
  readonly run: (prompt: Json, options?: { readonly output_schema?: Json }) => Effect.Effect<HandleValue, SubagentError>
}

/**
 * Loads an agent by its id (K09): the store checks that it exists and belongs to this session (K10) and restores prompt and context. No process is started.
 *
 * @example
 * const runner = yield* SubagentRunner.load(session, subagents, id)
 * const value = yield* runner.run("go on")
 */
export const load = Effect.fn("SubagentRunner.load")(function* (
  session: SessionStore.SessionWriter,
  subagents: Live,
  id: string,
): Effect.fn.Return<Runner, StoreError> {
  const agent = yield* session.subagents.load(id)
  return {
    id,
    agent,
    run: (prompt, options = {}) => subagents.resume({ id, prompt, ...options }),
  }
})

export * as SubagentRunner from "./SubagentRunner.ts"
