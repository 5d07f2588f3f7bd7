import type * as AgentClient from "@acp-kit/protocol/AgentClient"
import type { JsonObject } from "@acp-kit/protocol/Json"
import type { WireFrame } from "@acp-kit/protocol/WireFrame"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { answerPrompt, both, info, initialized } from "./support/Frames.ts"
import { chunk, connected, limits, makeWire, opened, text, update } from "./support/Wire.ts"

describe.each(both)("what is seen of sessions on version %d", (version) => {
  const start = (session: JsonObject = {}, changes: Partial<AgentClient.Options> = {}, answer: JsonObject = {}) =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      return { wire, ...(yield* opened(wire, initialized(version, session), changes, answer)) }
    })

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
