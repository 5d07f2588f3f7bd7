import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { chunk, initializedV1, initializedV2, makeWire, opened, state, text, update } from "./support/Wire.ts"

it.effect("v1 turn", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { session } = yield* opened(wire, initializedV1())
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]), { startImmediately: true })
      const request = yield* wire.take
      wire.send(
        update("s", chunk("a")),
        update("s", chunk("b")),
        { jsonrpc: "2.0", id: request.id!, result: { stopReason: "end_turn" } },
        update("s", chunk("late")),
      )
      const result = yield* Fiber.join(turn)
      expect(result.text).toBe("ab")
    }),
  ),
)

it.effect("v2 turn", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { session } = yield* opened(wire, initializedV2())
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]), { startImmediately: true })
      const request = yield* wire.take
      wire.send(
        update("s", state("running")),
        update("s", chunk("a", "m")),
        { jsonrpc: "2.0", id: request.id!, result: { messageId: "u" } },
        update("s", chunk("b", "m")),
        update("s", state("idle", { stopReason: "end_turn" })),
        update("s", chunk("late", "m")),
      )
      const result = yield* Fiber.join(turn)
      expect(result.text).toBe("ab")
      expect(result.stopReason).toBe("end_turn")
    }),
  ),
)

it.effect("cancel", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { session } = yield* opened(wire, initializedV1())
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]), { startImmediately: true })
      const request = yield* wire.take
      const interrupting = yield* Effect.forkChild(Fiber.interrupt(turn), { startImmediately: true })
      expect((yield* wire.take).method).toBe("session/cancel")
      wire.send({ jsonrpc: "2.0", id: request.id!, result: { stopReason: "cancelled" } })
      yield* Fiber.join(interrupting)
      expect((yield* session.view).state).toBe("idle")
      wire.end({ exitCode: 3 })
      const e = yield* Effect.flip(session.prompt([text("again")]))
      expect(e._tag).toBe("TransportClosed")
    }),
  ),
)
