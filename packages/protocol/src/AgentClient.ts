import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { asJson } from "./Calls.ts"
import type { Capabilities } from "./Capabilities.ts"
import { type Handlers, makeConnection } from "./Connection.ts"
import { admitContent, type ContentRefused } from "./Content.ts"
import { isJsonObject, type Json, type JsonObject } from "./Json.ts"
import type { Limits } from "./Limits.ts"
import { sessionIdOf } from "./Message.ts"
import { Methods } from "./Methods.ts"
import { negotiate } from "./Negotiation.ts"
import { opening, openSession, requireDirectories } from "./OpenSession.ts"
import type { Peer } from "./Peer.ts"
import { type CallError, CapabilityMissing, type ConnectError, MalformedResult } from "./ProtocolError.ts"
import { answerRequest, toolCallOf } from "./Requests.ts"
import { Routes } from "./Routes.ts"
import type { OpenOptions, Session } from "./Session.ts"
import { SessionFold } from "./SessionFold.ts"
import type { Transport, TransportClosed } from "./Transport.ts"
import type { Noise, WireFrame } from "./WireFrame.ts"

export type { Limits } from "./Limits.ts"

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

/** A negotiated connection to one agent. It lives until its scope closes or the agent ends. */
export interface AgentClient {
  readonly version: 1 | 2
  readonly capabilities: Capabilities
  readonly agentInfo: { readonly name: string; readonly version: string; readonly title: string | undefined } | undefined
  /** Advertised login methods: visible ASCII, sorted, at most 16. Empty does not mean that no login is needed. */
  readonly authMethodIds: ReadonlyArray<string>
  /** The raw answer to `initialize`. */
  readonly initialized: JsonObject
  /** Whether the agent takes these blocks as they are (S05), asked before any state changes. */
  readonly admit: (blocks: ReadonlyArray<Json>) => Result.Result<ReadonlyArray<JsonObject>, ContentRefused>
  readonly newSession: (options: OpenOptions) => Effect.Effect<Session, CallError | CapabilityMissing>
  /** Attaches to a session that exists at the agent: `session/load` on v1, `session/resume` with replay from the start on v2 (S104). */
  readonly attach: (
    options: OpenOptions & { readonly sessionId: string },
  ) => Effect.Effect<Session, CallError | CapabilityMissing>
  /** `session/list`, one page, raw. */
  readonly listSessions: (options: {
    readonly cwd?: string
    readonly cursor?: string
  }) => Effect.Effect<Json, CallError | CapabilityMissing>
  /** Resolves when the connection is gone, with all that is known of how. */
  readonly closed: Effect.Effect<TransportClosed>
  /** Succeeds once every frame that was put out before has been written, or the connection is gone. A peer that does not read keeps it waiting. */
  readonly flush: Effect.Effect<void>
}

const requireCapability = (capabilities: Capabilities, capability: "load" | "list"): Effect.Effect<void, CapabilityMissing> =>
  capabilities[capability] ? Effect.void : Effect.fail(new CapabilityMissing({ capability }))

const infoOf = (initialized: JsonObject): AgentClient["agentInfo"] => {
  const info = initialized.info ?? initialized.agentInfo
  if (!isJsonObject(info)) return undefined
  const text = (value: Json | undefined) => (typeof value === "string" ? value : "")
  return { name: text(info.name), version: text(info.version), title: typeof info.title === "string" ? info.title : undefined }
}

const handlersOf = (routes: Routes): Handlers => ({
  notification: (method, params) => {
    if (method !== "session/update" || !isJsonObject(params) || !isJsonObject(params.update)) return
    const sessionId = params.sessionId
    if (typeof sessionId !== "string") return
    if (params.update.sessionUpdate === "subagent_update") routes.learn(sessionId, params)
    routes.deliver(sessionId, params.update)
  },
  request: (method, params) => {
    const sessionId = sessionIdOf(params)
    const session = sessionId === undefined ? undefined : routes.find(sessionId)
    const call = toolCallOf(params)
    if (method === "session/request_permission" && call !== undefined) session?.turn?.fold.tools.upsert(call)
    if (method === "session/update" && isJsonObject(params) && isJsonObject(params.update)) {
      if (sessionId !== undefined) routes.deliver(sessionId, params.update)
    }
    return () => answerRequest(method, params, sessionId !== undefined && routes.denies(sessionId))
  },
  parentOf: (sessionId, method, params) => {
    if (method === "session/update") routes.learn(sessionId, params)
    return routes.parentOf(sessionId)
  },
})

const attach = (
  peer: Peer,
  options: OpenOptions & { readonly sessionId: string },
): Effect.Effect<Session, CallError | CapabilityMissing> =>
  Effect.gen(function* () {
    const { capabilities, connection, routes } = peer
    const id = options.sessionId
    yield* requireCapability(capabilities, "load")
    yield* requireDirectories(capabilities, options.additionalDirectories)
    const [method, params] = Methods.attach(capabilities.version, id, options)
    if (routes.find(id) !== undefined) return yield* new MalformedResult({ method, why: "the session is already open" })
    const fold = new SessionFold()
    fold.replaying = true
    routes.add(id, fold)
    return yield* connection
      .call({
        method,
        params,
        sessionId: id,
        accept: (value) => {
          fold.replaying = false
          const opened = isJsonObject(value) ? value : {}
          if (Array.isArray(opened.configOptions)) fold.configOptions = opened.configOptions
          return Result.succeed(openSession(peer, id, fold, opened))
        },
      })
      .pipe(Effect.onError(() => Effect.sync(() => routes.remove(id))))
  })

/**
 * Negotiates over the transport and gives the client (S110). The connection lives in the scope; closing it fails what is pending with
 * `TransportClosed` and ends our side of the transport, not the process. It has no deadline of its own: interrupt it.
 */
export const connect = (transport: Transport, options: Options): Effect.Effect<AgentClient, ConnectError, Scope.Scope> =>
  Effect.gen(function* () {
    const { limits } = options
    const routes = new Routes(limits)
    const connection = yield* makeConnection(transport, {
      lineBytes: limits.lineBytes,
      drain: limits.drain,
      handlers: handlersOf(routes),
      observe: options.observe,
      onNoise: options.onNoise,
    })
    connection.onEnd(() => routes.end())
    const { authMethodIds, capabilities, initialized } = yield* negotiate(connection, options.info, options.offer)
    connection.advertise(authMethodIds)
    const peer: Peer = { connection, routes, capabilities, limits }
    return {
      version: capabilities.version,
      capabilities,
      agentInfo: infoOf(initialized),
      authMethodIds,
      initialized,
      admit: (blocks) => admitContent(blocks, capabilities, limits.lineBytes),
      newSession: (open) =>
        Effect.andThen(
          requireDirectories(capabilities, open.additionalDirectories),
          Effect.suspend(() => connection.call(opening(peer, { method: "session/new", params: Methods.newSession(open) }))),
        ),
      attach: (open) => attach(peer, open),
      listSessions: (page) =>
        Effect.andThen(
          requireCapability(capabilities, "list"),
          connection.call({ method: "session/list", params: Methods.list(page), accept: asJson }),
        ),
      closed: connection.closed,
      flush: connection.flush,
    }
  })
