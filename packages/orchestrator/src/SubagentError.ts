import * as Data from "effect/Data"

/** Stable; the list may grow, a code never changes its meaning. */
export type Code =
  | "UNKNOWN_SUBAGENT"
  | "STALE_GENERATION"
  | "SUBAGENT_RETIRED"
  | "DEPTH_LIMIT"
  | "CAPACITY"
  | "UNKNOWN_HARNESS"
  | "BAD_HARNESS_REFERENCE"
  | "SPAWN"
  | "HANDSHAKE_TIMEOUT"
  | "HANDSHAKE_FAILED"
  | "EXITED"
  | "UNSUPPORTED_VERSION"
  | "AUTH_REQUIRED"
  | "UNSUPPORTED_CONTENT"
  | "INVALID_ARGUMENT"
  | "MODEL_REJECTED"
  | "OPTION_REJECTED"
  | "FORK_UNSUPPORTED"
  | "FORK_TIMEOUT"
  | "STEER_UNSUPPORTED"
  | "STEER_UNKNOWN"
  | "CLOSE_FAILED"
  | "DELETE_FAILED"
  | "REFUSED"
  | "TURN_LIMIT"
  | "TURN_FAILED"
  | "CANCELLED"
  | "LOST"
  | "STORAGE"
  | "RECONNECT_FAILED"
  | "FORK_FAILED"
  | "NOT_WORKING"
  | "STEER_REJECTED"
  | "DIRECTORIES_UNSUPPORTED"

/** Why a verb failed. `message` is the requirement's exact words, details follow; nothing of it holds a secret. */
export class SubagentError extends Data.TaggedError("SubagentError")<{
  readonly code: Code
  readonly message: string
  /** What a list of children shows in place of a `message` that holds words of the child or the disk; the caller is told those. */
  readonly brief?: string
  /** Something may have happened at the child. */
  readonly uncertain?: boolean
  /** Nothing was dispatched; the same call may be made again. */
  readonly retryable?: boolean
  readonly details?: Readonly<Record<string, string | number | boolean | ReadonlyArray<string>>>
}> {}
