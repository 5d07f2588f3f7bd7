import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Appears from "../src/Appears.ts"
import { script, scriptBlock } from "../src/ScriptedAgent.ts"
import { fields } from "../src/scripted-agent/Value.ts"
import { folder, live, opened, started } from "./Client.ts"

const result = (message: unknown) => fields(fields(message).result)
const error = (message: unknown) => fields(fields(message).error)
const cancel = (sessionId: string) => ({ method: "session/cancel", params: { sessionId } })

describe("a scripted agent in no mood", () => {
  live("echoes in v1", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1)
      expect(result(yield* agent.prompt("hello"))).toEqual({ stopReason: "end_turn" })
      expect(agent.text()).toBe("echo: hello")
    }),
  )

  live("answers first, echoes the user, reports running and idle in v2", () =>
    Effect.gen(function* () {
      const agent = yield* opened(2)
      const { messageId } = result(yield* agent.prompt("hello"))
      yield* agent.idle
      expect(agent.updates()).toEqual([
        { sessionUpdate: "user_message", messageId, content: [{ type: "text", text: "hello" }] },
        { sessionUpdate: "state_update", state: "running" },
        { sessionUpdate: "agent_message_chunk", messageId: expect.any(String), content: { type: "text", text: "echo: hello" } },
        { sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" },
      ])
    }),
  )

  live("records every frame of both directions in order", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1)
      yield* agent.prompt("hello")
      expect(agent.agent.recording.exchange).toEqual([
        "> initialize",
        "< result",
        "> session/new",
        "< result",
        "> session/prompt",
        "< session/update agent_message_chunk",
        "< result",
      ])
      expect(agent.agent.recording.pids).toEqual([agent.child.pid])
    }),
  )

  live("keeps exact integers in the recorded lines", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1)
      const line = `{"jsonrpc":"2.0","id":77,"method":"session/prompt","params":{"sessionId":"${agent.sessionId}","prompt":[{"type":"text","text":"x","_meta":{"n":9007199254740993}}]}}`
      yield* Effect.ignore(agent.child.write(`${line}\n`))
      yield* agent.answerTo(77)
      expect(agent.agent.recording.frames.map((frame) => frame.line)).toContain(line)
    }),
  )

  live("plays the script that a prompt brings, as text and in the metadata of a block", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1)
      yield* agent.prompt(script({ say: "one " }, { say: "two ", chunks: 2 }))
      const prompt = [scriptBlock("please", { say: "three" }, { stop: "max_tokens" })]
      const answer = yield* agent.request("session/prompt", { sessionId: agent.sessionId, prompt })
      expect([agent.text(), result(answer)]).toEqual(["one two three", { stopReason: "max_tokens" }])
    }),
  )

  live("knows its session: recall, where, files", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1)
      writeFileSync(join(agent.cwd, "two-lines"), "a\nb\n")
      yield* agent.prompt("first")
      yield* agent.prompt(script({ recall: true }, { countLines: "two-lines" }, { write: "made", text: "by the agent" }))
      expect(agent.text()).toBe('echo: first["first"]2')
      expect(readFileSync(join(agent.cwd, "made"), "utf8")).toBe("by the agent")
    }),
  )

  live("runs two prompts of one session one after the other, two sessions side by side", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1)
      const gate = join(agent.cwd, "gate")
      const other = result(yield* agent.request("session/new", { cwd: agent.cwd, mcpServers: [] })).sessionId
      const first = yield* agent.beginPrompt(script({ gate }, { say: "first " }))
      const second = yield* agent.beginPrompt(script({ say: "second" }))
      const beside = { sessionId: other, prompt: [{ type: "text", text: script({ say: "beside " }) }] }
      yield* agent.request("session/prompt", beside)
      yield* Appears.touch(gate)
      yield* agent.answerTo(first)
      yield* agent.answerTo(second)
      expect(agent.text()).toBe("beside first second")
    }),
  )

  live("ends a cancelled turn as cancelled, in both versions", () =>
    Effect.gen(function* () {
      const one = yield* opened(1)
      const id = yield* one.beginPrompt(script({ say: "working" }, { awaitCancel: true }, { say: "never" }))
      yield* one.until(({ method }) => method === "session/update")
      yield* one.send(cancel(one.sessionId))
      expect(result(yield* one.answerTo(id))).toEqual({ stopReason: "cancelled" })
      expect(one.text()).toBe("working")
      const two = yield* opened(2)
      yield* two.prompt(script({ wait: 1e6 }))
      yield* two.send(cancel(two.sessionId))
      expect(fields(fields((yield* two.idle).params).update).stopReason).toBe("cancelled")
    }),
  )

  live("leaves at the end of its input, in the middle of a turn too", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1)
      yield* agent.beginPrompt(script({ say: "working" }, { awaitCancel: true }))
      yield* agent.until(({ method }) => method === "session/update")
      yield* agent.child.endInput
      expect(yield* agent.child.exit).toEqual({ code: 0, signal: undefined })
    }),
  )
})

describe("sessions", () => {
  const model = {
    id: "model",
    category: "model",
    currentValue: "small",
    options: [
      { value: "small", name: "Small" },
      { value: "large", name: "Large" },
    ],
  }

  live("have options, set by value, with effects on others", () =>
    Effect.gen(function* () {
      const large = [
        { ...model, currentValue: "large" },
        { id: "fast", currentValue: false },
      ]
      const agent = yield* opened(1, { options: [model], optionEffects: [{ id: "model", value: "large", options: large }] })
      const set = (value: unknown) =>
        agent.request("session/set_config_option", { sessionId: agent.sessionId, configId: "model", value })
      expect(error(yield* set("huge")).code).toBe(-32602)
      expect(result(yield* set("large")).configOptions).toMatchObject([
        { id: "model", name: "model", type: "select", currentValue: "large" },
        { id: "fast", type: "boolean", currentValue: false },
      ])
    }),
  )

  live("name options and groups in the words of v2", () =>
    Effect.gen(function* () {
      const options = [{ group: "g", name: "G", options: model.options }]
      const agent = yield* started(2, { options: [{ ...model, options }] })
      const answer = result(yield* agent.request("session/new", { cwd: agent.cwd }))
      expect(answer.configOptions).toMatchObject([{ configId: "model", options: [{ groupId: "g" }] }])
    }),
  )

  live("fork with their history", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1)
      yield* agent.prompt("before")
      const fork = result(yield* agent.request("session/fork", { sessionId: agent.sessionId, cwd: agent.cwd })).sessionId
      expect(fork).not.toBe(agent.sessionId)
      yield* agent.request("session/prompt", { sessionId: fork, prompt: [{ type: "text", text: script({ recall: true }) }] })
      expect(agent.text()).toBe('echo: before["before"]')
    }),
  )

  live("fork late, after a cancel that was not honoured", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const gate = join(cwd, "gate")
      const mood = { deaf: ["cancel_request"] as const, on: { "session/fork": { before: [{ gate }] } } }
      const agent = yield* opened(1, mood, cwd)
      const id = yield* agent.begin("session/fork", { sessionId: agent.sessionId, cwd })
      yield* agent.send({ method: "$/cancel_request", params: { requestId: id } })
      yield* agent.agent.recording.untilReceived("$/cancel_request")
      yield* Appears.touch(gate)
      expect(result(yield* agent.answerTo(id)).sessionId).toEqual(expect.any(String))
    }),
  )

  live("answer a cancelled request with -32800", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1, { on: { "session/fork": { before: [{ awaitCancel: true }] } } })
      const id = yield* agent.begin("session/fork", { sessionId: agent.sessionId, cwd: agent.cwd })
      yield* agent.send({ method: "$/cancel_request", params: { requestId: id } })
      expect(error(yield* agent.answerTo(id)).code).toBe(-32800)
    }),
  )

  live("survive a restart and are replayed by load in v1, by resume in v2", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const first = yield* opened(1, {}, cwd)
      yield* first.prompt("remember")
      yield* first.child.stop()
      const one = yield* started(1, {}, cwd)
      yield* one.request("session/load", { sessionId: first.sessionId, cwd, mcpServers: [] })
      expect(one.updates().map(({ sessionUpdate, content }) => [sessionUpdate, fields(content).text])).toEqual([
        ["user_message_chunk", "remember"],
        ["agent_message_chunk", "echo: remember"],
      ])
      yield* one.child.stop()
      const two = yield* started(2, {}, cwd)
      const params = { sessionId: first.sessionId, cwd, replayFrom: { type: "start" } }
      yield* two.request("session/resume", params)
      expect(two.updates().map(({ sessionUpdate }) => sessionUpdate)).toEqual(["user_message", "agent_message", "state_update"])
      expect(error(yield* two.request("session/resume", { ...params, replayFrom: { type: "_x" } })).code).toBe(-32602)
    }),
  )

  live("are unknown after delete, and listed by directory", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1)
      const listed = () =>
        Effect.map(
          agent.request("session/list", { cwd: agent.cwd }),
          (answer) => result(answer).sessions as ReadonlyArray<unknown>,
        )
      expect(yield* listed()).toHaveLength(1)
      yield* agent.request("session/delete", { sessionId: agent.sessionId })
      expect(yield* listed()).toEqual([])
      expect(error(yield* agent.request("session/load", { sessionId: agent.sessionId, cwd: agent.cwd })).code).toBe(-32002)
    }),
  )
})

describe("steering", () => {
  live("reaches a turn that waits for it", () =>
    Effect.gen(function* () {
      const agent = yield* opened(2)
      yield* agent.prompt(script({ awaitInject: true }))
      const content = [{ type: "text", text: "left" }]
      const inject = { sessionId: agent.sessionId, mode: "steer", content }
      const { messageId } = result(yield* agent.request("session/inject", inject))
      yield* agent.idle
      expect(agent.updates()).toContainEqual({ sessionUpdate: "user_message", messageId, content })
      expect(agent.text()).toBe("steered: left")
      expect(error(yield* agent.request("session/inject", inject)).code).toBe(-32600)
    }),
  )
})

describe("questions", () => {
  live("for permission say what was chosen", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1)
      const id = yield* agent.beginPrompt(script({ permission: "once" }))
      const asked = yield* agent.until(({ method }) => method === "session/request_permission")
      expect([asked.id, fields(asked.params).options]).toEqual([
        0,
        expect.arrayContaining([expect.objectContaining({ kind: "allow_once" })]),
      ])
      yield* agent.send({ id: asked.id, result: { outcome: { outcome: "selected", optionId: "yes" } } })
      yield* agent.answerTo(id)
      expect(agent.text()).toBe("permission: yes")
    }),
  )

  live("hold a cancelled turn up until they are answered", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1)
      const id = yield* agent.beginPrompt(script({ permission: "usual" }))
      const asked = yield* agent.until(({ method }) => method === "session/request_permission")
      yield* agent.send(cancel(agent.sessionId))
      yield* agent.request("session/list", {})
      expect(agent.messages.some((message) => message.id === id)).toBe(false)
      yield* agent.send({ id: asked.id, result: { outcome: { outcome: "cancelled" } } })
      expect(result(yield* agent.answerTo(id))).toEqual({ stopReason: "cancelled" })
    }),
  )

  live("are withdrawn by an agent that does not wait", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1, { cancelled: { withdraw: true }, requestIds: "uuid" })
      const id = yield* agent.beginPrompt(script({ permission: "usual" }))
      const asked = yield* agent.until(({ method }) => method === "session/request_permission")
      yield* agent.send(cancel(agent.sessionId))
      expect(result(yield* agent.answerTo(id))).toEqual({ stopReason: "cancelled" })
      expect(agent.messages).toContainEqual(
        expect.objectContaining({ method: "$/cancel_request", params: { requestId: asked.id } }),
      )
      expect(asked.id).toEqual(expect.stringMatching(/^[0-9a-f-]{36}$/))
    }),
  )

  live("for input and of any other kind say the answer", () =>
    Effect.gen(function* () {
      const agent = yield* opened(2)
      yield* agent.beginPrompt(script({ elicit: "url" }, { request: { method: "craft/x", params: { a: 1 } } }))
      const asked = yield* agent.until(({ method }) => method === "elicitation/create")
      expect(asked.params).toMatchObject({ mode: "url", url: expect.any(String) })
      yield* agent.send({ id: asked.id, result: { action: "cancel" } })
      const other = yield* agent.until(({ method }) => method === "craft/x")
      yield* agent.send({ id: other.id, error: { code: -32601, message: "no" } })
      yield* agent.idle
      expect(agent.text()).toBe('elicitation: cancelanswer: {"code":-32601,"message":"no"}')
    }),
  )
})
