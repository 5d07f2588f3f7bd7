import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { both, error, finish, initialized, result } from "./support/Frames.ts"
import { chunk, limits, makeWire, opened, state, stuckAt, text, update } from "./support/Wire.ts"

describe.each(both)("a turn on version %d", (version) => {
  const start = (session: JsonObject = {}) =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      return { wire, ...(yield* opened(wire, initialized(version, session))) }
    })

  it.effect("S153 succeeds on end_turn and max_tokens", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      for (const stopReason of ["end_turn", "max_tokens"]) {
        const turn = yield* Effect.forkChild(session.prompt([text("hi")]))
        finish(wire, version, (yield* wire.take).id, stopReason, chunk("yes", "m"))
        expect(yield* Fiber.join(turn)).toMatchObject({ stopReason, text: "yes", truncated: false, rich: false, empty: false })
      }
    }),
  )

  it.effect("S153 fails on cancelled, refusal, max_turn_requests and unknown reasons, and holds what the turn brought", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      const reasons: ReadonlyArray<[string, string, string]> = [
        ["cancelled", "cancelled", "nested agent cancelled"],
        ["refusal", "refusal", "nested agent refused the prompt"],
        ["max_turn_requests", "max_turn_requests", "nested agent reached its turn-request limit"],
        ["error", "error", "nested agent turn failed"],
        ["_error", "error", "nested agent turn failed"],
        ["because", "unknown", 'nested agent returned an unknown stop reason: "because"'],
        ["", "unknown", 'nested agent returned an unknown stop reason: ""'],
      ]
      for (const [stopReason, reason, message] of reasons) {
        const turn = yield* Effect.forkChild(Effect.flip(session.prompt([text("hi")])))
        finish(wire, version, (yield* wire.take).id, stopReason, chunk("partial", "m"))
        const failed = yield* Fiber.join(turn)
        expect(failed).toMatchObject({ _tag: "TurnFailed", reason, result: { stopReason, text: "partial" } })
        expect(failed.message).toBe(message)
      }
    }),
  )

  it.effect("S153 passes on what the agent says of the error that ended its turn", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      const notice: JsonObject = { sessionUpdate: "notice", severity: "error", title: "no such model" }
      const told = yield* Effect.forkChild(Effect.flip(session.prompt([text("hi")])))
      finish(wire, version, (yield* wire.take).id, "_error", notice)
      expect((yield* Fiber.join(told)).message).toBe("nested agent turn failed: no such model")
      if (version === 1) return
      for (const [error, words] of [
        [{ code: 1, message: "no credit" }, "nested agent turn failed: no credit"],
        [{ code: -32000, message: "token x is wrong" }, "nested agent turn failed"],
      ] as const) {
        const turn = yield* Effect.forkChild(Effect.flip(session.prompt([text("hi")])))
        const { id } = yield* wire.take
        wire.send(result(id, {}), update("s", state("running")), update("s", state("idle", { stopReason: "error", error })))
        expect((yield* Fiber.join(turn)).message).toBe(words)
      }
    }),
  )

  it.effect("S153 says so where a stop reason is no string", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      const turn = yield* Effect.forkChild(Effect.flip(session.prompt([text("hi")])))
      const { id } = yield* wire.take
      if (version === 1) wire.send(result(id, { stopReason: 5 }))
      else wire.send(result(id, {}), update("s", state("running")), update("s", state("idle", { stopReason: 5 })))
      expect((yield* Fiber.join(turn)).message).toBe(
        version === 1
          ? "malformed answer to session/prompt: stopReason is no string: 5"
          : "nested agent returned a stop reason that is no string: 5",
      )
    }),
  )

  it.effect("S153 fails a turn as soon as its answer is larger than allowed, cancels it, and takes nothing any more", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { session } = yield* opened(wire, initialized(version), { limits: { ...limits, answerBytes: 8 } })
      const turn = yield* session.begin([text("hi")])
      const waiting = yield* Effect.forkChild(Effect.flip(session.prompt([text("next")])), { startImmediately: true })
      const { id } = yield* wire.take
      wire.send(update("s", chunk("1234")), update("s", chunk("5678")), update("s", chunk("9")))
      const failed = yield* Effect.flip(turn.result)
      expect(failed).toMatchObject({ _tag: "TurnFailed", reason: "too_large", result: { text: "12345678" } })
      expect(failed.message).toBe("the agent's answer is larger than 8 bytes")
      expect(yield* wire.take).toEqual({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: "s" } })
      expect(yield* Fiber.join(waiting)).toMatchObject({ _tag: "SessionRetired" })
      finish(wire, version, id, "end_turn", chunk("more"))
      expect(yield* Effect.flip(session.prompt([text("again")]))).toMatchObject({ _tag: "SessionRetired" })
      expect((yield* session.view).state).toBe("retired")
      expect(wire.written.filter(({ method }) => method === "session/prompt")).toHaveLength(1)
    }),
  )

  it.effect("S153 does not take a part of an answer that is too large for all of it where the turn was cancelled before", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { session } = yield* opened(wire, initialized(version), { limits: { ...limits, answerBytes: 8 } })
      const turn = yield* session.begin([text("hi")])
      const { id } = yield* wire.take
      const cancelling = yield* Effect.forkChild(turn.cancel, { startImmediately: true })
      yield* wire.take
      finish(wire, version, id, "end_turn", chunk("123456789"))
      expect(yield* Fiber.join(cancelling)).toBe("settled")
      expect(yield* Effect.flip(turn.result)).toMatchObject({ reason: "too_large" })
      expect((yield* session.view).state).toBe("idle")
    }),
  )

  it.effect("S05 sends the blocks as they are: order, metadata, unknown fields, exact integers", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start({ prompt: { image: {}, embeddedContext: {} } })
      const blocks: ReadonlyArray<JsonObject> = [
        {
          type: "text",
          text: "a",
          _meta: { __proto__x: 1, n: 12345678901234567890n },
          annotations: { audience: ["user"] },
          odd: null,
        },
        { type: "resource", resource: { uri: "u", text: "b", _meta: { deep: [[]] } } },
        { type: "image", data: "aGk=", mimeType: "image/png" },
      ]
      const turn = yield* Effect.forkChild(session.prompt(blocks))
      const request = yield* wire.take
      expect(request).toEqual({
        jsonrpc: "2.0",
        id: request.id,
        method: "session/prompt",
        params: { sessionId: "s", prompt: blocks },
      })
      finish(wire, version, request.id, "end_turn")
      yield* Fiber.join(turn)
    }),
  )

  it.effect("S03 S04 S05 sends nothing of a prompt that the agent cannot take", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      for (const block of [
        { type: "image", data: "", mimeType: "" },
        { type: "resource", resource: { uri: "u", text: "" } },
        { type: "audio" },
        "bare",
      ]) {
        expect(yield* Effect.flip(session.prompt([text("a"), block as Json]))).toMatchObject({ _tag: "ContentRefused", index: 1 })
      }
      expect(yield* Effect.flip(session.prompt([]))).toMatchObject({ _tag: "ContentRefused", reason: "empty" })
      expect(wire.written).toHaveLength(2)
      expect((yield* session.view).state).toBe("idle")
    }),
  )

  it.effect("tells an empty turn apart from one that said something", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      const turn = (...updates: ReadonlyArray<JsonObject>) =>
        Effect.gen(function* () {
          const prompting = yield* Effect.forkChild(session.prompt([text("hi")]))
          finish(wire, version, (yield* wire.take).id, "end_turn", ...updates)
          return (yield* Fiber.join(prompting)).empty
        })
      expect(yield* turn({ sessionUpdate: "usage_update", used: 1, size: 2 })).toBe(true)
      expect(yield* turn(chunk("x"))).toBe(false)
      expect(yield* turn({ sessionUpdate: "tool_call", toolCallId: "t", title: "T" })).toBe(false)
    }),
  )

  it.effect("counts nothing that comes between turns to a turn, but keeps title, usage and configuration of it", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      wire.send(update("s", chunk("stray")), update("s", { sessionUpdate: "tool_call", toolCallId: "x", title: "X" }))
      const first = yield* Effect.forkChild(session.prompt([text("hi")]))
      finish(wire, version, (yield* wire.take).id, "end_turn", chunk("one"))
      expect(yield* Fiber.join(first)).toMatchObject({ text: "one", items: [], tools: [] })
      wire.send(
        update("s", chunk("late")),
        update("s", { sessionUpdate: "usage_update", used: 3, size: 4, cost: { amount: 0.5, currency: "USD" } }),
        update("s", { sessionUpdate: "session_info_update", title: "T" }),
        update("s", { sessionUpdate: "config_option_update", configOptions: [{ id: "a" }] }),
      )
      const second = yield* Effect.forkChild(session.prompt([text("hi")]))
      finish(wire, version, (yield* wire.take).id, "end_turn", chunk("two"))
      expect(yield* Fiber.join(second)).toMatchObject({
        text: "two",
        items: [],
        configOptions: [{ id: "a" }],
        usage: { used: 3, size: 4, cost: { amount: 0.5, currency: "USD" } },
      })
      expect((yield* session.view).title).toBe("T")
    }),
  )

  it.effect("queues prompts of one session: the next goes out when the one before has settled", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      const turns = yield* Effect.forEach(["a", "b", "c"], (words) =>
        Effect.forkChild(session.prompt([text(words)]), { startImmediately: true }),
      )
      for (const words of ["a", "b", "c"]) {
        const request = yield* wire.take
        expect(request.params).toMatchObject({ prompt: [{ text: words }] })
        yield* TestClock.adjust("1 second")
        expect(wire.written.at(-1)).toBe(request)
        finish(wire, version, request.id, "end_turn", chunk(words))
      }
      for (const [at, turn] of turns.entries()) expect((yield* Fiber.join(turn)).text).toBe("abc"[at])
    }),
  )

  it.effect("leaves the line when it is interrupted before its turn, and nothing is sent", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      const first = yield* Effect.forkChild(session.prompt([text("first")]), { startImmediately: true })
      const second = yield* Effect.forkChild(session.prompt([text("second")]), { startImmediately: true })
      const third = yield* Effect.forkChild(session.prompt([text("third")]), { startImmediately: true })
      const request = yield* wire.take
      yield* Fiber.interrupt(second)
      finish(wire, version, request.id, "end_turn")
      yield* Fiber.join(first)
      const next = yield* wire.take
      expect(next.params).toMatchObject({ prompt: [{ text: "third" }] })
      finish(wire, version, next.id, "end_turn")
      yield* Fiber.join(third)
    }),
  )

  it.effect("cancels when interrupted, waits for the turn to settle, and goes on with the next prompt", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]), { startImmediately: true })
      const { id } = yield* wire.take
      if (version === 2) wire.send(result(id, { messageId: "u" }), update("s", state("running")))
      const interrupting = yield* Effect.forkChild(Fiber.interrupt(turn), { startImmediately: true })
      expect(yield* wire.take).toEqual({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: "s" } })
      yield* TestClock.adjust("4 seconds")
      expect(interrupting.pollUnsafe()).toBeUndefined()
      expect((yield* session.view).state).toBe("working")
      wire.send(version === 1 ? result(id, { stopReason: "cancelled" }) : update("s", state("idle", { stopReason: "cancelled" })))
      yield* Fiber.join(interrupting)
      expect((yield* session.view).state).toBe("idle")
      const next = yield* Effect.forkChild(session.prompt([text("again")]))
      finish(wire, version, (yield* wire.take).id, "end_turn", chunk("well"))
      expect((yield* Fiber.join(next)).text).toBe("well")
    }),
  )

  it.effect("retires the session where a cancelled turn does not settle in time, and takes nothing any more", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      const turn = yield* session.begin([text("hi")])
      const { id } = yield* wire.take
      wire.send(update("s", chunk("words")))
      const cancelling = yield* Effect.forkChild(turn.cancel, { startImmediately: true })
      const waiting = yield* Effect.forkChild(Effect.flip(session.prompt([text("next")])), { startImmediately: true })
      yield* wire.take
      yield* TestClock.adjust("5 seconds")
      expect(yield* Fiber.join(cancelling)).toBe("unsettled")
      expect(yield* Effect.flip(turn.result)).toMatchObject({ reason: "cancelled", result: { text: "words" } })
      expect(yield* Fiber.join(waiting)).toMatchObject({ _tag: "SessionRetired", sessionId: "s" })
      expect((yield* session.view).state).toBe("retired")
      finish(wire, version, id, "end_turn")
      expect(yield* Effect.flip(session.prompt([text("hi")]))).toMatchObject({ _tag: "SessionRetired" })
    }),
  )

  it.effect("settles a cancelled turn whatever it is answered with", () =>
    Effect.gen(function* () {
      const answers: ReadonlyArray<(id: Json | undefined) => JsonObject> = [
        (id) => error(id, -32800),
        (id) => error(id, -32603),
        (id) => result(id, { stopReason: "end_turn" }),
      ]
      for (const answer of answers) {
        const { session, wire } = yield* start()
        const turn = yield* session.begin([text("hi")])
        const { id } = yield* wire.take
        const cancelling = yield* Effect.forkChild(turn.cancel, { startImmediately: true })
        yield* wire.take
        wire.send(answer(id))
        expect(yield* Fiber.join(cancelling)).toBe("settled")
        expect(yield* turn.cancel).toBe("settled")
        expect((yield* session.view).state).toBe("idle")
      }
    }),
  )

  it.effect("takes a prompt back that is not written when it is cancelled", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { slow, stuck } = yield* stuckAt(wire, "slow")
      const { session } = yield* opened(slow, initialized(version))
      const setting = yield* Effect.forkChild(session.setOption("slow", "x"), { startImmediately: true })
      const turn = yield* session.begin([text("hi")])
      expect((yield* session.view).state).toBe("working")
      expect(yield* turn.cancel).toBe("unsent")
      expect((yield* session.view).state).toBe("idle")
      yield* Deferred.succeed(stuck, undefined)
      yield* wire.answer("session/set_config_option", {})
      yield* Fiber.join(setting)
      expect(wire.written.map(({ method }) => method)).toEqual(["initialize", "session/new", "session/set_config_option"])
    }),
  )

  it.effect("S22 S124 S125 S74 sets options by the version's words and keeps the snapshot that each answer brings", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      const key = version === 1 ? "id" : "configId"
      const snapshot = (value: Json): JsonObject => ({
        configOptions: [
          {
            [key]: "model",
            type: "select",
            currentValue: value,
            options: [{ value: "m1" }, { value: "m2" }],
            odd: 12345678901234567890n,
          },
        ],
      })
      const model = yield* Effect.forkChild(session.setOption("model", "m2"))
      expect((yield* wire.answer("session/set_config_option", snapshot("m2"))).params).toEqual({
        sessionId: "s",
        configId: "model",
        value: "m2",
        ...(version === 1 ? {} : { type: "id" }),
      })
      expect(yield* Fiber.join(model)).toMatchObject([{ id: "model", currentValue: "m2", values: ["m1", "m2"] }])
      expect(yield* session.configOptions).toEqual(snapshot("m2").configOptions)
      const flag = yield* Effect.forkChild(session.setOption("auto", false))
      expect((yield* wire.answer("session/set_config_option", {})).params).toEqual({
        sessionId: "s",
        configId: "auto",
        type: "boolean",
        value: false,
      })
      expect(yield* Fiber.join(flag)).toMatchObject([{ id: "model", currentValue: "m2" }])
      wire.send(update("s", { sessionUpdate: "config_option_update", configOptions: [] }))
      const rejected = yield* Effect.forkChild(Effect.flip(session.setOption("model", "m9")))
      yield* wire.answer("session/set_config_option", { error: { code: -32602, message: "no such model" } })
      expect(yield* Fiber.join(rejected)).toMatchObject({ _tag: "RpcError", code: -32602, message: "no such model" })
      expect(yield* session.configOptions).toEqual([])
    }),
  )

  it.effect("S123 reports authentication errors at every call by method ids alone", () =>
    Effect.gen(function* () {
      const { client, session, wire } = yield* start({ fork: {}, close: {} })
      const calls: ReadonlyArray<[string, Effect.Effect<unknown, unknown>]> = [
        ["session/prompt", session.prompt([text("hi")])],
        ["session/set_config_option", session.setOption("a", "b")],
        ["session/fork", session.fork({ cwd: "/p" })],
        ["session/new", client.newSession({ cwd: "/p" })],
        [version === 1 ? "session/load" : "session/resume", client.attach({ sessionId: "old", cwd: "/p" })],
        ["session/close", session.close],
      ]
      for (const [method, call] of calls) {
        const calling = yield* Effect.forkChild(Effect.flip(call))
        yield* wire.answer(method, { error: { code: -32000, message: "secret", data: { methodId: "sso", url: "secret" } } })
        expect(JSON.parse(JSON.stringify(yield* Fiber.join(calling)))).toEqual({
          _tag: "AuthRequired",
          method,
          methodIds: ["login", "sso"],
        })
      }
    }),
  )
})
