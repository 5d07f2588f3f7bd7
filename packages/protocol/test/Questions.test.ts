import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { both, finish, initialized, result } from "./support/Frames.ts"
import { makeWire, opened, state, stuckAt, text, update } from "./support/Wire.ts"

const permission = (id: Json, ...kinds: ReadonlyArray<string>): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method: "session/request_permission",
  params: {
    sessionId: "s",
    toolCall: { toolCallId: "t", title: "rm" },
    options: kinds.map((kind, at) => ({ optionId: `${kind}-${at}`, kind, name: kind })),
  },
})

describe.each(both)("questions of an agent on version %d", (version) => {
  const start = (session: JsonObject = {}) =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      return { wire, ...(yield* opened(wire, initialized(version, session))) }
    })

  it.effect("S140 permits always, else once, else cancels; never a rejection", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      const turn = yield* session.begin([text("hi")])
      const prompt = yield* wire.take
      const cases: ReadonlyArray<[ReadonlyArray<string>, Json]> = [
        [["reject_once", "allow_once", "allow_always"], { outcome: "selected", optionId: "allow_always-2" }],
        [["allow_once", "allow_once", "reject_always"], { outcome: "selected", optionId: "allow_once-0" }],
        [["reject_once", "reject_always"], { outcome: "cancelled" }],
        [["_maybe"], { outcome: "cancelled" }],
        [[], { outcome: "cancelled" }],
      ]
      for (const [kinds, outcome] of cases) {
        wire.send(permission(0, ...kinds))
        expect(yield* wire.take).toEqual({ jsonrpc: "2.0", id: 0, result: { outcome } })
      }
      wire.send(
        { jsonrpc: "2.0", id: 9, method: "session/request_permission" },
        {
          jsonrpc: "2.0",
          id: 10,
          method: "session/request_permission",
          params: { sessionId: "s", options: [null, 1, { kind: "allow_once" }, { kind: "allow_once", optionId: "/[m]$" }] },
        },
      )
      expect(yield* wire.take).toMatchObject({ id: 9, result: { outcome: { outcome: "cancelled" } } })
      expect(yield* wire.take).toMatchObject({ id: 10, result: { outcome: { outcome: "selected", optionId: "/[m]$" } } })
      finish(wire, version, prompt.id, "end_turn")
      expect((yield* turn.result).tools).toMatchObject([{ id: "t", title: "rm", open: true }])
    }),
  )

  it.effect("answers open permission requests with cancelled before it sends session/cancel, and those that come after too", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { slow, stuck } = yield* stuckAt(wire, "slow")
      const { session } = yield* opened(slow, initialized(version))
      const turn = yield* session.begin([text("hi")])
      const { id } = yield* wire.take
      if (version === 2) wire.send(update("s", state("running")))
      yield* Effect.forkChild(session.setOption("slow", "x"), { startImmediately: true })
      wire.send(permission("open", "allow_always"))
      yield* TestClock.adjust(1)
      const cancelling = yield* Effect.forkChild(turn.cancel, { startImmediately: true })
      yield* Deferred.succeed(stuck, undefined)
      expect((yield* wire.take).method).toBe("session/set_config_option")
      const cancelled = { outcome: { outcome: "cancelled" } }
      expect(yield* wire.take).toEqual({ jsonrpc: "2.0", id: "open", result: cancelled })
      expect((yield* wire.take).method).toBe("session/cancel")
      wire.send(permission("late", "allow_always"))
      expect(yield* wire.take).toEqual({ jsonrpc: "2.0", id: "late", result: cancelled })
      finish(wire, version, id, "cancelled")
      expect(yield* Fiber.join(cancelling)).toBe("settled")
      const next = yield* session.begin([text("again")])
      const second = yield* wire.take
      wire.send(permission("next", "allow_always"))
      expect(yield* wire.take).toMatchObject({ result: { outcome: { outcome: "selected" } } })
      finish(wire, version, second.id, "end_turn")
      yield* next.result
    }),
  )

  it.effect("permits nothing to a session below one that is being cancelled, nor to one that was closed", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start({ close: {} })
      const turn = yield* session.begin([text("hi")])
      const { id } = yield* wire.take
      const below = (sessionId: string): JsonObject => ({
        jsonrpc: "2.0",
        id: sessionId,
        method: "session/request_permission",
        params: { sessionId, options: [{ optionId: "a", kind: "allow_always" }] },
      })
      wire.send(below("s:subagent:1"))
      expect(yield* wire.take).toMatchObject({ result: { outcome: { outcome: "selected" } } })
      const cancelling = yield* Effect.forkChild(turn.cancel, { startImmediately: true })
      yield* wire.take
      wire.send(below("s:subagent:1"))
      expect(yield* wire.take).toMatchObject({ result: { outcome: { outcome: "cancelled" } } })
      wire.send(result(id, { stopReason: "cancelled" }))
      yield* Fiber.join(cancelling)
      const closing = yield* Effect.forkChild(session.close)
      yield* wire.answer("session/close", {})
      yield* Fiber.join(closing)
      wire.send(below("s"))
      expect(yield* wire.take).toMatchObject({ result: { outcome: { outcome: "cancelled" } } })
    }),
  )

  it.effect("S141 cancels elicitation of both modes", () =>
    Effect.gen(function* () {
      const { wire } = yield* start()
      const ask = (id: number, params: JsonObject): JsonObject => ({ jsonrpc: "2.0", id, method: "elicitation/create", params })
      wire.send(
        ask(0, { mode: "form", message: "name?", sessionId: "s", requestedSchema: {} }),
        ask(1, { mode: "url", url: "https://x", elicitationId: "e", message: "" }),
      )
      expect(yield* wire.take).toEqual({ jsonrpc: "2.0", id: 0, result: { action: "cancel" } })
      expect(yield* wire.take).toEqual({ jsonrpc: "2.0", id: 1, result: { action: "cancel" } })
      wire.send({ jsonrpc: "2.0", method: "elicitation/complete", params: { elicitationId: "e" } })
    }),
  )
})
