import type * as AgentClient from "@acp-kit/protocol/AgentClient"
import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { answerPrompt, both, info, initialized, methods, result } from "./support/Frames.ts"
import { chunk, makeWire, opened, text, update } from "./support/Wire.ts"

describe.each(both)("forks on version %d", (version) => {
  const start = (session: JsonObject = {}, changes: Partial<AgentClient.Options> = {}, answer: JsonObject = {}) =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      return { wire, ...(yield* opened(wire, initialized(version, session), changes, answer)) }
    })

  it.effect("forks: the branch is a session of its own, inherits the configuration, and the source goes on", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start({ fork: {}, additionalDirectories: {} }, {}, { configOptions: [{ id: "m" }] })
      const forking = yield* Effect.forkChild(
        session.fork({ cwd: "/p", additionalDirectories: ["/q"], meta: { "kit.subagent.parent_id": "s-1" } }),
      )
      const request = yield* wire.take
      expect(request.params).toEqual({
        sessionId: "s",
        cwd: "/p",
        mcpServers: [],
        additionalDirectories: ["/q"],
        _meta: { "kit.subagent.parent_id": "s-1" },
      })
      wire.send(
        update("b", chunk("replayed")),
        update("b", { sessionUpdate: "user_message_chunk", content: {} }),
        result(request.id, { sessionId: "b" }),
        update("b", info("Branch")),
      )
      const branch = yield* Fiber.join(forking)
      expect(branch).toMatchObject({ id: "b", replay: { updates: 2, userMessages: 1, agentMessages: 1 } })
      expect(yield* branch.configOptions).toEqual([{ id: "m" }])
      const turn = yield* Effect.forkChild(branch.prompt([text("hi")]))
      answerPrompt(wire, version, (yield* wire.take).id, "b", "branch")
      expect((yield* Fiber.join(turn)).text).toBe("branch")
      const own = yield* Effect.forkChild(session.prompt([text("hi")]))
      answerPrompt(wire, version, (yield* wire.take).id, "s", "source")
      expect((yield* Fiber.join(own)).text).toBe("source")
    }),
  )

  it.effect("takes a fork's configuration from its answer, else from what came for it, else from the source", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start({ fork: {} }, {}, { configOptions: [{ id: "source" }] })
      const fork = (id: string, answer: JsonObject, ...before: ReadonlyArray<JsonObject>) =>
        Effect.gen(function* () {
          const forking = yield* Effect.forkChild(session.fork({ cwd: "/p" }))
          const request = yield* wire.take
          wire.send(...before, result(request.id, { sessionId: id, ...answer }))
          return yield* (yield* Fiber.join(forking)).configOptions
        })
      const noticed = (id: string) => update(id, { sessionUpdate: "config_option_update", configOptions: [{ id: "noticed" }] })
      expect(yield* fork("a", {})).toEqual([{ id: "source" }])
      expect(yield* fork("b", {}, noticed("b"))).toEqual([{ id: "noticed" }])
      expect(yield* fork("c", { configOptions: [{ id: "answer" }] }, noticed("c"))).toEqual([{ id: "answer" }])
    }),
  )

  it.effect("refuses to fork without the capability", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start()
      expect(yield* Effect.flip(session.fork({ cwd: "/p" }))).toMatchObject({ _tag: "CapabilityMissing", capability: "fork" })
      expect(methods(wire)).toEqual(["initialize", "session/new"])
    }),
  )

  it.effect("serializes prompts and forks of one session", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start({ fork: {} })
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]), { startImmediately: true })
      const forking = yield* Effect.forkChild(session.fork({ cwd: "/p" }), { startImmediately: true })
      const next = yield* Effect.forkChild(session.prompt([text("next")]), { startImmediately: true })
      answerPrompt(wire, version, (yield* wire.take).id, "s", "x")
      yield* Fiber.join(turn)
      yield* wire.answer("session/fork", { sessionId: "b" })
      yield* Fiber.join(forking)
      answerPrompt(wire, version, (yield* wire.take).id, "s", "y")
      yield* Fiber.join(next)
      expect(methods(wire).slice(2)).toEqual(["session/prompt", "session/fork", "session/prompt"])
    }),
  )

  for (const how of ["late", "interrupted"] as const) {
    it.effect(`S152 a fork that is ${how} is revoked at once; its session is closed before the source goes on`, () =>
      Effect.gen(function* () {
        const { session, wire } = yield* start({ fork: {}, close: {} })
        const forking = yield* Effect.forkChild(Effect.exit(session.fork({ cwd: "/p" })), { startImmediately: true })
        const { id } = yield* wire.take
        const waiting = yield* Effect.forkChild(session.prompt([text("hi")]), { startImmediately: true })
        if (how === "late") {
          yield* TestClock.adjust("30 seconds")
          const exit = yield* Fiber.join(forking)
          expect(JSON.stringify(exit)).toContain("DeadlineExceeded")
        } else yield* Fiber.interrupt(forking)
        expect(yield* wire.take).toEqual({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: id } })
        yield* TestClock.adjust("1 hour")
        expect(wire.written.at(-1)?.method).toBe("$/cancel_request")
        wire.send(update("b", chunk("x")), result(id, { sessionId: "b" }))
        const close = yield* wire.take
        expect(close).toMatchObject({ method: "session/close", params: { sessionId: "b" } })
        yield* TestClock.adjust("1 second")
        expect(wire.written.at(-1)).toBe(close)
        wire.send(result(close.id, {}))
        answerPrompt(wire, version, (yield* wire.take).id, "s", "on")
        expect((yield* Fiber.join(waiting)).text).toBe("on")
      }),
    )
  }

  it.effect("S152 lets the source go on where the late fork failed, or its close is not answered", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start({ fork: {}, close: {} })
      for (const late of ["error", "silent"] as const) {
        const forking = yield* Effect.forkChild(session.fork({ cwd: "/p" }), { startImmediately: true })
        const { id } = yield* wire.take
        yield* Fiber.interrupt(forking)
        yield* wire.take
        const waiting = yield* Effect.forkChild(session.prompt([text("hi")]), { startImmediately: true })
        if (late === "error") wire.send({ jsonrpc: "2.0", id: id as Json, error: { code: -32800, message: "" } })
        else {
          wire.send(result(id, { sessionId: "b" }))
          expect((yield* wire.take).method).toBe("session/close")
          yield* TestClock.adjust("5 seconds")
          expect((yield* wire.take).method).toBe("$/cancel_request")
        }
        answerPrompt(wire, version, (yield* wire.take).id, "s", "on")
        yield* Fiber.join(waiting)
      }
    }),
  )

  it.effect(
    "S152 a fork that is never answered holds the source: a waiting prompt can still leave, and close ends the wait",
    () =>
      Effect.gen(function* () {
        const { session, wire } = yield* start({ fork: {}, close: {} })
        const forking = yield* Effect.forkChild(session.fork({ cwd: "/p" }), { startImmediately: true })
        const { id } = yield* wire.take
        yield* Fiber.interrupt(forking)
        yield* wire.take
        const prompt = () => Effect.forkChild(Effect.flip(session.prompt([text("hi")])), { startImmediately: true })
        const [leaving, waiting, another] = [
          yield* prompt(),
          yield* prompt(),
          yield* Effect.forkChild(Effect.flip(session.fork({ cwd: "/p" })), { startImmediately: true }),
        ]
        yield* TestClock.adjust("1 hour")
        yield* Fiber.interrupt(leaving)
        const closing = yield* Effect.forkChild(session.close, { startImmediately: true })
        expect(yield* Fiber.join(waiting)).toMatchObject({ _tag: "SessionRetired" })
        expect(yield* Fiber.join(another)).toMatchObject({ _tag: "SessionRetired" })
        yield* wire.answer("session/close", {})
        yield* Fiber.join(closing)
        expect(yield* Effect.flip(session.prompt([text("hi")]))).toMatchObject({ _tag: "SessionRetired" })
        wire.send(result(id, { sessionId: "b" }))
        expect(yield* wire.answer("session/close", {})).toMatchObject({ params: { sessionId: "b" } })
        expect(methods(wire)).not.toContain("session/prompt")
      }),
  )

  it.effect("S152 takes a fork back that is waiting in line", () =>
    Effect.gen(function* () {
      const { session, wire } = yield* start({ fork: {} })
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]), { startImmediately: true })
      const forking = yield* Effect.forkChild(session.fork({ cwd: "/p" }), { startImmediately: true })
      const { id } = yield* wire.take
      yield* Fiber.interrupt(forking)
      answerPrompt(wire, version, id, "s", "x")
      yield* Fiber.join(turn)
      expect(methods(wire)).toEqual(["initialize", "session/new", "session/prompt"])
    }),
  )
})
