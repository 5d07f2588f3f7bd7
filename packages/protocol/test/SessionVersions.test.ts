import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { error, result } from "./support/Frames.ts"
import { chunk, initializedV1, initializedV2, makeWire, opened, state, text, update } from "./support/Wire.ts"

describe("a turn on version 1", () => {
  it.effect("is malformed without a stop reason", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { session } = yield* opened(wire, initializedV1())
      for (const answer of [null, {}, [], "end_turn", { stopReason: null }, { stopReason: 1 }] as ReadonlyArray<Json>) {
        const turn = yield* Effect.forkChild(Effect.flip(session.prompt([text("hi")])))
        yield* wire.answer("session/prompt", answer)
        expect(yield* Fiber.join(turn)).toMatchObject({ _tag: "MalformedResult", method: "session/prompt" })
      }
    }),
  )
})

describe("a turn on version 2", () => {
  const start = (session: JsonObject = {}) =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      return { wire, ...(yield* opened(wire, initializedV2(session))) }
    })

  it.effect("S111 takes a missing or null stop reason for normal completion", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      for (const more of [{}, { stopReason: null }]) {
        const turn = yield* Effect.forkChild(session.prompt([text("hi")]))
        const { id } = yield* wire.take
        wire.send(
          result(id, { messageId: "u" }),
          update("s", state("running")),
          update("s", chunk("ok", "m")),
          update("s", state("idle", more)),
        )
        expect(yield* Fiber.join(turn)).toMatchObject({ stopReason: undefined, text: "ok" })
      }
    }),
  )

  it.effect(
    "S111 settles on every revision: answered with nothing, idle without running, idle before the answer, idle twice",
    () =>
      Effect.gen(function* () {
        const { session, wire } = yield* start()
        const running = update("s", state("running"))
        const said = update("s", chunk("ok"))
        const idle = update("s", state("idle", { stopReason: "end_turn" }))
        const orders: ReadonlyArray<(answer: (value: Json) => JsonObject) => ReadonlyArray<JsonObject>> = [
          (answer) => [answer({}), running, said, idle],
          (answer) => [answer(null), running, said, idle],
          (answer) => [answer({ messageId: "u" }), said, idle],
          (answer) => [running, said, idle, answer({ messageId: "u" })],
          (answer) => [running, answer({}), said, idle, idle, idle],
          (answer) => [update("s", state("requires_action")), answer({}), said, running, idle],
          (answer) => [said, answer({ stopReason: "end_turn" })],
        ]
        for (const order of orders) {
          const turn = yield* Effect.forkChild(session.prompt([text("hi")]))
          const { id } = yield* wire.take
          wire.send(...order((value) => result(id, value)))
          expect(yield* Fiber.join(turn)).toMatchObject({ text: "ok", stopReason: "end_turn" })
        }
      }),
  )

  it.effect("S111 goes on past an idle that belongs to what came before", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      wire.send(update("s", state("running")))
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]), { startImmediately: true })
      const { id } = yield* wire.take
      wire.send(
        update("s", state("idle", { stopReason: "end_turn" })),
        update("s", state("_odd")),
        result(id, { messageId: "u" }),
      )
      yield* TestClock.adjust("1 minute")
      expect(turn.pollUnsafe()).toBeUndefined()
      wire.send(update("s", state("running")), update("s", chunk("mine")), update("s", state("idle", { stopReason: "end_turn" })))
      expect((yield* Fiber.join(turn)).text).toBe("mine")
    }),
  )

  it.effect("fails at an error answer, once the work that was seen has ended or five seconds are over", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      const turn = () => Effect.forkChild(Effect.flip(session.prompt([text("hi")])), { startImmediately: true })
      const quick = yield* turn()
      wire.send(error((yield* wire.take).id, -32603))
      expect(yield* Fiber.join(quick)).toMatchObject({ _tag: "RpcError", code: -32603 })
      const ended = yield* turn()
      wire.send(update("s", state("running")), error((yield* wire.take).id, -32603), update("s", state("idle")))
      expect(yield* Fiber.join(ended)).toMatchObject({ _tag: "RpcError" })
      const hanging = yield* turn()
      wire.send(update("s", state("running")), error((yield* wire.take).id, -32603))
      yield* TestClock.adjust("4 seconds")
      expect(hanging.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("2 seconds")
      expect(yield* Fiber.join(hanging)).toMatchObject({ _tag: "RpcError" })
    }),
  )

  it.effect("is cancelled where a cancelled prompt is answered with an error, whatever idle or silence follows", () =>
    Effect.gen(function* () {
      for (const idle of [state("idle", { stopReason: "end_turn" }), undefined]) {
        const { session, wire } = yield* start()
        const turn = yield* session.begin([text("hi")])
        const { id } = yield* wire.take
        wire.send(update("s", state("running")))
        yield* TestClock.adjust(1)
        const cancelling = yield* Effect.forkChild(turn.cancel, { startImmediately: true })
        yield* wire.take
        wire.send(error(id, -32800), ...(idle === undefined ? [] : [update("s", idle)]))
        yield* TestClock.adjust("6 seconds")
        yield* Fiber.join(cancelling)
        expect(yield* Effect.flip(turn.result)).toMatchObject({ _tag: "TurnFailed", reason: "cancelled" })
      }
    }),
  )

  it.effect("fails a turn that was answered and works when the agent ends", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      const turn = yield* Effect.forkChild(Effect.flip(session.prompt([text("hi")])), { startImmediately: true })
      const next = yield* Effect.forkChild(Effect.flip(session.prompt([text("next")])), { startImmediately: true })
      wire.send(result((yield* wire.take).id, { messageId: "u" }), update("s", state("running")))
      wire.end({ exitCode: 5 })
      expect(yield* Fiber.join(turn)).toMatchObject({ _tag: "TransportClosed", exitCode: 5 })
      expect(yield* Fiber.join(next)).toMatchObject({ _tag: "TransportClosed", exitCode: 5 })
    }),
  )

  it.effect("S30 S33 steers the working turn and gives the receipt; the turn goes on", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start({ inject: { modes: ["steer"] } })
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]))
      const { id } = yield* wire.take
      wire.send(result(id, { messageId: "u" }), update("s", state("running")))
      const steering = yield* Effect.forkChild(session.steer([text("left")]))
      const request = yield* wire.answer("session/inject", { messageId: "inj", odd: 1 })
      expect(request.params).toEqual({ sessionId: "s", mode: "steer", content: [{ type: "text", text: "left" }] })
      expect(yield* Fiber.join(steering)).toEqual({ messageId: "inj", odd: 1 })
      wire.send(update("s", chunk("left it is")), update("s", state("idle", { stopReason: "end_turn" })))
      expect((yield* Fiber.join(turn)).text).toBe("left it is")
      expect(wire.written.map(({ method }) => method)).not.toContain("session/cancel")
    }),
  )

  it.effect("S31 S32 refuses to steer without the capability, an idle session and a retired one; nothing is sent", () =>
    Effect.gen(function* () {
      const plain = yield* start()
      yield* plain.session.begin([text("hi")])
      yield* plain.wire.take
      expect(yield* Effect.flip(plain.session.steer([text("x")]))).toMatchObject({
        _tag: "CapabilityMissing",
        capability: "steer",
      })
      const { session, wire } = yield* start({ inject: { modes: ["steer"] } })
      expect(yield* Effect.flip(session.steer([text("x")]))).toMatchObject({ _tag: "NotWorking" })
      expect(yield* Effect.flip(session.steer([]))).toMatchObject({ _tag: "ContentRefused" })
      const closing = yield* Effect.forkChild(session.close)
      yield* wire.answer("session/close", {})
      yield* Fiber.join(closing)
      expect(yield* Effect.flip(session.steer([text("x")]))).toMatchObject({ _tag: "SessionRetired" })
      expect([...wire.written, ...plain.wire.written].map(({ method }) => method)).not.toContain("session/inject")
    }),
  )

  it.effect("S33 leaves an injection standing whose acknowledgement is late or whose caller is gone", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start({ inject: { modes: ["steer"] } })
      yield* session.begin([text("hi")])
      yield* wire.take
      const late = yield* Effect.forkChild(Effect.flip(session.steer([text("x")])), { startImmediately: true })
      const first = yield* wire.take
      yield* TestClock.adjust("5 seconds")
      expect(yield* Fiber.join(late)).toMatchObject({
        _tag: "DeadlineExceeded",
        method: "session/inject",
        ms: 5_000,
        delivery: "unknown",
      })
      const dropped = yield* Effect.forkChild(session.steer([text("y")]), { startImmediately: true })
      yield* wire.take
      yield* Fiber.interrupt(dropped)
      wire.send(result(first.id, { messageId: "a" }))
      yield* TestClock.adjust("1 second")
      expect(wire.written.map(({ method }) => method)).toEqual([
        "initialize",
        "session/new",
        "session/prompt",
        "session/inject",
        "session/inject",
      ])
    }),
  )
})
