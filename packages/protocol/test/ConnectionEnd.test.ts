import * as AgentClient from "@acp-kit/protocol/AgentClient"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import {
  chunk,
  connected,
  initializedV1,
  initializedV2,
  limits,
  makeWire,
  opened,
  options,
  text,
  update,
} from "./support/Wire.ts"

describe("the end of a connection", () => {
  it.effect("fails everything pending and everything after when the agent ends, with all that is known", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { client, session } = yield* opened(wire, initializedV1())
      const turn = yield* Effect.forkChild(Effect.flip(session.prompt([text("hi")])))
      yield* wire.take
      const setting = yield* Effect.forkChild(Effect.flip(session.setOption("a", "b")))
      yield* wire.take
      wire.end({ exitCode: 3, stderrTail: "panic" })
      const gone = { _tag: "TransportClosed", reason: "eof", exitCode: 3, stderrTail: "panic" }
      expect(yield* Fiber.join(turn)).toMatchObject(gone)
      expect(yield* Fiber.join(setting)).toMatchObject(gone)
      expect(yield* Effect.flip(session.prompt([text("hi")]))).toMatchObject(gone)
      expect(yield* client.closed).toMatchObject(gone)
    }),
  )

  it.effect("reads all that an agent wrote before it ended: an answer in half a line without its line feed counts", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { session } = yield* opened(wire, initializedV1())
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]))
      const { id } = yield* wire.take
      wire.send(update("s", chunk("all")))
      wire.bytes(new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", id, result: { stopReason: "end_turn" } })))
      wire.end({ exitCode: 0 })
      expect((yield* Fiber.join(turn)).text).toBe("all")
    }),
  )

  it.effect("S123 sees an authentication error of an agent that leaves at once", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const client = yield* connected(wire, initializedV2())
      const opening = yield* Effect.forkChild(Effect.flip(client.newSession({ cwd: "/p" })))
      yield* wire.answer("session/new", {
        error: { code: -32000, message: "token=secret", data: { methodId: "sso", url: "secret" } },
      })
      wire.end({ exitCode: 1 })
      const error = yield* Fiber.join(opening)
      expect(error).toMatchObject({ _tag: "AuthRequired", method: "session/new", methodIds: ["login", "sso"] })
      expect(error.message).toBe('child authentication required (auth_required; methodId: "login", "sso")')
    }),
  )

  it.effect("ends at a line that is too long, after folding what came before it", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { client, session } = yield* opened(wire, initializedV1(), { limits: { ...limits, lineBytes: 4_096 } })
      const turn = yield* Effect.forkChild(session.begin([text("hi")]))
      yield* wire.take
      const { result } = yield* Fiber.join(turn)
      wire.send(update("s", { sessionUpdate: "session_info_update", title: "T" }), update("s", chunk("x".repeat(5_000))))
      expect(yield* Effect.flip(result)).toMatchObject({
        _tag: "TransportClosed",
        reason: "oversize",
        fault: "a message of the agent is larger than 4096 bytes",
      })
      expect((yield* client.closed).reason).toBe("oversize")
      expect((yield* session.view).title).toBe("T")
    }),
  )

  it.effect("ends where the process has ended but something holds its pipe open, once nothing comes any more", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { session } = yield* opened(wire, initializedV1())
      const turn = yield* Effect.forkChild(Effect.flip(session.prompt([text("hi")])), { startImmediately: true })
      yield* wire.take
      wire.exit({ exitCode: 9 })
      for (const title of ["one", "two", "three"]) {
        yield* TestClock.adjust("200 millis")
        wire.send(update("s", { sessionUpdate: "session_info_update", title }))
      }
      yield* TestClock.adjust("200 millis")
      expect(turn.pollUnsafe()).toBeUndefined()
      expect((yield* session.view).title).toBe("three")
      yield* TestClock.adjust("500 millis")
      expect(yield* Fiber.join(turn)).toMatchObject({ _tag: "TransportClosed", exitCode: 9 })
    }),
  )

  it.effect("ends where the agent closes its output and lives on, its exit unknown", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { session } = yield* opened(wire, initializedV1())
      const turn = yield* Effect.forkChild(Effect.flip(session.prompt([text("hi")])), { startImmediately: true })
      yield* wire.take
      wire.closeOutput()
      yield* TestClock.adjust("250 millis")
      expect(yield* Fiber.join(turn)).toMatchObject({
        _tag: "TransportClosed",
        reason: "eof",
        exitCode: undefined,
        signal: undefined,
      })
    }),
  )

  it.effect("fails what is pending as closed when its scope closes", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const scope = yield* Scope.make()
      const connecting = yield* Effect.forkChild(
        Effect.flip(Scope.provide(AgentClient.connect(wire.transport, options()), scope)),
      )
      yield* wire.take
      yield* Scope.close(scope, Exit.void)
      expect(yield* Fiber.join(connecting)).toMatchObject({ _tag: "TransportClosed", reason: "closed" })
    }),
  )
})
