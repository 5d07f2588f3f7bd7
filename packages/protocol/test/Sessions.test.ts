import type * as AgentClient from "@acp-kit/protocol/AgentClient"
import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import type { OpenOptions } from "@acp-kit/protocol/Session"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { answerPrompt, both, info, initialized, methods, result } from "./support/Frames.ts"
import { chunk, connected, initializedV1, makeWire, opened, state, text, update } from "./support/Wire.ts"

describe.each(both)("sessions on version %d", (version) => {
  const start = (session: JsonObject = {}, changes: Partial<AgentClient.Options> = {}, answer: JsonObject = {}) =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      return { wire, ...(yield* opened(wire, initialized(version, session), changes, answer)) }
    })

  it.effect("opens with cwd and MCP servers, and additional directories where there are some", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const client = yield* connected(wire, initialized(version, { additionalDirectories: {} }))
      const open = (options: OpenOptions, id: string) =>
        Effect.gen(function* () {
          const opening = yield* Effect.forkChild(client.newSession(options))
          const request = yield* wire.answer("session/new", { sessionId: id, odd: 1 })
          expect((yield* Fiber.join(opening)).opened).toEqual({ sessionId: id, odd: 1 })
          return request.params
        })
      expect(yield* open({ cwd: "/p" }, "a")).toEqual({ cwd: "/p", mcpServers: [] })
      expect(yield* open({ cwd: "/p", additionalDirectories: [] }, "b")).toEqual({ cwd: "/p", mcpServers: [] })
      const server = { name: "fs", command: "/bin/x", args: [], env: [{ name: "TOKEN", value: "t" }] }
      expect(yield* open({ cwd: "/p", additionalDirectories: ["/q"], mcpServers: [server], meta: { a: 1 } }, "c")).toEqual({
        cwd: "/p",
        mcpServers: [server],
        additionalDirectories: ["/q"],
        _meta: { a: 1 },
      })
    }),
  )

  it.effect("refuses additional directories that the agent would drop, on every way in, before anything is sent", () =>
    Effect.gen(function* () {
      const { client, session, wire } = yield* start({ fork: {} })
      const options = { cwd: "/p", additionalDirectories: ["/q"] }
      const refused = { _tag: "CapabilityMissing", capability: "additionalDirectories" }
      expect(yield* Effect.flip(client.newSession(options))).toMatchObject(refused)
      expect(yield* Effect.flip(session.fork(options))).toMatchObject(refused)
      expect(yield* Effect.flip(client.attach({ ...options, sessionId: "x" }))).toMatchObject(refused)
      expect(methods(wire)).toEqual(["initialize", "session/new"])
    }),
  )

  it.effect("is malformed where a session has no id, or one that is open", () =>
    Effect.gen(function* () {
      const { client, wire } = yield* start()
      for (const answer of [null, {}, { sessionId: "" }, { sessionId: 1 }, { sessionId: "s" }] as ReadonlyArray<Json>) {
        const opening = yield* Effect.forkChild(Effect.flip(client.newSession({ cwd: "/p" })))
        yield* wire.answer("session/new", answer)
        expect(yield* Fiber.join(opening)).toMatchObject({ _tag: "MalformedResult", method: "session/new" })
      }
    }),
  )

  it.effect("keeps what comes for a session before the answer that names it", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const client = yield* connected(wire, initialized(version))
      wire.send({ jsonrpc: "2.0", method: "_auth/status_update", params: {} }, update("s", info("early")))
      const opening = yield* Effect.forkChild(client.newSession({ cwd: "/p" }))
      const { id } = yield* wire.take
      wire.send(
        update("s", { sessionUpdate: "config_option_update", configOptions: [{ id: "early" }] }),
        update("s", { sessionUpdate: "usage_update", used: 1, size: 2 }),
        result(id, { sessionId: "s" }),
        update("s", { sessionUpdate: "available_commands_update", availableCommands: [] }),
      )
      const session = yield* Fiber.join(opening)
      expect(yield* session.view).toMatchObject({ title: "early", usage: { used: 1, size: 2 } })
      expect(yield* session.configOptions).toEqual([{ id: "early" }])
    }),
  )

  it.effect("keeps two sessions of one process apart however their updates interleave", () =>
    Effect.gen(function* () {
      const { client, session: a, wire } = yield* start()
      const opening = yield* Effect.forkChild(client.newSession({ cwd: "/p" }))
      yield* wire.answer("session/new", { sessionId: "b" })
      const b = yield* Fiber.join(opening)
      const first = yield* Effect.forkChild(a.prompt([text("a")]))
      const { id: idA } = yield* wire.take
      const second = yield* Effect.forkChild(b.prompt([text("b")]))
      const { id: idB } = yield* wire.take
      for (let at = 0; at < 50; at++) wire.send(update("s", chunk(`a${at}`)), update("b", chunk(`b${at}`)))
      answerPrompt(wire, version, idB, "b", "!")
      answerPrompt(wire, version, idA, "s", "?")
      const words = (name: string) => Array.from({ length: 50 }, (_, at) => `${name}${at}`).join("")
      expect((yield* Fiber.join(first)).text).toBe(`${words("a")}?`)
      expect((yield* Fiber.join(second)).text).toBe(`${words("b")}!`)
    }),
  )

  it.effect("closes and deletes by their methods, and takes nothing after it", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start({ close: {}, delete: {} })
      const closing = yield* Effect.forkChild(session.close)
      expect((yield* wire.answer("session/close", {})).params).toEqual({ sessionId: "s" })
      yield* Fiber.join(closing)
      const deleting = yield* Effect.forkChild(session.delete)
      expect((yield* wire.answer("session/delete", null)).params).toEqual({ sessionId: "s" })
      yield* Fiber.join(deleting)
      expect(yield* Effect.flip(session.prompt([text("hi")]))).toMatchObject({ _tag: "SessionRetired" })
      expect(yield* Effect.flip(session.setOption("a", "b"))).toMatchObject({ _tag: "SessionRetired" })
      expect((yield* session.view).state).toBe("retired")
    }),
  )

  it.effect("reports what the agent says to close and delete", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start({ close: {}, delete: {} })
      for (const [method, call] of [
        ["session/close", session.close],
        ["session/delete", session.delete],
      ] as const) {
        const calling = yield* Effect.forkChild(Effect.flip(call))
        yield* wire.answer(method, { error: { code: -32002, message: "not found" } })
        expect(yield* Fiber.join(calling)).toMatchObject({ _tag: "RpcError", code: -32002, method })
      }
    }),
  )

  it.effect("S152 revokes a close that is not answered within its deadline and lets its late answer go", () =>
    Effect.gen(function* () {
      const noises: Array<unknown> = []
      const { client, session, wire } = yield* start(
        { close: {} },
        { onNoise: (noise) => Effect.sync(() => void noises.push(noise)) },
      )
      const closing = yield* Effect.forkChild(Effect.flip(session.close), { startImmediately: true })
      const { id } = yield* wire.take
      yield* TestClock.adjust("5 seconds")
      expect(yield* Fiber.join(closing)).toMatchObject({ _tag: "DeadlineExceeded", method: "session/close", ms: 5_000 })
      expect(yield* wire.take).toMatchObject({ method: "$/cancel_request", params: { requestId: id } })
      wire.send(result(id, {}))
      const listing = yield* Effect.forkChild(Effect.exit(client.newSession({ cwd: "/p" })))
      yield* wire.answer("session/new", { sessionId: "n" })
      yield* Fiber.join(listing)
      expect(noises).toEqual([])
    }),
  )

  it.effect("ends the turn of a session that is closed while it works", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start({ close: {} })
      const turn = yield* Effect.forkChild(Effect.flip(session.prompt([text("hi")])), { startImmediately: true })
      yield* wire.take
      wire.send(update("s", chunk("half")))
      const closing = yield* Effect.forkChild(session.close)
      yield* wire.answer("session/close", {})
      yield* Fiber.join(closing)
      expect(yield* Fiber.join(turn)).toMatchObject({ _tag: "TurnFailed", reason: "cancelled", result: { text: "half" } })
    }),
  )

  it.effect("S104 attaches by load or resume from the start; the replay is no turn's output", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const client = yield* connected(wire, initialized(version, { additionalDirectories: {} }))
      const attaching = yield* Effect.forkChild(client.attach({ sessionId: "old", cwd: "/p", additionalDirectories: ["/q"] }))
      const request = yield* wire.take
      expect(request.method).toBe(version === 1 ? "session/load" : "session/resume")
      expect(request.params).toEqual({
        sessionId: "old",
        cwd: "/p",
        mcpServers: [],
        additionalDirectories: ["/q"],
        ...(version === 1 ? {} : { replayFrom: { type: "start" } }),
      })
      wire.send(
        update("old", { sessionUpdate: "user_message_chunk", content: { type: "text", text: "hi" } }),
        update("old", chunk("replayed")),
        update("old", { sessionUpdate: "tool_call", toolCallId: "t", status: "completed" }),
        update("old", info("Old")),
        update("old", state("running")),
        update("old", state("idle", { stopReason: "end_turn" })),
        result(request.id, version === 1 ? null : {}),
        update("old", { sessionUpdate: "usage_update", used: 1, size: 2 }),
      )
      const session = yield* Fiber.join(attaching)
      expect(session.replay).toEqual({ updates: 6, userMessages: 1, agentMessages: 1 })
      expect((yield* session.view).title).toBe("Old")
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]))
      answerPrompt(wire, version, (yield* wire.take).id, "old", "new")
      expect(yield* Fiber.join(turn)).toMatchObject({ text: "new", items: [], tools: [], usage: { used: 1, size: 2 } })
    }),
  )

  it.effect("S104 reports an attach that fails, whatever the code, and can try again", () =>
    Effect.gen(function* () {
      const { client, wire } = yield* start()
      for (const code of [-32002, -32602, -32603]) {
        const attaching = yield* Effect.forkChild(Effect.flip(client.attach({ sessionId: "old", cwd: "/p" })))
        const request = yield* wire.take
        wire.send(update("old", chunk("x")), {
          jsonrpc: "2.0",
          id: request.id as Json,
          error: { code, message: "unknown session" },
        })
        expect(yield* Fiber.join(attaching)).toMatchObject({ _tag: "RpcError", code })
      }
      const attaching = yield* Effect.forkChild(client.attach({ sessionId: "old", cwd: "/p" }))
      yield* wire.answer(version === 1 ? "session/load" : "session/resume", {})
      expect((yield* Fiber.join(attaching)).replay.updates).toBe(0)
      expect(yield* Effect.flip(client.attach({ sessionId: "old", cwd: "/p" }))).toMatchObject({ _tag: "MalformedResult" })
    }),
  )
})

describe("sessions on version 1", () => {
  it.effect("refuses close, delete, load and list where they are not advertised; nothing is sent", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { client, session } = yield* opened(wire, initializedV1())
      for (const [capability, call] of [
        ["close", session.close],
        ["delete", session.delete],
        ["load", client.attach({ sessionId: "x", cwd: "/p" })],
        ["list", client.listSessions({})],
      ] as const) {
        expect(yield* Effect.flip(call as Effect.Effect<unknown, unknown>)).toMatchObject({
          _tag: "CapabilityMissing",
          capability,
        })
      }
      expect(methods(wire)).toEqual(["initialize", "session/new"])
      expect((yield* session.view).state).toBe("idle")
    }),
  )

  it.effect("lists a page as it came", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const client = yield* connected(wire, initializedV1({ sessionCapabilities: { list: {} } }))
      const listing = yield* Effect.forkChild(client.listSessions({ cwd: "/p", cursor: "c" }))
      const page = { sessions: [{ sessionId: "s", cwd: "/p", odd: 1 }], nextCursor: "d" }
      expect((yield* wire.answer("session/list", page)).params).toEqual({ cwd: "/p", cursor: "c" })
      expect(yield* Fiber.join(listing)).toEqual(page)
    }),
  )
})
