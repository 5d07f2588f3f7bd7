import type * as Duration from "effect/Duration"

/** Every bound of a connection; the caller names them all. */
export interface Limits {
  /**
   * Longest line either way, in bytes without the line feed. A longer one of the agent closes the connection (`oversize`), a prompt that would
   * need one is refused before anything is sent.
   */
  readonly lineBytes: number
  /** Updates captured per turn, and the bytes of their compact JSON together (S71). */
  readonly items: number
  readonly itemBytes: number
  /**
   * The agent's text of one turn, in bytes of its compact JSON. A turn with more fails at once with `too_large`, is cancelled at the agent, and its
   * session takes nothing any more.
   */
  readonly answerBytes: number
  /** Updates kept for a session id that is not known yet (an update may come before the answer that names it), the latest ones. */
  readonly orphans: number
  /** Bytes of their compact JSON, for one session; they are kept for at most 64. */
  readonly orphanBytes: number
  /** A cancelled turn has this long to settle. */
  readonly settle: Duration.Input
  readonly steer: Duration.Input
  readonly fork: Duration.Input
  readonly close: Duration.Input
  readonly delete: Duration.Input
  /** After the agent ended: how long what it wrote last is still read, and its exit status waited for. */
  readonly drain: Duration.Input
}
