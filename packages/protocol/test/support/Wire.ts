import type { Limits, Options } from "@acp-kit/protocol/AgentClient"
import * as AgentClient from "@acp-kit/protocol/AgentClient"
import { type Json, type JsonObject, parseJson, stringifyJson } from "@acp-kit/protocol/Json"
import { type Transport, TransportClosed } from "@acp-kit/protocol/Transport"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"

export const limits: Limits = {
  lineBytes: 1024 * 1024,
  items: 64,
  itemBytes: 65_536,
  answerBytes: 16 * 1024 * 1024,
  orphans: 256,
  orphanBytes: 1024 * 1024,
  settle: "5 seconds",
  steer: "5 seconds",
  fork: "30 seconds",
  close: "5 seconds",
  delete: "5 seconds",
  drain: "250 millis",
}

export const options = (changes: Partial<Options> = {}): Options => ({
  info: { name: "kit", version: "1.2.3" },
  offer: 2,
  limits,
  ...changes,
})

/** The agent's end of a transport in memory, driven by hand. */
export interface Wire {
  readonly transport: Transport
  /** Puts frames on the wire, all in one chunk. */
  readonly send: (...frames: ReadonlyArray<JsonObject | string>) => void
  readonly bytes: (chunk: Uint8Array) => void
  /** The next frame that the client wrote. */
  readonly take: Effect.Effect<JsonObject>
  /** Every frame written so far. */
  readonly written: ReadonlyArray<JsonObject>
  /** The agent ends and its output with it. */
  readonly end: (how?: Partial<TransportClosed>) => void
  /** The agent takes nothing any more. */
  readonly stopReading: () => void
  /** The agent's output ends, the agent lives on. */
  readonly closeOutput: () => void
  /** The agent ends, its output stays open. */
  readonly exit: (how?: Partial<TransportClosed>) => void
  /** Takes the next request, which must be of this method, and answers it. */
  readonly answer: (method: string, result: Json | { readonly error: Json }) => Effect.Effect<JsonObject>
}

export const makeWire: Effect.Effect<Wire> = Effect.gen(function* () {
  const inbound = yield* Queue.unbounded<Uint8Array | undefined>()
  const outbound = yield* Queue.unbounded<JsonObject>()
  const closed = yield* Deferred.make<TransportClosed>()
  const written: Array<JsonObject> = []
  let reads = true
  const encoder = new TextEncoder()
  const text = (frame: JsonObject | string) => `${typeof frame === "string" ? frame : stringifyJson(frame)}\n`
  const wire: Wire = {
    transport: {
      read: Queue.take(inbound),
      write: (line) =>
        Effect.suspend(() => {
          if (!reads)
            return Effect.fail(new TransportClosed({ reason: "io", exitCode: undefined, signal: undefined, stderrTail: "" }))
          const frame = parseJson(line) as JsonObject
          written.push(frame)
          Queue.offerUnsafe(outbound, frame)
          return Effect.void
        }),
      end: Effect.void,
      closed: Deferred.await(closed),
    },
    send: (...frames) => {
      Queue.offerUnsafe(inbound, encoder.encode(frames.map(text).join("")))
    },
    bytes: (chunk) => {
      Queue.offerUnsafe(inbound, chunk)
    },
    take: Queue.take(outbound),
    written,
    stopReading: () => {
      reads = false
    },
    end: (how) => {
      wire.exit(how)
      wire.closeOutput()
    },
    closeOutput: () => {
      Queue.offerUnsafe(inbound, undefined)
    },
    exit: (how) => {
      const known = { reason: "eof" as const, exitCode: 0, signal: undefined, stderrTail: "" }
      Deferred.doneUnsafe(closed, Effect.succeed(new TransportClosed({ ...known, ...how })))
    },
    answer: (method, result) =>
      Effect.gen(function* () {
        const request = yield* wire.take
        if (request.method !== method) return yield* Effect.die(new Error(`expected ${method}, got ${stringifyJson(request)}`))
        const body =
          typeof result === "object" && result !== null && "error" in result
            ? { error: result.error }
            : { result: result as Json }
        wire.send({ jsonrpc: "2.0", id: request.id as Json, ...body } as JsonObject)
        return request
      }),
  }
  return wire
})

export const initializedV1 = (capabilities: JsonObject = {}): JsonObject => ({
  protocolVersion: 1,
  agentInfo: { name: "peer", version: "9" },
  agentCapabilities: capabilities,
  authMethods: [{ id: "login", name: "Login" }],
})

export const initializedV2 = (session: JsonObject = {}): JsonObject => ({
  protocolVersion: 2,
  info: { name: "peer", version: "9" },
  capabilities: { session },
  authMethods: [{ type: "agent", methodId: "login", name: "Login" }],
})

export const update = (sessionId: string, change: JsonObject): JsonObject => ({
  jsonrpc: "2.0",
  method: "session/update",
  params: { sessionId, update: change },
})

export const chunk = (text: string, messageId?: string): JsonObject => ({
  sessionUpdate: "agent_message_chunk",
  ...(messageId === undefined ? {} : { messageId }),
  content: { type: "text", text },
})

export const state = (name: string, more: JsonObject = {}): JsonObject => ({
  sessionUpdate: "state_update",
  state: name,
  ...more,
})

export const text = (words: string): JsonObject => ({ type: "text", text: words })

/** A client whose `initialize` was answered like this. */
export const connected = (wire: Wire, initialized: JsonObject, changes: Partial<Options> = {}) =>
  Effect.gen(function* () {
    const connecting = yield* Effect.forkChild(AgentClient.connect(wire.transport, options(changes)), { startImmediately: true })
    yield* wire.answer("initialize", initialized)
    return yield* Fiber.join(connecting)
  })

/** A session on such a client. */
export const opened = (wire: Wire, initialized: JsonObject, changes: Partial<Options> = {}, answer: JsonObject = {}) =>
  Effect.gen(function* () {
    const client = yield* connected(wire, initialized, changes)
    const opening = yield* Effect.forkChild(client.newSession({ cwd: "/p" }), { startImmediately: true })
    yield* wire.answer("session/new", { sessionId: "s", ...answer })
    const session = yield* Fiber.join(opening)
    return { client, session }
  })

/** The same wire, but that a frame with this word in it is not taken before `stuck` is done. */
export const stuckAt = (wire: Wire, word: string) =>
  Effect.gen(function* () {
    const stuck = yield* Deferred.make<void>()
    const write: Transport["write"] = (frame) =>
      Effect.andThen(frame.includes(word) ? Deferred.await(stuck) : Effect.void, wire.transport.write(frame))
    return { slow: { ...wire, transport: { ...wire.transport, write } } satisfies Wire, stuck }
  })
