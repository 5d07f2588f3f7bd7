import { Gate, type Restore } from "@acp-kit/protocol/Gate"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

const enter = (gate: Gate, then: () => void, before = 0) =>
  Effect.forkChild(
    Effect.uninterruptibleMask((restore: Restore) =>
      Effect.gen(function* () {
        for (let at = 0; at < before; at++) yield* Effect.sync(() => {})
        yield* gate.enter(restore)
        then()
      }),
    ),
    { startImmediately: true },
  )

it.effect("lets one in at a time, first come first served; who is interrupted leaves the line", () =>
  Effect.gen(function* () {
    const gate = new Gate()
    const inside: Array<number> = []
    const come = (n: number) => enter(gate, () => void inside.push(n))
    yield* come(1)
    const [, third] = [yield* come(2), yield* come(3)]
    yield* come(4)
    expect(inside).toEqual([1])
    yield* Fiber.interrupt(third)
    gate.leave()
    expect(inside).toEqual([1, 2])
    gate.leave()
    expect(inside).toEqual([1, 2, 4])
    gate.leave()
    yield* come(5)
    expect(inside).toEqual([1, 2, 4, 5])
  }),
)

it.effect("is never lost to an interruption, however close it comes to the turn", () =>
  Effect.gen(function* () {
    for (let before = 1_900; before < 2_100; before++) {
      const gate = new Gate()
      const inside: Array<string> = []
      const first = yield* enter(gate, () => void inside.push("first"), before)
      yield* Fiber.interrupt(first)
      if (inside.length > 0) gate.leave()
      yield* enter(gate, () => void inside.push("second"))
      expect([before, inside.at(-1)]).toEqual([before, "second"])
    }
  }),
)

it.effect("lets everybody in once it is torn down", () =>
  Effect.gen(function* () {
    const gate = new Gate()
    const inside: Array<number> = []
    for (const n of [1, 2, 3]) yield* enter(gate, () => void inside.push(n))
    gate.tearDown()
    yield* enter(gate, () => void inside.push(4))
    expect(inside).toEqual([1, 2, 3, 4])
  }),
)
