import type * as AgentClient from "@acp-kit/protocol/AgentClient"
import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import type { OpenOptions } from "@acp-kit/protocol/Session"
import type { WireFrame } from "@acp-kit/protocol/WireFrame"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { answerPrompt, both, info, initialized, methods, result } from "./support/Frames.ts"
import { chunk, connected, initializedV1, limits, makeWire, opened, state, text, update } from "./support/Wire.ts"

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

  it.effect("keeps the last value of usage: a cost that is left out stays, null clears it", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      const seen: Array<unknown> = []
      const usage = (change: JsonObject) =>
        Effect.gen(function* () {
          const turn = yield* Effect.forkChild(session.prompt([text("hi")]))
          const { id } = yield* wire.take
          wire.send(update("s", { sessionUpdate: "usage_update", ...change }))
          answerPrompt(wire, version, id, "s", "x")
          seen.push((yield* Fiber.join(turn)).usage)
        })
      const cost = { amount: 0.5, currency: "USD" }
      yield* usage({ used: 1, size: 10, cost })
      yield* usage({ used: 2, size: 10 })
      yield* usage({ used: "NaN", size: 10 })
      yield* usage({ used: 3, size: 10, cost: null })
      expect(seen).toEqual([
        { used: 1, size: 10, cost },
        { used: 2, size: 10, cost },
        { used: 2, size: 10, cost },
        { used: 3, size: 10, cost: undefined },
      ])
    }),
  )

  it.effect("shows the running tool, the plan entry and the title, and clears tool and plan at the end of the turn", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]))
      const { id } = yield* wire.take
      const entries = [
        { content: "first", status: "completed" },
        { content: "second", status: "in_progress" },
      ]
      wire.send(
        update("s", info("Title")),
        update(
          "s",
          version === 1
            ? { sessionUpdate: "plan", entries }
            : { sessionUpdate: "plan_update", plan: { type: "items", planId: "p", entries } },
        ),
        update("s", {
          sessionUpdate: version === 1 ? "tool_call" : "tool_call_update",
          toolCallId: "t",
          title: "Edit",
          status: "in_progress",
        }),
      )
      yield* TestClock.adjust(1)
      expect(yield* session.view).toMatchObject({ state: "working", tool: "Edit", plan: "second", title: "Title" })
      wire.send(update("s", { sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" }))
      yield* TestClock.adjust(1)
      expect((yield* session.view).tool).toBeUndefined()
      wire.send(update("s", { sessionUpdate: "plan_removed", planId: "p" }))
      yield* TestClock.adjust(1)
      expect((yield* session.view).plan).toBeUndefined()
      answerPrompt(wire, version, id, "s", "x")
      yield* Fiber.join(turn)
      expect(yield* session.view).toMatchObject({ state: "idle", tool: undefined, plan: undefined, title: "Title" })
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

  it.effect("passes on updates of sessions that the agent runs below ours, and folds nothing of them", () =>
    Effect.gen(function* () {
      const frames: Array<WireFrame> = []
      const { client, session, wire } = yield* start({}, { observe: (batch) => Effect.sync(() => void frames.push(...batch)) })
      const opening = yield* Effect.forkChild(client.newSession({ cwd: "/p" }))
      yield* wire.answer("session/new", { sessionId: "other" })
      yield* Fiber.join(opening)
      const events = yield* Effect.forkChild(Stream.runCollect(Stream.take(session.activity(), 5)), { startImmediately: true })
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]))
      const { id } = yield* wire.take
      wire.send(
        update("s", { sessionUpdate: "subagent_update", sessionId: "kid" }),
        update("kid", chunk("kid's words")),
        update("kid", { sessionUpdate: "subagent_update", sessionId: "grandkid" }),
        update("grandkid", info("nested")),
        update("s:subagent:1", { sessionUpdate: "tool_call", toolCallId: "t" }),
        update("nobody", chunk("whose?")),
      )
      answerPrompt(wire, version, id, "s", "mine")
      expect(yield* Fiber.join(turn)).toMatchObject({ text: "mine", tools: [], items: [] })
      expect((yield* session.view).title).toBeUndefined()
      expect((yield* Fiber.join(events)).map(({ from, seq }) => [seq, from])).toEqual([
        [1, undefined],
        [2, "kid"],
        [3, "kid"],
        [4, "grandkid"],
        [5, "s:subagent:1"],
      ])
      const filed = frames
        .filter(({ method, direction }) => direction === "in" && method === "session/update")
        .map(({ sessionId, parentSessionId }) => [sessionId, parentSessionId])
      expect(filed.slice(0, 6)).toEqual([
        ["s", undefined],
        ["kid", "s"],
        ["kid", "s"],
        ["grandkid", "s"],
        ["s:subagent:1", "s"],
        ["nobody", undefined],
      ])
    }),
  )

  it.effect("takes the only session for the parent of what nobody announced", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      const events = yield* Effect.forkChild(Stream.runCollect(Stream.take(session.activity(), 1)), { startImmediately: true })
      wire.send(update("a36f", chunk("words")))
      expect(yield* Fiber.join(events)).toMatchObject([{ from: "a36f" }])
    }),
  )

  it.effect("lets go of updates for a session that was closed", () =>
    Effect.gen(function* () {
      const { client, session, wire } = yield* start({ close: {} })
      const closing = yield* Effect.forkChild(session.close)
      yield* wire.answer("session/close", {})
      yield* Fiber.join(closing)
      const opening = yield* Effect.forkChild(client.newSession({ cwd: "/p" }))
      yield* wire.answer("session/new", { sessionId: "n" })
      const next = yield* Fiber.join(opening)
      const events = yield* Effect.forkChild(Stream.runCollect(Stream.take(next.activity(), 1)), { startImmediately: true })
      wire.send(update("s", info("dead")), update("n", info("alive")))
      expect(yield* Fiber.join(events)).toMatchObject([{ update: { title: "alive" } }])
    }),
  )

  it.effect("keeps a bounded number of updates for sessions that never open", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const client = yield* connected(wire, initialized(version), { limits: { ...limits, orphans: 3 } })
      for (let at = 0; at < 200; at++) wire.send(update(`stray-${at}`, info("x")))
      wire.send(...["1", "2", "3", "4", "5"].map((title) => update("s", { sessionUpdate: "user_message_chunk", title })))
      const opening = yield* Effect.forkChild(client.newSession({ cwd: "/p" }))
      yield* wire.answer("session/new", { sessionId: "s" })
      expect((yield* Fiber.join(opening)).replay).toEqual({ updates: 3, userMessages: 3, agentMessages: 0 })
    }),
  )

  it.effect("ends what follows a session with the session and with the connection", () =>
    Effect.gen(function* () {
      const { client, session, wire } = yield* start({ close: {} })
      const opening = yield* Effect.forkChild(client.newSession({ cwd: "/p" }))
      yield* wire.answer("session/new", { sessionId: "n" })
      const other = yield* Fiber.join(opening)
      const first = yield* Effect.forkChild(Stream.runCollect(session.activity()), { startImmediately: true })
      const second = yield* Effect.forkChild(Stream.runCollect(other.activity()), { startImmediately: true })
      wire.send(update("s", info("a")), update("n", info("b")))
      const closing = yield* Effect.forkChild(session.close)
      yield* wire.answer("session/close", {})
      yield* Fiber.join(closing)
      expect(yield* Fiber.join(first)).toHaveLength(1)
      wire.end()
      expect(yield* Fiber.join(second)).toHaveLength(1)
      expect(yield* Stream.runCollect(session.activity())).toEqual([])
    }),
  )

  it.effect("shows each update after it was folded; a reader that lags loses the oldest and sees the gap", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      const slow = yield* Effect.forkChild(
        session.activity(4).pipe(
          Stream.mapEffect((event) => Effect.as(event.seq === 1 ? Effect.sleep("1 second") : Effect.void, event.seq)),
          Stream.takeUntil((seq) => seq === 100),
          Stream.runCollect,
        ),
        { startImmediately: true },
      )
      const titles = yield* Effect.forkChild(
        session.activity(200).pipe(
          Stream.mapEffect((event) => Effect.map(session.view, ({ title }) => title === undefined || Number(title) >= event.seq)),
          Stream.take(100),
          Stream.runCollect,
        ),
        { startImmediately: true },
      )
      wire.send(update("s", info("1")))
      yield* TestClock.adjust(1)
      for (let at = 2; at <= 100; at++) wire.send(update("s", info(String(at))))
      expect(new Set(yield* Fiber.join(titles))).toEqual(new Set([true]))
      yield* TestClock.adjust("1 second")
      const seen = yield* Fiber.join(slow)
      expect(seen[0]).toBe(1)
      expect(seen.at(-1)).toBe(100)
      expect(seen.length).toBeLessThan(20)
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
