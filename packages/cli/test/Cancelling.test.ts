import { Cancelling } from "@acp-kit/cli/Cancelling"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

describe("Cancelling", () => {
  it.effect("tells of an interruption before the work has ended", () =>
    Effect.gen(function* () {
      const told = yield* Deferred.make<void>()
      const tell = Effect.asVoid(Deferred.succeed(told, undefined))
      const work = Effect.onInterrupt(Effect.never, () => Deferred.await(told))
      const fiber = yield* Effect.forkChild(Cancelling.told(tell)(work), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      expect(yield* Deferred.isDone(told)).toBe(true)
    }),
  )

  it.effect("tells nothing of work that ends, well or not", () =>
    Effect.gen(function* () {
      let told = 0
      const tell = Effect.sync(() => void told++)
      expect(yield* Cancelling.told(tell)(Effect.succeed(1))).toBe(1)
      expect(yield* Effect.flip(Cancelling.told(tell)(Effect.fail("no")))).toBe("no")
      expect(told).toBe(0)
    }),
  )
})
