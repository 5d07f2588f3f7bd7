import { LongWork } from "@acp-kit/cli/LongWork"
import { Terminal } from "@acp-kit/cli/Terminal"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"

const watched = (redraws: boolean) => {
  const [layer, recording] = Terminal.layerMemory({ redraws, columns: Effect.succeed(12) })
  let done = 0
  const work = Effect.forEach(
    [1, 2, 3, 4],
    (each) =>
      Effect.andThen(
        Effect.sleep("4 seconds"),
        Effect.sync(() => {
          done = each
        }),
      ),
    { discard: true },
  )
  return { recording, run: Effect.provide(LongWork.during(() => `checked ${done} of 4 files`)(work), layer) }
}

describe("LongWork", () => {
  it.effect("redraws one line that follows the work, cut to the terminal, and takes it away at the end", () =>
    Effect.gen(function* () {
      const { recording, run } = watched(true)
      const fiber = yield* Effect.forkChild(run)
      yield* TestClock.adjust("400 millis")
      expect(recording.err()).toBe("")
      yield* TestClock.adjust("5 seconds")
      expect(recording.err()).toContain("\r\u001b[Kchecked 0 …")
      expect(recording.err()).toContain("\r\u001b[Kchecked 1 …")
      yield* TestClock.adjust("20 seconds")
      yield* Fiber.join(fiber)
      expect(recording.err().endsWith("\r\u001b[K")).toBe(true)
    }),
  )

  it.effect("prints a line every ten seconds where nothing can be redrawn, and none for short work", () =>
    Effect.gen(function* () {
      const { recording, run } = watched(false)
      const fiber = yield* Effect.forkChild(run)
      yield* TestClock.adjust("9 seconds")
      expect(recording.err()).toBe("")
      yield* TestClock.adjust("20 seconds")
      yield* Fiber.join(fiber)
      expect(recording.err()).toBe("checked 2 of 4 files\n")
    }),
  )

  it.effect("ends with the work, however that ends", () =>
    Effect.gen(function* () {
      const [layer, recording] = Terminal.layerMemory({ redraws: true })
      const failing = Effect.andThen(Effect.sleep("1 second"), Effect.fail("no"))
      const fiber = yield* Effect.forkChild(Effect.flip(Effect.provide(LongWork.during(() => "working")(failing), layer)))
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(fiber)).toBe("no")
      const shown = recording.err()
      expect(shown.endsWith("\r\u001b[K")).toBe(true)
      yield* TestClock.adjust("1 minute")
      expect(recording.err()).toBe(shown)
    }),
  )
})
