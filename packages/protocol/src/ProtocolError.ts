import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import { type Json, stringifyJson } from "./Json.ts"
import type { TransportClosed } from "./Transport.ts"

/** The peer chose a protocol version that is neither 1 nor 2; no session was opened (S110). `got` is what it named. */
export class UnsupportedVersion extends Data.TaggedError("UnsupportedVersion")<{ readonly got: Json }> {
  /** A number as it is, anything else as compact JSON of at most 64 characters. */
  get named(): string {
    return stringifyJson(this.got).slice(0, 64)
  }
  override get message() {
    return `the agent selected an unsupported protocol version: ${this.named}`
  }
}

/**
 * The peer rejected version 2 and ended before it could be asked again with version 1 (decision 10).
 * Start a fresh process and connect with `offer: 1`, within the same deadline.
 */
export class VersionRejected extends Data.TaggedError("VersionRejected")<{
  /** JSON-RPC code of the rejection. */
  readonly code: number
  readonly closed: TransportClosed
}> {
  override get message() {
    return "the agent rejected protocol version 2 and ended"
  }
}

/** The peer answered with an error. `message` and `data` are the peer's words. */
export class RpcError extends Data.TaggedError("RpcError")<{
  readonly method: string
  readonly code: number
  readonly message: string
  readonly data: Json | undefined
}> {}

/** The peer answered with something that this method cannot mean; `why` says what is wrong in words of ours. */
export class MalformedResult extends Data.TaggedError("MalformedResult")<{ readonly method: string; readonly why: string }> {
  override get message() {
    return `malformed answer to ${this.method}: ${this.why}`
  }
}

/**
 * No answer in time. What was sent may still take effect: `delivery` is unknown. A late answer is recognised, and what it
 * created is cleaned up.
 */
export class DeadlineExceeded extends Data.TaggedError("DeadlineExceeded")<{
  readonly method: string
  /** Milliseconds that were allowed. */
  readonly ms: number
  readonly delivery: "unknown"
}> {
  override get message() {
    return `the agent did not answer ${this.method} within ${this.ms} ms`
  }
}

/** No answer to the method within the duration. */
export const deadlineExceeded = (method: string, duration: Duration.Input): DeadlineExceeded =>
  new DeadlineExceeded({ method, ms: Duration.toMillis(duration), delivery: "unknown" })

/**
 * The peer wants a login first (`-32000`, S123). Holds method ids only, the error's own and the advertised ones: visible ASCII,
 * 1 to 128 bytes each, at most 16, sorted. The peer's message and data are dropped, they may hold secrets.
 */
export class AuthRequired extends Data.TaggedError("AuthRequired")<{
  readonly method: string
  readonly methodIds: ReadonlyArray<string>
}> {
  override get message() {
    const ids =
      this.methodIds.length === 0
        ? "no methodId advertised"
        : `methodId: ${this.methodIds.map((id) => JSON.stringify(id)).join(", ")}`
    return `child authentication required (auth_required; ${ids})`
  }
}

/** The peer does not advertise what the call needs; nothing was sent. */
export class CapabilityMissing extends Data.TaggedError("CapabilityMissing")<{
  readonly capability: "session" | "fork" | "close" | "delete" | "load" | "list" | "steer" | "additionalDirectories"
}> {
  override get message() {
    return `the agent does not advertise ${this.capability}`
  }
}

/** The session takes nothing any more: it was closed, or a cancelled turn never settled. Nothing was sent. */
export class SessionRetired extends Data.TaggedError("SessionRetired")<{ readonly sessionId: string }> {
  override get message() {
    return "the session is retired"
  }
}

/** Steering needs a turn that is working (S32); nothing was sent. */
export class NotWorking extends Data.TaggedError("NotWorking")<{ readonly sessionId: string }> {
  override get message() {
    return "the session is not working on a turn"
  }
}

/** What any call may fail with. */
export type CallError = TransportClosed | RpcError | AuthRequired | MalformedResult

/** What {@link AgentClient.connect} may fail with; no session exists then. */
export type ConnectError = CallError | UnsupportedVersion | VersionRejected | CapabilityMissing

export * as ProtocolError from "./ProtocolError.ts"
