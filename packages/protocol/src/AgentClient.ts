import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type { Capabilities } from "./Capabilities.ts"
import type { Json, JsonObject } from "./Json.ts"
import type * as Scope from "effect/Scope"
import type { CallError, CapabilityMissing, ConnectError } from "./ProtocolError.ts"
import type { Session } from "./Session.ts"
import type { Transport, TransportClosed } from "./Transport.ts"
import type { Noise, WireFrame } from "./WireFrame.ts"

/** Every bound of a connection; the caller names them all. */
export interface Limits {
  /** Longest line taken from the agent, in bytes without the line feed; a longer one closes the connection (`oversize`). */
  readonly lineBytes: number
  /** Updates captured per turn, and the bytes of their compact JSON together (S71). */
  readonly items: number
  readonly itemBytes: number
  /** Updates kept for a session id that is not known yet (an update may come before the answer that names it). */
  readonly orphans: number
  /** A cancelled turn has this long to settle. */
  readonly settle: Duration.Input
  readonly steer: Duration.Input
  readonly fork: Duration.Input
  readonly close: Duration.Input
  readonly delete: Duration.Input
  /** After the agent ended: how long what it wrote last is still read, and its exit status waited for. */
  readonly drain: Duration.Input
}

export interface Options {
  readonly info: { readonly name: string; readonly version: string }
  /** 2: version 2 is offered, 1 accepted, and asked for where 2 is rejected. 1: only 1 is offered. */
  readonly offer: 1 | 2
  readonly limits: Limits
  /**
   * Awaited in wire order: outbound frames before they are written, inbound ones before they are folded, all that one read brought
   * in one call. While it runs nothing more is read, so a slow log slows the agent.
   */
  readonly observe?: (frames: ReadonlyArray<WireFrame>) => Effect.Effect<void>
  /** Told of each stray line, after `observe`, before what follows is folded. */
  readonly onNoise?: (noise: Noise) => Effect.Effect<void>
}

export interface OpenOptions {
  /** Absolute; the agent is not asked to check it. */
  readonly cwd: string
  /** Absolute; refused where the agent does not take them (S171). */
  readonly additionalDirectories?: ReadonlyArray<string>
  /** As the negotiated version writes them. */
  readonly mcpServers?: ReadonlyArray<JsonObject>
  readonly meta?: JsonObject
}

/** A negotiated connection to one agent. It lives until its scope closes or the agent ends. */
export interface AgentClient {
  readonly version: 1 | 2
  readonly capabilities: Capabilities
  readonly agentInfo: { readonly name: string; readonly version: string; readonly title: string | undefined } | undefined
  /** Advertised login methods: visible ASCII, sorted, at most 16. Empty does not mean that no login is needed. */
  readonly authMethodIds: ReadonlyArray<string>
  /** The raw answer to `initialize`. */
  readonly initialized: JsonObject
  readonly newSession: (options: OpenOptions) => Effect.Effect<Session, CallError | CapabilityMissing>
  /** Attaches to a session that exists at the agent: `session/load` on v1, `session/resume` with replay from the start on v2 (S104). */
  readonly attach: (options: OpenOptions & { readonly sessionId: string }) => Effect.Effect<Session, CallError | CapabilityMissing>
  /** `session/list`, one page, raw. */
  readonly listSessions: (options: { readonly cwd?: string; readonly cursor?: string }) => Effect.Effect<Json, CallError | CapabilityMissing>
  /** Resolves when the connection is gone, with all that is known of how. */
  readonly closed: Effect.Effect<TransportClosed>
}

/**
 * `AgentClient.connect`: negotiates over the transport and gives the client (S110). The connection lives in the scope; closing it
 * fails what is pending with `TransportClosed` and ends our side of the transport, not the process. It has no deadline of its own:
 * interrupt it.
 */
export type Connect = (transport: Transport, options: Options) => Effect.Effect<AgentClient, ConnectError, Scope.Scope>
