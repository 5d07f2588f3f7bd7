import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { tooLarge } from "./MessageSize.ts"

/**
 * The peer is gone, or was given up because a message of its was larger than `limit` bytes (`oversize`). `exitCode` and `signal` are known only
 * where a process stood behind the pipes; `stderrTail` holds its last 8 KiB.
 */
export class TransportClosed extends Schema.TaggedError<TransportClosed>()("TransportClosed", {
  reason: Schema.Literals(["eof", "oversize", "io", "closed"]),
  exitCode: Schema.UndefinedOr(Schema.Int),
  signal: Schema.UndefinedOr(Schema.String),
  stderrTail: Schema.String,
  limit: Schema.optional(Schema.Int),
}) {
  /** What is to be known of a peer that was given up, in words; `undefined` where it left by itself. */
  get fault(): string | undefined {
    return this.limit === undefined ? undefined : tooLarge("a message of the agent", this.limit)
  }
  override get message() {
    return `the connection is closed (${this.fault ?? this.reason})`
  }
}

/** Bytes both ways. Whoever owns the process or the pipes makes one; this package never does. */
export interface Transport {
  /** The next chunk, pulled, or `undefined` at the end of input. */
  readonly read: Effect.Effect<Uint8Array | undefined, TransportClosed>
  /** Writes one frame (the line feed included) and succeeds once the peer's pipe has taken it. */
  readonly write: (frame: string) => Effect.Effect<void, TransportClosed>
  /** Ends our side; the peer sees end of file. */
  readonly end: Effect.Effect<void>
  /** Resolves when the peer has ended, with all that is known of how. */
  readonly closed: Effect.Effect<TransportClosed>
}
