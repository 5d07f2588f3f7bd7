import { Gate } from "@acp-kit/protocol/Gate"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

it.effect("lets one in at a time, first come first served; who is interrupted leaves the line", () =>
  Effect.gen(function* () {
    const gate = new Gate()
    const inside: Array<number> = []
    const enter = (n: number) =>
      Effect.forkChild(
        Effect.map(gate.enter, () => inside.push(n)),
        { startImmediately: true },
      )
    yield* enter(1)
    const [, third] = [yield* enter(2), yield* enter(3)]
    yield* enter(4)
    expect(inside).toEqual([1])
    yield* Fiber.interrupt(third)
    gate.leave()
    expect(inside).toEqual([1, 2])
    gate.leave()
    expect(inside).toEqual([1, 2, 4])
    gate.leave()
    yield* enter(5)
    expect(inside).toEqual([1, 2, 4, 5])
  }),
)
