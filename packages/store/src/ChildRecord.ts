import type { JsonObject } from "./Json.ts"

/** Where a child is at a checkpoint: in a turn, between turns, or gone for good. */
export type Lifecycle = "Interrupted" | "Idle" | "Closed"

/**
 * A durable record of one direct child in its parent's transcript (S100). The last one per id decides.
 * Fields beyond these (`task`, `output`, `updates`, `model`, …) are kept as they are.
 */
export interface ChildRecord extends JsonObject {
  readonly id: string
  readonly lifecycle: Lifecycle
  /** The child's own ACP session; not empty. */
  readonly acp_session_id: string
  /** `acp.<name>`. */
  readonly harness: string
  readonly name: string
  /** Absolute path. */
  readonly cwd: string
  /** Last generation given out, at least 1. */
  readonly generation: number
  /** The generation the handle holds; at most `generation`, equal to it when `Idle`. */
  readonly handle_generation: number
  /** At least 1: a direct child of a top-level session. */
  readonly depth: number
  /** The session that a `Closed` child was moved to; should its directory be here again, the record is of an earlier stay. */
  readonly moved_to?: string
}

/** Whether the record says no more than that the child went to another session. */
export const hasMoved = ({ lifecycle, moved_to }: ChildRecord): boolean => lifecycle === "Closed" && moved_to !== undefined
