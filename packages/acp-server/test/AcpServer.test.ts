import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { connect, type Peer } from "./Peer.ts"
import type { Message } from "./WireSchemas.ts"

const v1 = { protocolVersion: 1, clientCapabilities: {}, clientInfo: { name: "test", version: "0" } }
const v2 = { protocolVersion: 2, capabilities: {}, info: { name: "test", version: "0" } }
const text = (text: string) => [{ type: "text", text }]

const open = Effect.fnUntraced(function* (peer: Peer, version: 1 | 2) {
  yield* peer.request("initialize", version === 1 ? v1 : v2)
  const { result } = yield* peer.request("session/new", { cwd: "/tmp", mcpServers: [] })
  return result.sessionId as string
})

const idle = (update: Message) => update.sessionUpdate === "state_update" && update.state === "idle"
const slow = [{ match: "slow", steps: [{ say: "working" }, { wait_ms: 60_000 }] }]

describe("version 1", () => {
  it.live("answers initialize with what it can do", () =>
    Effect.gen(function* () {
      const peer = yield* connect()
      const { result } = yield* peer.request("initialize", v1)
      expect(result).toEqual({
        protocolVersion: 1,
        agentInfo: { name: "kit", version: "1.2.3" },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, embeddedContext: true },
          sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, fork: {}, additionalDirectories: {} },
          _meta: { "kit/compose/detach": {}, "kit/background/cancel": {}, "kit/turn/state": {} },
        },
        authMethods: [],
      })
      expect(peer.violations()).toEqual([])
    }),
  )

  it.live("streams the answer and the usage of a turn and then answers the prompt", () =>
    Effect.gen(function* () {
      const peer = yield* connect()
      const sessionId = yield* open(peer, 1)
      const { result } = yield* peer.request("session/prompt", { sessionId, prompt: text("hello") })
      expect(result).toEqual({ stopReason: "end_turn" })
      expect(peer.updates(sessionId)).toMatchObject([
        { sessionUpdate: "session_info_update", title: "hello" },
        { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "echo: hello" } },
        { sessionUpdate: "usage_update", used: 4, size: 128_000 },
      ])
      expect(peer.violations()).toEqual([])
    }),
  )

  it.live("answers a cancelled prompt with cancelled, also when the cancel comes in the same write", () =>
    Effect.gen(function* () {
      const peer = yield* connect({ rules: slow })
      const sessionId = yield* open(peer, 1)
      const prompt = { id: "p", method: "session/prompt", params: { sessionId, prompt: text("slow") } }
      yield* peer.burst(prompt, { method: "session/cancel", params: { sessionId } })
      expect(yield* peer.message((message) => message.id === "p")).toMatchObject({ result: { stopReason: "cancelled" } })
    }),
  )

  it.live("interrupts a turn whose request is cancelled", () =>
    Effect.gen(function* () {
      const peer = yield* connect({ rules: slow })
      const sessionId = yield* open(peer, 1)
      const id = yield* peer.ask("session/prompt", { sessionId, prompt: text("slow") })
      yield* peer.update((update) => update.sessionUpdate === "agent_message_chunk")
      yield* peer.notify("$/cancel_request", { requestId: id })
      expect(yield* peer.message((message) => message.id === id)).toMatchObject({ error: { code: -32800 } })
      expect(yield* peer.request("session/prompt", { sessionId, prompt: text("next") })).toMatchObject({
        result: { stopReason: "end_turn" },
      })
    }),
  )

  it.live("refuses a second prompt while one runs, and an unknown session", () =>
    Effect.gen(function* () {
      const peer = yield* connect({ rules: slow })
      const sessionId = yield* open(peer, 1)
      const first = yield* peer.ask("session/prompt", { sessionId, prompt: text("slow") })
      yield* peer.update((update) => update.sessionUpdate === "agent_message_chunk")
      const second = yield* peer.request("session/prompt", { sessionId, prompt: text("x") })
      expect(second).toMatchObject({ error: { code: -32600, message: "session is already running a prompt" } })
      const unknown = yield* peer.request("session/prompt", { sessionId: "nobody", prompt: text("x") })
      expect(unknown).toMatchObject({ error: { code: -32002, data: { sessionId: "nobody" } } })
      yield* peer.notify("session/cancel", { sessionId })
      yield* peer.message((message) => message.id === first)
    }),
  )

  it.live("tells a failed turn as an error of one line without data", () =>
    Effect.gen(function* () {
      const peer = yield* connect({ rules: [{ match: "", steps: [{ fail: "no credit\nsecret below" }] }] })
      const sessionId = yield* open(peer, 1)
      const { error } = yield* peer.request("session/prompt", { sessionId, prompt: text("x") })
      expect(error).toEqual({ code: -32603, message: "no credit secret below" })
    }),
  )

  it.live("closes a session after cancelling its work", () =>
    Effect.gen(function* () {
      const peer = yield* connect({ rules: slow })
      const sessionId = yield* open(peer, 1)
      const id = yield* peer.ask("session/prompt", { sessionId, prompt: text("slow") })
      yield* peer.update((update) => update.sessionUpdate === "agent_message_chunk")
      expect(yield* peer.request("session/close", { sessionId })).toMatchObject({ result: {} })
      expect(yield* peer.message((message) => message.id === id)).toMatchObject({ result: { stopReason: "cancelled" } })
      expect(yield* peer.request("session/prompt", { sessionId, prompt: text("x") })).toMatchObject({ error: { code: -32002 } })
    }),
  )

  it.live("offers model and reasoning effort, and answers a change with the complete list", () =>
    Effect.gen(function* () {
      const peer = yield* connect()
      yield* peer.request("initialize", v1)
      const { result } = yield* peer.request("session/new", { cwd: "/tmp", mcpServers: [] })
      const [model, effort] = result.configOptions
      expect(model).toMatchObject({ id: "model", category: "model", currentValue: "scripted" })
      expect(effort.options.map((option: Message) => option.name)).toEqual(["Default", "Low", "Medium", "High"])
      const set = (configId: string, value: unknown) =>
        peer.request("session/set_config_option", { sessionId: result.sessionId, configId, value })
      expect((yield* set("reasoning_effort", "high")).result.configOptions).toMatchObject([
        { id: "model" },
        { currentValue: "high" },
      ])
      expect((yield* set("reasoning_effort", "extreme")).error).toMatchObject({ code: -32602 })
      expect((yield* set("model", "gpt-9")).error.message).toContain("scripted")
      expect((yield* set("colour", "red")).error.message).toContain("unknown session configuration option")
      expect(peer.violations()).toEqual([])
    }),
  )

  it.live("refuses directories that are not absolute", () =>
    Effect.gen(function* () {
      const peer = yield* connect()
      yield* peer.request("initialize", v1)
      const relative = yield* peer.request("session/new", { cwd: "here", mcpServers: [] })
      expect(relative.error).toMatchObject({ code: -32602, message: "cwd must be absolute: here" })
      const additional = yield* peer.request("session/new", { cwd: "/tmp", mcpServers: [], additionalDirectories: ["there"] })
      expect(additional.error.message).toContain("additional directories must be absolute")
    }),
  )
})

describe("version 2", () => {
  it.live("accepts, echoes the prompt, runs, streams, and is idle with a reason, in this order", () =>
    Effect.gen(function* () {
      const peer = yield* connect({ protocol: 2 })
      const sessionId = yield* open(peer, 2)
      const accepted = yield* peer.request("session/prompt", { sessionId, prompt: text("hello") })
      yield* peer.update(idle)
      const messageId = accepted.result.messageId
      expect(peer.updates(sessionId)).toMatchObject([
        { sessionUpdate: "user_message", messageId, content: text("hello") },
        { sessionUpdate: "state_update", state: "running" },
        { sessionUpdate: "session_info_update", title: "hello" },
        { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "echo: hello" } },
        { sessionUpdate: "usage_update" },
        { sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" },
      ])
      expect(peer.received.indexOf(accepted)).toBeLessThan(
        peer.received.findIndex((message) => message.method === "session/update"),
      )
      expect(peer.violations()).toEqual([])
    }),
  )

  it.live("takes the next prompt as soon as idle was told", () =>
    Effect.gen(function* () {
      const peer = yield* connect({ protocol: 2 })
      const sessionId = yield* open(peer, 2)
      for (let round = 1; round <= 20; round++) {
        const { result } = yield* peer.request("session/prompt", { sessionId, prompt: text(`${round}`) })
        expect(result.messageId).toBeTypeOf("string")
        yield* peer.message(() => peer.updates(sessionId).filter(idle).length === round)
      }
    }),
  )

  it.live("ends a cancelled turn with idle cancelled, also when the cancel comes in the same write", () =>
    Effect.gen(function* () {
      const peer = yield* connect({ protocol: 2, rules: slow })
      const sessionId = yield* open(peer, 2)
      const prompt = { id: "p", method: "session/prompt", params: { sessionId, prompt: text("slow") } }
      yield* peer.burst(prompt, { method: "session/cancel", params: { sessionId } })
      expect(yield* peer.update(idle)).toMatchObject({ stopReason: "cancelled" })
      expect(yield* peer.message((message) => message.id === "p")).toMatchObject({ result: {} })
      expect(peer.updates(sessionId)[0]).toMatchObject({ sessionUpdate: "user_message" })
      expect(peer.violations()).toEqual([])
    }),
  )

  it.live("tells a failed turn by a notice and idle with a reason of its own", () =>
    Effect.gen(function* () {
      const peer = yield* connect({ protocol: 2, rules: [{ match: "", steps: [{ fail: "no credit" }] }] })
      const sessionId = yield* open(peer, 2)
      yield* peer.request("session/prompt", { sessionId, prompt: text("x") })
      expect(yield* peer.update(idle)).toMatchObject({ stopReason: "_error" })
      expect(peer.updates(sessionId)).toContainEqual({ sessionUpdate: "notice", severity: "error", title: "no credit" })
      expect(peer.violations()).toEqual([])
    }),
  )

  it.live("takes back what a failed attempt had streamed", () =>
    Effect.gen(function* () {
      const rules = [{ match: "", steps: [{ say: "half" }, { fail: "busy", attempts: 1 }, { say: " whole" }] }]
      const peer = yield* connect({ protocol: 2, rules })
      const sessionId = yield* open(peer, 2)
      yield* peer.request("session/prompt", { sessionId, prompt: text("x") })
      yield* peer.update(idle)
      const [first, empty] = peer.updates(sessionId).filter((update) => update.sessionUpdate.startsWith("agent_message"))
      expect(empty).toEqual({ sessionUpdate: "agent_message", messageId: first?.messageId, content: [] })
    }),
  )

  it.live("tells that work was cancelled before it answers a close", () =>
    Effect.gen(function* () {
      const peer = yield* connect({ protocol: 2, rules: slow })
      const sessionId = yield* open(peer, 2)
      yield* peer.request("session/prompt", { sessionId, prompt: text("slow") })
      yield* peer.update((update) => update.sessionUpdate === "agent_message_chunk")
      const closed = yield* peer.request("session/close", { sessionId })
      const last = peer.received[peer.received.indexOf(closed) - 1]
      expect(last).toMatchObject({ params: { update: { state: "idle", stopReason: "cancelled" } } })
    }),
  )

  it.live("sets options by configId and type", () =>
    Effect.gen(function* () {
      const peer = yield* connect({ protocol: 2 })
      const sessionId = yield* open(peer, 2)
      const { result } = yield* peer.request("session/set_config_option", {
        sessionId,
        configId: "reasoning_effort",
        type: "id",
        value: "low",
      })
      expect(result.configOptions).toMatchObject([{ configId: "model" }, { configId: "reasoning_effort", currentValue: "low" }])
      expect(peer.violations()).toEqual([])
    }),
  )
})

describe("the choice of a version", () => {
  it.live("serves version 1 alone unless told otherwise", () =>
    Effect.gen(function* () {
      const peer = yield* connect()
      expect((yield* peer.request("initialize", { ...v2, ...v1, protocolVersion: 2 })).result.protocolVersion).toBe(1)
    }),
  )

  it.live("offers both with auto", () =>
    Effect.gen(function* () {
      for (const [asked, given] of [
        [1, 1],
        [2, 2],
        [65535, 2],
      ] as const) {
        const peer = yield* connect({ protocol: "auto" })
        const { result } = yield* peer.request("initialize", { ...v1, ...v2, protocolVersion: asked })
        expect(result.protocolVersion).toBe(given)
      }
    }),
  )

  it.live("refuses version 1 where only 2 is served", () =>
    Effect.gen(function* () {
      const peer = yield* connect({ protocol: 2 })
      expect((yield* peer.request("initialize", v1)).error).toBeDefined()
    }),
  )
})
