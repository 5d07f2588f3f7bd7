import { AgentSessions } from "@acp-kit/agent/AgentSessions"
import { ComposeTool } from "@acp-kit/agent/ComposeTool"
import type { Script } from "@acp-kit/agent/Script"
import { ScriptedProvider } from "@acp-kit/agent/ScriptedProvider"
import { TurnLoop } from "@acp-kit/agent/TurnLoop"
import { Files } from "@acp-kit/platform/Files"
import { type Transport, TransportClosed } from "@acp-kit/protocol/Transport"
import type { Tool } from "@acp-kit/runlet/Host"
import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import { AcpServer } from "../src/AcpServer.ts"
import type { Message } from "./WireSchemas.ts"
import { violations } from "./WireSchemas.ts"

export interface Setup {
  readonly protocol?: AcpServer.Protocol
  readonly rules?: Script["rules"]
  readonly tools?: ReadonlyArray<Tool>
  readonly limits?: AcpServer.Limits
  readonly framing?: AcpServer.Options["framing"]
  readonly sessions?: AcpServer.Options["sessions"]
}

/** A client that writes lines and reads lines, and the server it talks to. */
export interface Peer {
  /** Everything the server wrote, in order. */
  readonly received: ReadonlyArray<Message>
  /** The same as it stood on the wire. */
  readonly lines: ReadonlyArray<string>
  readonly raw: (line: string | Uint8Array) => Effect.Effect<void>
  readonly notify: (method: string, params?: unknown) => Effect.Effect<void>
  /** Writes several messages at once; those with an id are requests. */
  readonly burst: (
    ...messages: ReadonlyArray<{ readonly method: string; readonly params?: unknown; readonly id?: unknown }>
  ) => Effect.Effect<void>
  /** Sends a request and waits for its answer. */
  readonly request: (method: string, params?: unknown, id?: unknown) => Effect.Effect<Message>
  /** Sends a request and does not wait. */
  readonly ask: (method: string, params?: unknown, id?: unknown) => Effect.Effect<unknown>
  /** The first message so far, or to come, that this is true of. */
  readonly message: (is: (message: Message) => boolean) => Effect.Effect<Message>
  /** The updates of a session so far. */
  readonly updates: (sessionId: string) => ReadonlyArray<Message>
  readonly update: (is: (update: Message) => boolean) => Effect.Effect<Message>
  readonly server: Fiber.Fiber<void, AcpServer.InputRefused>
  /** Succeeds once the server has left. */
  readonly served: Effect.Effect<void, AcpServer.InputRefused>
  /** Ends the input and waits until the server has left. */
  readonly end: Effect.Effect<void, AcpServer.InputRefused>
  /** What of all that was received misses the SDK's schema. */
  readonly violations: () => ReadonlyArray<string>
}

/** The agent's sessions on the scripted model, with these tools and a store in memory. */
export const sessions = ({ rules, tools = [] }: Setup) =>
  Effect.map(
    Layer.build(
      AgentSessions.layerWith({
        provider: ScriptedProvider.make(rules ? { version: 1, rules } : undefined),
        selection: { model: "scripted", effort: "default" },
        system: "",
        limits: TurnLoop.defaultLimits,
        origin: "top_level",
        structured: false,
        tools: ({ background }) =>
          Effect.succeed([
            ComposeTool.make({ tools: () => tools, catalog: [], background, spill: (_id, output) => Effect.succeed(output) }),
          ]),
      }).pipe(Layer.provide(Layer.mergeAll(Files.layer, SessionStore.layerMemory))),
    ),
    (context) => Context.get(context, AgentSessions.Service),
  )

/** Serves a peer in the current scope. */
export const connect = Effect.fnUntraced(function* (setup: Setup = {}) {
  const input = yield* Queue.unbounded<Uint8Array | undefined>()
  const received: Array<Message> = []
  const lines: Array<string> = []
  const methods = new Map<unknown, string>()
  const waiting = new Set<() => void>()
  let ids = 0

  const transport: Transport = {
    read: Queue.take(input),
    write: (frame) =>
      Effect.sync(() => {
        if (!frame.endsWith("\n") || frame.indexOf("\n") !== frame.length - 1) throw new Error(`not one line: ${frame}`)
        lines.push(frame)
        received.push(...[JSON.parse(frame)].flat())
        for (const wake of [...waiting]) wake()
      }),
    end: Effect.void,
    closed: Effect.as(
      Effect.never,
      new TransportClosed({ reason: "eof", exitCode: undefined, signal: undefined, stderrTail: "" }),
    ),
  }
  const made = setup.sessions ?? Effect.succeed(yield* sessions(setup))
  const server = yield* Effect.forkScoped(
    AcpServer.serve(transport, {
      protocol: setup.protocol ?? 1,
      info: { name: "kit", version: "1.2.3" },
      sessions: made,
      ...(setup.limits ? { limits: setup.limits } : {}),
      ...(setup.framing ? { framing: setup.framing } : {}),
    }),
  )

  const raw = (line: string | Uint8Array) =>
    Effect.asVoid(Queue.offer(input, typeof line === "string" ? new TextEncoder().encode(line) : line))
  const send = (message: object) => raw(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  const message = (is: (message: Message) => boolean) =>
    Effect.callback<Message>((resume) => {
      const look = () => {
        const found = received.find(is)
        if (found === undefined) return
        waiting.delete(look)
        resume(Effect.succeed(found))
      }
      waiting.add(look)
      look()
      return Effect.sync(() => waiting.delete(look))
    })
  const ask = (method: string, params: unknown = {}, id: unknown = ids++) => {
    methods.set(id, method)
    return Effect.as(send({ id, method, params }), id)
  }

  const peer: Peer = {
    received,
    lines,
    raw,
    server,
    served: Fiber.join(server),
    ask,
    message,
    burst: (...messages) => {
      for (const { id, method } of messages) if (id !== undefined) methods.set(id, method)
      return raw(messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join(""))
    },
    notify: (method, params = {}) => send({ method, params }),
    request: (method, params, id) =>
      Effect.flatMap(ask(method, params, id), (sent) => message((message) => message.id === sent && !("method" in message))),
    updates: (sessionId) =>
      received.flatMap((message) =>
        message.method === "session/update" && message.params.sessionId === sessionId ? [message.params.update] : [],
      ),
    update: (is) =>
      Effect.map(
        message((message) => message.method === "session/update" && is(message.params.update)),
        (message) => message.params.update,
      ),
    end: Effect.andThen(Queue.offer(input, undefined), Fiber.join(server)),
    violations: () => {
      const version = received.find((message) => message.result?.protocolVersion !== undefined)?.result.protocolVersion
      return received.flatMap((message) => {
        if ("error" in message) return []
        const method = "method" in message ? message.method : methods.get(message.id)
        return method === undefined ? [`an answer to nothing: ${JSON.stringify(message)}`] : violations(version, message, method)
      })
    },
  }
  return peer
})
