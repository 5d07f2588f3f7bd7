import type { Interface as Sessions } from "@acp-kit/agent/AgentSessions"
import { describe, expect, it, vi } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { ServerTransport } from "../src/ServerTransport.ts"
import { connect } from "./Peer.ts"
import type { Message } from "./WireSchemas.ts"

const initialize = { protocolVersion: 1, clientCapabilities: {} }
const text = (text: string) => [{ type: "text", text }]

describe("framing", () => {
  it.live("answers what is no message with an error and goes on", () =>
    Effect.gen(function* () {
      const peer = yield* connect()
      yield* peer.raw("{ nonsense\n\n  \n17\n[]\n")
      yield* peer.raw(new Uint8Array([0x22, 0xff, 0xfe, 0x22, 0x0a]))
      yield* peer.request("initialize", initialize)
      const errors = peer.received.slice(0, -1).map((message) => [message.id, message.error.code])
      expect(errors).toEqual([
        [null, -32700],
        [null, -32600],
        [null, -32600],
        [null, -32700],
      ])
    }),
  )

  it.live("takes a message whatever its chunks, with CRLF and without a line feed at the end", () =>
    Effect.gen(function* () {
      const peer = yield* connect()
      const bytes = new TextEncoder().encode(
        `${JSON.stringify({ jsonrpc: "2.0", id: "é𝔸", method: "initialize", params: initialize })}\r\n`,
      )
      for (const byte of bytes) yield* peer.raw(new Uint8Array([byte]))
      yield* peer.message((message) => message.id === "é𝔸")
      yield* peer.raw(JSON.stringify({ jsonrpc: "2.0", id: 2, method: "session/nothing", params: {} }))
      yield* peer.end
      expect(peer.received.at(-1)).toMatchObject({ id: 2, error: { code: -32601 } })
    }),
  )

  it.live("echoes ids exactly, integers beyond 2^53 too, and cancels by them", () =>
    Effect.gen(function* () {
      const written: Array<string> = []
      const peer = yield* connect({ rules: [{ match: "", steps: [{ say: "x" }, { wait_ms: 60_000 }] }] })
      yield* peer.request("initialize", initialize)
      const { result } = yield* peer.request("session/new", { cwd: "/tmp", mcpServers: [] })
      const id = "9007199254740993"
      const prompt = JSON.stringify({ sessionId: result.sessionId, prompt: text("x") })
      yield* peer.raw(`{"jsonrpc":"2.0","id":${id},"method":"session/prompt","params":${prompt}}\n`)
      yield* peer.update((update) => update.sessionUpdate === "agent_message_chunk")
      yield* peer.raw(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":${id}}}\n`)
      yield* peer.message((message) => message.error?.code === -32800)
      written.push(...peer.lines)
      expect(written.at(-1)).toContain(`"id":${id}`)
    }),
  )

  it.live.each([
    { id: 5, method: "initialize", params: initialize },
    { jsonrpc: "1.0", id: 5, method: "initialize", params: initialize },
    { jsonrpc: "2.0", id: {}, method: "initialize", params: initialize },
    { jsonrpc: "2.0", id: 1.5, method: "initialize", params: initialize },
    { jsonrpc: "2.0", id: 5, method: 7 },
    { jsonrpc: "2.0", id: 5 },
    { jsonrpc: "2.0" },
  ])("refuses what breaks the rules of JSON-RPC, waits for none of it, and goes on: %j", (message) =>
    Effect.gen(function* () {
      const peer = yield* connect({ limits: { finishMs: 60_000, stopMs: 60_000 } })
      yield* peer.raw(`${JSON.stringify(message)}\n`)
      yield* peer.message(({ id, error }) => id === null && error?.code === -32600)
      expect((yield* peer.request("initialize", initialize)).result.protocolVersion).toBe(1)
      yield* peer.end
      expect(peer.received.length).toBe(2)
    }),
  )

  it.live("leaves answers to nothing and a cancel of nothing out, and says so in its own words", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const said = vi.spyOn(console, "error").mockImplementation((...words) => void told.push(words.join(" ")))
      yield* Effect.addFinalizer(() => Effect.sync(() => said.mockRestore()))
      for (const protocol of [1, 2] as const) {
        const peer = yield* connect({ protocol, framing: { onRefused: (what) => Effect.sync(() => told.push(what)) } })
        const params = protocol === 1 ? initialize : { protocolVersion: 2, capabilities: {}, info: { name: "t", version: "0" } }
        yield* peer.request("initialize", params)
        yield* peer.raw('{"jsonrpc":"2.0","id":9,"result":{}}\n')
        for (const params of [null, {}, { sessionId: 7 }, { sessionId: "nobody", _meta: 5 }])
          yield* peer.raw(`${JSON.stringify({ jsonrpc: "2.0", method: "session/cancel", params })}\n`)
        yield* peer.request("session/list", {})
        yield* peer.end
        expect(peer.received.length).toBe(2)
      }
      const unnamed = "a session/cancel of the client names no session"
      const each = ["an answer of the client to nothing that was asked", unnamed, unnamed, unnamed]
      expect(told).toEqual([...each, ...each])
    }),
  )

  it.live("refuses a request whose id is still open, alone and in a batch, and answers the first", () =>
    Effect.gen(function* () {
      const why = "Invalid request: a request with this id is still open"
      const peer = yield* connect({ framing: { batches: "jsonrpc" }, rules: [{ match: "", steps: [{ wait_ms: 60_000 }] }] })
      yield* peer.request("initialize", initialize)
      const { sessionId } = (yield* peer.request("session/new", { cwd: "/tmp", mcpServers: [] })).result
      yield* peer.ask("session/prompt", { sessionId, prompt: text("x") }, "twice")
      expect(yield* peer.request("session/list", {}, "twice")).toMatchObject({ error: { code: -32600, message: why } })
      yield* peer.notify("session/cancel", { sessionId })
      expect((yield* peer.message(({ id, result }) => id === "twice" && result)).result.stopReason).toBe("cancelled")
      const from = peer.lines.length
      const list = { jsonrpc: "2.0", id: "b", method: "session/list", params: {} }
      yield* peer.raw(`${JSON.stringify([list, list])}\n`)
      yield* peer.message(({ id, result }) => id === "b" && result)
      expect(JSON.parse(peer.lines[from] ?? "")).toMatchObject([
        { id: "b", error: { message: why } },
        { id: "b", result: {} },
      ])
    }),
  )

  it.live("refuses a request that is too large by its id, says it, and goes on", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const onRefused = (what: string) => Effect.sync(() => told.push(what))
      const peer = yield* connect({ framing: { lineBytes: 4_096, onRefused } })
      yield* peer.request("initialize", initialize)
      const large = { sessionId: "s", prompt: text("x".repeat(5_000)) }
      const why = "Invalid request: the message is larger than 4096 bytes"
      for (const id of [7, "seven"])
        expect(yield* peer.request("session/prompt", large, id)).toMatchObject({ id, error: { code: -32600, message: why } })
      expect((yield* peer.request("session/new", { cwd: "/tmp", mcpServers: [] })).result.sessionId).toBeTypeOf("string")
      yield* peer.end
      expect(told).toEqual(Array(2).fill("a request of the client is larger than 4096 bytes"))
    }),
  )

  it.live.each([
    [
      "an id behind what is too long",
      { jsonrpc: "2.0", method: "session/prompt", params: { id: 4, x: "x".repeat(5_000) }, id: 5 },
    ],
    ["an answer", { jsonrpc: "2.0", id: 4, result: { x: "x".repeat(5_000) } }],
    ["a notification", { jsonrpc: "2.0", method: "x", params: { x: "x".repeat(5_000) } }],
  ])("ends at a message that is too large where nobody can tell whose it is: %s", ([, message]) =>
    Effect.gen(function* () {
      const peer = yield* connect({ framing: { lineBytes: 4_096 } })
      yield* peer.request("initialize", initialize)
      yield* peer.raw(`${JSON.stringify(message)}\n`)
      expect(yield* Effect.flip(peer.served)).toMatchObject({
        _tag: "InputRefused",
        message: "a message of the client is larger than 4096 bytes",
      })
      expect(peer.received.at(-1)).toMatchObject({ id: null, error: { code: -32600 } })
    }),
  )

  it.live("sends no message that is too large: an answer becomes an error, an update stays away, and both are told", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const onRefused = (what: string) => Effect.sync(() => told.push(what))
      const peer = yield* connect({
        framing: { lineBytes: 2_048, onRefused },
        rules: [{ match: "", steps: [{ say: "é".repeat(1_500) }] }],
      })
      yield* peer.request("initialize", initialize)
      const { result } = yield* peer.request("session/new", { cwd: "/tmp", mcpServers: [] })
      yield* peer.request("session/prompt", { sessionId: result.sessionId, prompt: text("x") })
      expect(told).toContain("an update for the client is larger than 2048 bytes")
      for (let sessions = 0; sessions < 40; sessions++) yield* peer.request("session/new", { cwd: "/tmp", mcpServers: [] })
      expect((yield* peer.request("session/list", {})).error.message).toBe("the answer is larger than 2048 bytes")
      expect(told).toContain("the answer to the client is larger than 2048 bytes")
      const wrong = Array.from({ length: 100 }, () => ({ type: "nope" }))
      const refused = yield* peer.request("session/prompt", { sessionId: result.sessionId, prompt: wrong })
      expect(refused.error).toEqual({ code: -32602, message: "Invalid params" })
      expect(Math.max(...peer.lines.map((line) => new TextEncoder().encode(line).length))).toBeLessThanOrEqual(2_049)
    }),
  )

  it.live("takes batches where it is told to: one array of answers, silence for notifications, an error for each bad entry", () =>
    Effect.gen(function* () {
      const peer = yield* connect({ framing: { batches: "jsonrpc" } })
      yield* peer.request("initialize", initialize)
      const from = peer.lines.length
      const line = (...entries: ReadonlyArray<unknown>) => peer.raw(`${JSON.stringify(entries)}\n`)
      yield* line({ jsonrpc: "2.0", method: "_nothing" })
      yield* line()
      yield* line(17, true)
      const open = { jsonrpc: "2.0", method: "session/new", params: { cwd: "/tmp", mcpServers: [] } }
      yield* line(
        { ...open, id: "a" },
        17,
        { jsonrpc: "2.0", method: "_nothing" },
        { ...open, id: 2 },
        { jsonrpc: "2.0", id: "c", method: "x" },
      )
      yield* peer.message((message) => message.id === "a")
      const answers = peer.lines.slice(from).map((text) => JSON.parse(text))
      expect(answers.slice(0, 2)).toMatchObject([{ id: null, error: { code: -32600 } }, [{ id: null }, { id: null }]])
      expect(answers[2].map(({ id, error }: Message) => [id, error?.code]).sort()).toEqual(
        [
          ["a", undefined],
          [2, undefined],
          ["c", -32601],
          [null, -32600],
        ].sort(),
      )
      expect(answers.length).toBe(3)
    }),
  )

  it.live("takes 32 MiB a line where nothing else was said", () =>
    Effect.gen(function* () {
      const peer = yield* connect()
      yield* peer.request("initialize", initialize)
      yield* peer.raw(new Uint8Array(ServerTransport.lineBytes + 1).fill(0x20))
      expect((yield* Effect.flip(peer.served)).message).toBe("a message of the client is larger than 32 MiB")
    }),
  )
})

describe("the end of input", () => {
  it.live("lets what was asked in one write be answered", () =>
    Effect.gen(function* () {
      const peer = yield* connect()
      yield* peer.burst(
        { id: 1, method: "initialize", params: initialize },
        { id: 2, method: "session/new", params: { cwd: "/tmp", mcpServers: [] } },
      )
      yield* peer.end
      expect(peer.received.map((message) => message.id)).toEqual([1, 2])
      expect(peer.violations()).toEqual([])
    }),
  )

  it.live("leaves at once where nothing is open", () =>
    Effect.gen(function* () {
      const peer = yield* connect()
      yield* peer.request("initialize", initialize)
      const before = yield* Clock.currentTimeMillis
      yield* peer.end
      expect((yield* Clock.currentTimeMillis) - before).toBeLessThan(200)
    }),
  )

  it.live("stops work that goes on, answers it, and leaves within two seconds", () =>
    Effect.gen(function* () {
      for (const protocol of [1, 2] as const) {
        const peer = yield* connect({ protocol, rules: [{ match: "", steps: [{ say: "x" }, { wait_ms: 60_000 }] }] })
        yield* peer.request("initialize", { ...initialize, protocolVersion: protocol, info: { name: "t", version: "0" } })
        const { result } = yield* peer.request("session/new", { cwd: "/tmp", mcpServers: [] })
        const id = yield* peer.ask("session/prompt", { sessionId: result.sessionId, prompt: text("x") })
        yield* peer.update((update) => update.sessionUpdate === "agent_message_chunk")
        const before = yield* Clock.currentTimeMillis
        yield* peer.end
        expect((yield* Clock.currentTimeMillis) - before).toBeLessThan(2000)
        if (protocol === 1) expect(peer.received.at(-1)).toMatchObject({ id, result: { stopReason: "cancelled" } })
        else expect(peer.updates(result.sessionId).at(-1)).toMatchObject({ state: "idle", stopReason: "cancelled" })
      }
    }),
  )

  it.live("does not keep a server whose sessions cannot be ended", () =>
    Effect.gen(function* () {
      const stuck = {
        create: () => Effect.never,
        get: () => Effect.never,
        close: () => Effect.never,
        idle: Effect.never,
        shutdown: Effect.never,
      } as unknown as Sessions
      const peer = yield* connect({ sessions: Effect.succeed(stuck), limits: { finishMs: 20, stopMs: 20 } })
      yield* peer.request("initialize", initialize)
      yield* peer.ask("session/new", { cwd: "/tmp", mcpServers: [] })
      yield* peer.end
    }),
  )

  it.live("interrupts the server when its scope closes", () =>
    Effect.gen(function* () {
      let shut = 0
      const sessions = {
        create: () => Effect.never,
        get: () => Effect.never,
        close: () => Effect.void,
        idle: Effect.void,
        shutdown: Effect.sync(() => {
          shut++
        }),
      } as unknown as Sessions
      const peer = yield* connect({ sessions: Effect.succeed(sessions) })
      yield* peer.request("initialize", initialize)
      yield* peer.ask("session/new", { cwd: "/tmp", mcpServers: [] })
      yield* peer.request("nothing")
      yield* Fiber.interrupt(peer.server)
      expect(shut).toBe(1)
    }),
  )
})
