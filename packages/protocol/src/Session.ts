import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { ContentRefused } from "./Content.ts"
import type { Json, JsonObject } from "./Json.ts"
import type { ConfigOption } from "./Options.ts"
import type { CallError, CapabilityMissing, DeadlineExceeded, NotWorking, SessionRetired } from "./ProtocolError.ts"
import type { TurnFailed, TurnResult, Usage } from "./TurnResult.ts"

/** `AuthRequired`, `ContentRefused` and `SessionRetired` mean that the agent took nothing; after any other failure its transcript may have changed. */
export type PromptError = CallError | ContentRefused | SessionRetired | TurnFailed

/** A prompt under way. */
export interface Turn {
  /** The outcome, the same for all who wait. Waiting is all it does: interrupting it cancels nothing. */
  readonly result: Effect.Effect<TurnResult, PromptError>
  /**
   * Answers open permission requests with `cancelled`, sends `session/cancel`, and waits `limits.settle` for the turn to settle.
   * `unsent`: the prompt had not been written and never will be. `unsettled`: the session is retired, end its process.
   * Safe to call twice, and on a settled turn.
   */
  readonly cancel: Effect.Effect<"settled" | "unsettled" | "unsent">
}

/** What is known of the session between frames. Tool and plan are of the running turn only (S51). */
export interface SessionView {
  /** `working` from a prompt's turn in the line until it settles; what an agent does unasked does not count. */
  readonly state: "idle" | "working" | "retired"
  /** Title of the tool call that is running. */
  readonly tool: string | undefined
  /** Text of the plan entry in progress. */
  readonly plan: string | undefined
  readonly title: string | undefined
  readonly usage: Usage | undefined
}

/** An update after it was folded. `seq` counts the session's updates from 1: a gap says what a slow subscriber missed. */
export interface SessionEvent {
  readonly seq: number
  /** Raw, as it arrived. */
  readonly update: JsonObject
  /** Set where the update is of a session that the agent runs on its own below this one. */
  readonly from?: string
}

/** What a replay brought (S104); it is never part of a turn. */
export interface Replay {
  readonly updates: number
  readonly userMessages: number
  readonly agentMessages: number
}

/** Where a session works, whether it is new, attached or a branch. */
export interface OpenOptions {
  /** Absolute; the agent is not asked to check it. */
  readonly cwd: string
  /** Absolute; refused where the agent does not take them (S171). */
  readonly additionalDirectories?: ReadonlyArray<string>
  /** As the negotiated version writes them. */
  readonly mcpServers?: ReadonlyArray<JsonObject>
  /** Goes out as `_meta`. */
  readonly meta?: JsonObject
}

/**
 * One ACP session of an agent, the same over v1 and v2. Prompts and forks queue, first come first served; steering, options and
 * close do not wait for them. Every update is folded in wire order before any later answer is seen.
 */
export interface Session {
  readonly id: string
  /** The raw answer that opened it. */
  readonly opened: JsonObject
  /** What came before the answer that opened it, where it was loaded or forked. */
  readonly replay: Replay
  readonly view: Effect.Effect<SessionView>
  /** The latest whole configuration snapshot as it arrived, `undefined` where the agent never gave one. */
  readonly configOptions: Effect.Effect<ReadonlyArray<Json> | undefined>
  /** The same, decoded. */
  readonly options: Effect.Effect<ReadonlyArray<ConfigOption>>

  /**
   * Sends the blocks unchanged and waits for the turn to settle. Interruption cancels as {@link Turn.cancel} does and waits for it;
   * `view` then says `retired` where the turn did not settle.
   */
  readonly prompt: (blocks: ReadonlyArray<Json>) => Effect.Effect<TurnResult, PromptError>
  /** The same in two steps; succeeds once it is this prompt's turn, just before it is written. Interruption before that sends nothing, one that comes just then cancels. */
  readonly begin: (blocks: ReadonlyArray<Json>) => Effect.Effect<Turn, ContentRefused | SessionRetired>
  /** Injects guidance into the working turn; the agent's raw receipt (S30 to S33). Dropping the caller does not revoke it, a deadline sends nothing. */
  readonly steer: (
    blocks: ReadonlyArray<Json>,
  ) => Effect.Effect<Json, CallError | ContentRefused | CapabilityMissing | NotWorking | SessionRetired | DeadlineExceeded>
  /** Sets one option (a string for a select, a boolean for a boolean) and succeeds with the list after it; the raw snapshot is replaced where the answer has one. */
  readonly setOption: (
    id: string,
    value: string | boolean,
  ) => Effect.Effect<ReadonlyArray<ConfigOption>, CallError | SessionRetired>
  /**
   * `session/fork`. Interrupted or late: `$/cancel_request` goes out, the caller is free at once, and the session of a late answer is
   * closed before the next prompt or fork of this session is sent (S152).
   */
  readonly fork: (
    options: OpenOptions,
  ) => Effect.Effect<Session, CallError | CapabilityMissing | SessionRetired | DeadlineExceeded>
  /** `session/close`; late or interrupted sends `$/cancel_request` and discards the answer. The session is retired whatever happens. */
  readonly close: Effect.Effect<void, CallError | CapabilityMissing | DeadlineExceeded>
  /** `session/delete`: removes the agent's history of it. */
  readonly delete: Effect.Effect<void, CallError | CapabilityMissing | DeadlineExceeded>
  /** Updates from now on, after they were folded. Holds at most `capacity` unread (default 256), drops the oldest, never slows the reader. Ends with the session. */
  readonly activity: (capacity?: number) => Stream.Stream<SessionEvent>
}
