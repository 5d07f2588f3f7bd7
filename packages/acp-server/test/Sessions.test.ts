import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Tool } from "@acp-kit/runlet/Host"
import { expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { connect, type Peer, type Setup, sessions } from "./Peer.ts"
import type { Message } from "./WireSchemas.ts"

const params = {
  1: { protocolVersion: 1, clientCapabilities: {} },
  2: { protocolVersion: 2, capabilities: {}, info: { name: "test", version: "0" } },
}
const text = (text: string) => [{ type: "text", text }]
const isIdle = (update: Message) => update.sessionUpdate === "state_update" && update.state === "idle"

const directory = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "kit-server-")))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
)

/** A working directory, and clients of servers that share one store, one after the other. */
const machine = Effect.fnUntraced(function* (setup: Setup = {}) {
  const cwd = yield* directory
  const shared = Effect.succeed(yield* sessions(setup))
  const client = Effect.fnUntraced(function* (version: 1 | 2) {
    const peer = yield* connect({ ...setup, protocol: version, sessions: shared })
    yield* peer.request("initialize", params[version])
    const call = (method: string, more: object = {}) =>
      Effect.map(
        peer.request(method, { cwd, ...(method === "session/list" ? {} : { mcpServers: [] }), ...more }),
        (message) => message.result ?? message.error,
      )
    const prompt = Effect.fnUntraced(function* (sessionId: string, words: string) {
      const before = peer.updates(sessionId).filter(isIdle).length
      yield* peer.request("session/prompt", { sessionId, prompt: text(words) })
      if (version === 2) yield* peer.message(() => peer.updates(sessionId).filter(isIdle).length > before)
    })
    return { peer, call, prompt }
  })
  return { cwd, client }
})

const program = '```runlet intent="add"\nreturn 1 + 1\n```'

const kinds = (updates: ReadonlyArray<Message>) => updates.map((update) => update.sessionUpdate)

const since = (peer: Peer, sessionId: string, count: number) => peer.updates(sessionId).slice(count)

it.live("version 1 replays the whole conversation before it answers session/load, and nothing on session/resume", () =>
  Effect.gen(function* () {
    const { client } = yield* machine()
    const { peer, call, prompt } = yield* client(1)
    const { sessionId } = yield* call("session/new")
    yield* prompt(sessionId, program)
    yield* call("session/set_config_option", { sessionId, configId: "reasoning_effort", value: "low" })
    yield* call("session/close", { sessionId })
    const count = peer.updates(sessionId).length
    const loaded = yield* call("session/load", { sessionId })
    expect(loaded.configOptions).toMatchObject([{ id: "model" }, { currentValue: "low" }])
    const replayed = since(peer, sessionId, count)
    expect(replayed).toMatchObject([
      { sessionUpdate: "user_message_chunk", content: { text: program } },
      { sessionUpdate: "tool_call", title: "compose" },
      { sessionUpdate: "tool_call_update", title: "add" },
      { sessionUpdate: "tool_call_update", status: "completed", rawOutput: 2 },
      { sessionUpdate: "agent_message_chunk", content: { text: "2" } },
    ])
    expect(peer.received.at(-1)).toMatchObject({ result: loaded })
    yield* prompt(sessionId, "more")
    expect(peer.updates(sessionId).at(-2)).toMatchObject({ content: { text: "echo: more" } })
    const before = peer.updates(sessionId).length
    expect((yield* call("session/resume", { sessionId })).configOptions.length).toBe(2)
    expect(since(peer, sessionId, before)).toEqual([])
    expect(peer.violations()).toEqual([])
  }),
)

it.live("version 2 replays from the start with the original message ids and a state, all before the answer", () =>
  Effect.gen(function* () {
    const { client } = yield* machine()
    const { peer, call, prompt } = yield* client(2)
    const { sessionId } = yield* call("session/new")
    yield* prompt(sessionId, "hello")
    const original = peer.updates(sessionId)
    const resumed = yield* call("session/resume", { sessionId, replayFrom: { type: "start" } })
    const replayed = since(peer, sessionId, original.length)
    expect(replayed).toMatchObject([
      { sessionUpdate: "user_message", messageId: original[0]?.messageId, content: text("hello") },
      {
        sessionUpdate: "agent_message",
        messageId: original.find((update) => update.sessionUpdate === "agent_message_chunk")?.messageId,
      },
      { sessionUpdate: "state_update", state: "idle" },
    ])
    expect(peer.received.at(-1)?.result).toEqual(resumed)
    const count = peer.updates(sessionId).length
    yield* call("session/resume", { sessionId })
    expect(since(peer, sessionId, count)).toEqual([{ sessionUpdate: "state_update", state: "idle" }])
    expect(yield* call("session/resume", { sessionId, replayFrom: { type: "_elsewhere" } })).toMatchObject({ code: -32602 })
    expect(yield* call("session/resume", { sessionId: "nobody" })).toMatchObject({ code: -32002, data: { sessionId: "nobody" } })
    expect(peer.violations()).toEqual([])
  }),
)

it.live("both versions refuse MCP servers and system prompts, which they do not offer, wherever they are named", () =>
  Effect.gen(function* () {
    for (const version of [1, 2] as const) {
      const { client } = yield* machine()
      const { peer, call } = yield* client(version)
      const { sessionId } = yield* call("session/new")
      const mcpServers = [{ type: "stdio", name: "files", command: "/bin/files", args: [], env: [] }]
      const attach = version === 1 ? ["session/load", "session/resume"] : ["session/resume"]
      for (const method of ["session/new", "session/fork", ...attach]) {
        expect(yield* call(method, { sessionId, mcpServers })).toEqual({
          code: -32602,
          message: "MCP servers are not supported: files",
        })
      }
      expect(yield* call("session/new", { systemPrompt: { mode: "append", content: text("be brief") } })).toEqual({
        code: -32602,
        message: "a system prompt of the client is not supported",
      })
      expect((yield* call("session/list")).sessions.length).toBe(1)
      expect(peer.violations()).toEqual([])
    }
  }),
)

it.live("both versions refuse content that they do not offer, by its type, and take nothing of it", () =>
  Effect.gen(function* () {
    for (const version of [1, 2] as const) {
      const { client } = yield* machine()
      const { peer, call, prompt } = yield* client(version)
      const { sessionId } = yield* call("session/new")
      const audio = { type: "audio", data: "aGk=", mimeType: "audio/wav" }
      const refused = { code: -32602, message: 'content of type "audio" is not supported' }
      expect(yield* call("session/prompt", { sessionId, prompt: [...text("x"), audio] })).toEqual(refused)
      if (version === 2) expect(yield* call("session/inject", { sessionId, mode: "steer", content: [audio] })).toEqual(refused)
      yield* prompt(sessionId, "hello")
      expect(JSON.stringify(peer.updates(sessionId))).not.toContain("audio")
    }
  }),
)

it.live("both versions list, with a title from the first prompt, filter, refuse a wrong cursor, and delete", () =>
  Effect.gen(function* () {
    for (const version of [1, 2] as const) {
      const { cwd, client } = yield* machine()
      const { peer, call, prompt } = yield* client(version)
      const { sessionId } = yield* call("session/new")
      yield* prompt(sessionId, "the first words")
      expect(peer.updates(sessionId)).toContainEqual({ sessionUpdate: "session_info_update", title: "the first words" })
      expect(yield* call("session/list")).toMatchObject({ sessions: [{ sessionId, cwd, title: "the first words" }] })
      expect(yield* call("session/list", { cwd: "/nowhere" })).toEqual({ sessions: [] })
      expect(yield* call("session/list", { cursor: "x" })).toMatchObject({ code: -32602, message: "invalid session list cursor" })
      for (let round = 0; round < 2; round++) expect(yield* call("session/delete", { sessionId })).toEqual({})
      expect(yield* call("session/list")).toEqual({ sessions: [] })
      expect(yield* call("session/prompt", { sessionId, prompt: text("x") })).toMatchObject({ code: -32002 })
      expect(peer.violations()).toEqual([])
    }
  }),
)

it.live("both versions fork natively: the branch has the conversation, goes its own way, and says where it comes from", () =>
  Effect.gen(function* () {
    for (const version of [1, 2] as const) {
      const { client } = yield* machine()
      const { peer, call, prompt } = yield* client(version)
      const { sessionId } = yield* call("session/new")
      yield* prompt(sessionId, "one")
      const wanted = "s-01a22ebc-1d16-7fc7-a5c8-4773db9c93aa"
      const forked = yield* call("session/fork", { sessionId, _meta: { "kit.subagent.parent_id": wanted } })
      expect(forked).toMatchObject({ sessionId: wanted, _meta: { "kit/forkedFrom": sessionId } })
      yield* prompt(wanted, "two")
      yield* prompt(sessionId, "three")
      yield* call("session/close", { sessionId: wanted })
      const replay = version === 1 ? "session/load" : "session/resume"
      const count = peer.updates(wanted).length
      yield* call(replay, { sessionId: wanted, ...(version === 2 ? { replayFrom: { type: "start" } } : {}) })
      const words = JSON.stringify(since(peer, wanted, count))
      expect([words.includes("one"), words.includes("two"), words.includes("three")]).toEqual([true, true, false])
      expect(peer.violations()).toEqual([])
    }
  }),
)

it.live("S170 takes additional directories on new, load, resume and fork, and refuses ones that are none", () =>
  Effect.gen(function* () {
    const { cwd, client } = yield* machine()
    mkdirSync(join(cwd, "more"))
    const { call } = yield* client(1)
    const additionalDirectories = [join(cwd, "more")]
    const { sessionId } = yield* call("session/new", { additionalDirectories })
    const wrong = { sessionId, additionalDirectories: [join(cwd, "gone")] }
    for (const method of ["session/new", "session/load", "session/resume", "session/fork"]) {
      expect(yield* call(method, wrong)).toMatchObject({ code: -32602 })
      expect(yield* call(method, { sessionId, additionalDirectories })).toMatchObject({ configOptions: expect.anything() })
    }
  }),
)

it.live("version 2 steers a running turn, takes back and exchanges what is pending, and refuses otherwise", () =>
  Effect.gen(function* () {
    const rules = [{ match: "^slow", steps: [{ say: "working" }, { wait_ms: 200 }] }]
    const { client } = yield* machine({ rules })
    const { peer, call } = yield* client(2)
    const { sessionId } = yield* call("session/new")
    const inject = (words: string) => call("session/inject", { sessionId, mode: "steer", content: text(words) })
    expect(yield* inject("too early")).toMatchObject({ code: -32600, data: { reason: "not_running" } })
    yield* call("session/prompt", { sessionId, prompt: text("slow") })
    yield* peer.update((update) => update.sessionUpdate === "agent_message_chunk")
    const [first, second, third] = [yield* inject("first"), yield* inject("second"), yield* inject("third")]
    expect(yield* call("session/revoke_inject", { sessionId, messageId: first.messageId })).toEqual({})
    expect(yield* call("session/replace_inject", { sessionId, messageId: third.messageId, content: text("other") })).toEqual({
      messageId: third.messageId,
    })
    expect(yield* call("session/revoke_inject", { sessionId, messageId: "nobody" })).toMatchObject({
      code: -32002,
      data: { reason: "unknown_message_id", messageId: "nobody" },
    })
    yield* peer.update(isIdle)
    const spoken = peer.updates(sessionId).filter((update) => update.sessionUpdate === "user_message")
    expect(spoken.slice(1)).toMatchObject([
      { messageId: second.messageId, content: text("second") },
      { messageId: third.messageId, content: text("other") },
    ])
    expect(peer.updates(sessionId)).toContainEqual(expect.objectContaining({ content: { type: "text", text: "echo: other" } }))
    expect(yield* call("session/revoke_inject", { sessionId, messageId: second.messageId })).toMatchObject({
      code: -32010,
      data: { reason: "already_delivered" },
    })
    expect(yield* call("session/inject", { sessionId, mode: "queue", content: text("x") })).toMatchObject({ code: -32602 })
    expect(kinds(peer.updates(sessionId)).filter((kind) => kind === "state_update").length).toBe(2)
  }),
)

it.live("shows no capability that does not work", () =>
  Effect.gen(function* () {
    const { client } = yield* machine()
    const { peer } = yield* client(2)
    expect(peer.received[0]?.result.capabilities.session).toEqual({
      prompt: { image: {}, embeddedContext: {} },
      delete: {},
      fork: {},
      additionalDirectories: {},
      inject: { modes: ["steer"], steerInStream: ["finish"], pending: { replace: {} } },
    })
  }),
)

it.live("both versions show a call that goes on in the background, and the turn that its end wakes", () =>
  Effect.gen(function* () {
    for (const version of [1, 2] as const) {
      const gate = yield* Deferred.make<void>()
      const { client } = yield* machine({ tools: [waiting(gate)] })
      const { peer, call, prompt } = yield* client(version)
      const { sessionId } = yield* call("session/new")
      yield* prompt(sessionId, "```runlet background=true\nreturn wait({})\n```")
      const card = peer.updates(sessionId).find((update) => update.toolCallId !== undefined)?.toolCallId
      expect(peer.updates(sessionId).findLast((update) => update.toolCallId === card)).toMatchObject({ status: "in_progress" })
      if (version === 2) {
        expect(peer.updates(sessionId).find(isIdle)).toMatchObject({ background: [{ type: "tool_call", toolCallId: card }] })
      }
      yield* Deferred.succeed(gate, undefined)
      yield* peer.update((update) => update.content?.text === "waited")
      if (version === 2) yield* peer.message(() => peer.updates(sessionId).filter(isIdle).length === 2)
      expect(peer.updates(sessionId)).toContainEqual(
        expect.objectContaining({ toolCallId: card, status: "completed", rawOutput: "waited" }),
      )
      const states = peer.updates(sessionId).filter((update) => update.sessionUpdate === "state_update")
      expect(states.map((update) => update.state)).toEqual(version === 1 ? [] : ["running", "idle", "running", "idle"])
      expect(peer.violations()).toEqual([])
    }
  }),
)

/** A tool that waits for its gate. */
const waiting = (gate: Deferred.Deferred<void>): Tool => ({
  name: "wait",
  summary: "waits",
  parameters: [{ name: "input", schema: { type: "object" } }],
  output: true,
  policy: "at_most_once",
  schemaVersion: "1",
  handler: () => Effect.as(Deferred.await(gate), "waited"),
})

it.live("both versions send a running program to the background and end it there when they are asked to", () =>
  Effect.gen(function* () {
    for (const version of [1, 2] as const) {
      const { client } = yield* machine({ tools: [waiting(yield* Deferred.make<void>())] })
      const { peer, call } = yield* client(version)
      const { sessionId } = yield* call("session/new")
      const own = (method: string, params: object = {}) => call(method, { session_id: sessionId, ...params })
      expect(yield* own("kit/compose/detach")).toEqual({ detached: false })
      const id = yield* peer.ask("session/prompt", { sessionId, prompt: text("```runlet\nreturn wait({})\n```") })
      const { toolCallId: call_id } = yield* peer.update((update) => update.status === "in_progress")
      expect(yield* own("kit/background/cancel", { call_id })).toEqual({ cancelled: false })
      expect(yield* own("kit/compose/detach")).toEqual({ detached: true })
      yield* peer.message((message) => message.id === id && message.result)
      yield* peer.update((update) => update.toolCallId === call_id && update.rawOutput?.status === "running")
      expect(yield* own("kit/background/cancel", { call_id })).toEqual({ cancelled: true })
      yield* peer.update((update) => update.toolCallId === call_id && update.rawOutput?.code === "CANCELLED")
      expect(yield* own("kit/background/cancel", { call_id: 7 })).toMatchObject({ code: -32602 })
      expect(yield* call("kit/compose/detach", { session_id: "nobody" })).toMatchObject({ code: -32002 })
    }
  }),
)

it.live("tells a client of version 1 that asks for it of a turn that no prompt began, from its beginning to its end", () =>
  Effect.gen(function* () {
    const gate = yield* Deferred.make<void>()
    const peer = yield* connect({ tools: [waiting(gate)] })
    yield* peer.request("initialize", { protocolVersion: 1, clientCapabilities: { _meta: { "kit/turn/state": {} } } })
    const { sessionId } = (yield* peer.request("session/new", { cwd: yield* directory, mcpServers: [] })).result
    const program = text("```runlet background=true\nreturn wait({})\n```")
    yield* peer.request("session/prompt", { sessionId, prompt: program })
    const card = peer.updates(sessionId).find((update) => update.toolCallId !== undefined)?.toolCallId
    const states = () => peer.received.filter(({ method }) => method === "kit/turn/state").map(({ params }) => params)
    expect(states()).toEqual([])
    yield* Deferred.succeed(gate, undefined)
    yield* peer.message(() => states().length === 2)
    const state = { session_id: sessionId, turn_id: card, error: null }
    expect(states()).toEqual([
      { ...state, active: true },
      { ...state, active: false },
    ])
    const messages = peer.received.map(({ method, params }) =>
      method === "kit/turn/state" ? params.active : params?.update.content?.text,
    )
    expect(messages.filter((seen) => seen !== undefined).slice(-3)).toEqual([true, "waited", false])
  }),
)
