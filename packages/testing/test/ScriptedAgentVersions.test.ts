import { join } from "node:path"
import { describe, expect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Appears from "../src/Appears.ts"
import { launch, script } from "../src/ScriptedAgent.ts"
import { fields } from "../src/scripted-agent/Value.ts"
import { connect, folder, live, opened, started } from "./Client.ts"

const result = (message: unknown) => fields(fields(message).result)
const error = (message: unknown) => fields(fields(message).error)

describe("versions", () => {
  const initialize = Effect.fnUntraced(function* (mood: Parameters<typeof launch>[0], version = 2) {
    const agent = yield* connect(launch(mood), yield* folder)
    return { agent, answer: yield* agent.request("initialize", { protocolVersion: version }) }
  })

  live("are answered in their own words", () =>
    Effect.gen(function* () {
      const two = result((yield* initialize({})).answer)
      expect(two).toMatchObject({ protocolVersion: 2, info: {}, capabilities: { session: { fork: {}, inject: {} } } })
      const one = result((yield* initialize({ versions: [1] })).answer)
      expect(one).toMatchObject({ protocolVersion: 1, agentInfo: {}, agentCapabilities: { loadSession: true } })
    }),
  )

  live("may be refused, by an agent that lives on and by one that ends", () =>
    Effect.gen(function* () {
      const refusing = yield* initialize({ versions: [1], otherVersion: "refuse" })
      expect(error(refusing.answer)).toMatchObject({ code: -32022, data: { requested: 2, supported: [1] } })
      expect(result(yield* refusing.agent.request("initialize", { protocolVersion: 1 })).protocolVersion).toBe(1)
      const dying = yield* initialize({ versions: [1], otherVersion: "refuse-and-exit" })
      expect(error(dying.answer).code).toBe(-32022)
      expect((yield* dying.agent.child.exit).code).toBe(1)
    }),
  )

  live("may be any number", () =>
    Effect.gen(function* () {
      expect(result((yield* initialize({ versions: [], otherVersion: { answer: 99 } })).answer).protocolVersion).toBe(99)
    }),
  )

  live("show only the capabilities that are on", () =>
    Effect.gen(function* () {
      const off = { image: false, fork: false, close: false, load: false, inject: false, additionalDirectories: false } as const
      const one = result((yield* initialize({ versions: [1], capabilities: off })).answer)
      expect(one.agentCapabilities).toEqual({
        loadSession: false,
        promptCapabilities: { image: false, audio: true, embeddedContext: true },
        mcpCapabilities: { http: true, sse: false },
        sessionCapabilities: { list: {}, resume: {}, delete: {} },
      })
      const two = result((yield* initialize({ capabilities: off })).answer)
      expect(two.capabilities).toEqual({
        session: { prompt: { audio: {}, embeddedContext: {} }, mcp: { stdio: {}, http: {} }, delete: {} },
      })
    }),
  )

  live("refuse what is off", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1, { capabilities: { fork: false, close: false } })
      for (const method of ["session/fork", "session/close"]) {
        expect(error(yield* agent.request(method, { sessionId: agent.sessionId })).code).toBe(-32601)
      }
    }),
  )
})

describe("authentication", () => {
  live("is asked for where the mood says, until the file is there", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const until = join(cwd, "login")
      const methods = [{ id: "login", name: "Log in" }]
      const agent = yield* started(
        1,
        { authMethods: methods, auth: { at: ["session/new"], until, data: { token: "secret" } } },
        cwd,
      )
      const denied = error(yield* agent.request("session/new", { cwd, mcpServers: [] }))
      expect(denied).toEqual({ code: -32000, message: "Authentication required", data: { token: "secret" } })
      yield* Appears.touch(until)
      expect(result(yield* agent.request("session/new", { cwd, mcpServers: [] })).sessionId).toEqual(expect.any(String))
    }),
  )

  live("may end the agent", () =>
    Effect.gen(function* () {
      const agent = yield* opened(2, { auth: { at: ["session/prompt"], exit: 4 } })
      expect(error(yield* agent.prompt("hello")).code).toBe(-32000)
      expect((yield* agent.child.exit).code).toBe(4)
    }),
  )
})

describe("revisions of v2", () => {
  live("answer with an empty object, after idle, without running and without message ids", () =>
    Effect.gen(function* () {
      const v2 = { answer: "empty", order: "last", running: false, idle: 2, noMessageIds: true, noStopReason: true } as const
      const agent = yield* opened(2, { v2 })
      const answer = yield* agent.prompt("hello")
      expect(result(answer)).toEqual({})
      expect(agent.messages.indexOf(answer)).toBe(agent.messages.length - 1)
      expect(agent.updates()).toEqual([
        { sessionUpdate: "user_message", content: [{ type: "text", text: "hello" }] },
        { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "echo: hello" } },
        { sessionUpdate: "state_update", state: "idle" },
        { sessionUpdate: "state_update", state: "idle" },
      ])
    }),
  )

  live("end a failed turn with the stop reason error", () =>
    Effect.gen(function* () {
      const agent = yield* opened(2)
      yield* agent.prompt(script({ fail: { code: 500, message: "overloaded" } }))
      const idle = fields(fields((yield* agent.idle).params).update)
      expect(idle).toMatchObject({ stopReason: "error", error: { code: 500 } })
    }),
  )
})
