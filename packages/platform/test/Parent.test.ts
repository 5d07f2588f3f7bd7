import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Processes } from "../src/Processes.ts"
import { marked } from "../src/ProcessTable.ts"
import { firstLine, running, script } from "./Fixture.ts"

const live = <E>(name: string, effect: () => Effect.Effect<unknown, E, Processes.Service | Scope.Scope>) =>
  it.live(name, () => Effect.scoped(effect()).pipe(Effect.provide(Processes.layer)))

interface Told {
  readonly polite: number
  readonly deaf: number
  readonly family: ReadonlyArray<number>
  readonly mark: string
}

/** A parent of three children, one of which ignores everything and one of which has grandchildren. */
const parent = Effect.gen(function* () {
  const processes = yield* Processes.Service
  const main = yield* processes.spawn(script("parent.ts"))
  const told = (yield* firstLine(main.read)) as Told
  const all = [told.polite, told.deaf, ...told.family]
  expect(yield* running(all)).toEqual(all)
  return { main, told, all }
})

describe("a parent with children", () => {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    live(`C05 R33 leaves none of them behind when it ends by ${signal}`, () =>
      Effect.gen(function* () {
        const { main, all } = yield* parent
        process.kill(main.pid, signal)
        expect(yield* main.exit).toEqual({ code, signal: undefined })
        expect(yield* running(all)).toEqual([])
      }),
    )
  }

  live("R33 leaves at KILL only what is deaf to the end of its input, which its mark finds later", () =>
    Effect.gen(function* () {
      const { main, told, all } = yield* parent
      process.kill(main.pid, "SIGKILL")
      expect((yield* main.exit).signal).toBe("SIGKILL")
      while ((yield* running([told.polite, ...told.family.slice(0, 1)])).length > 0) yield* Effect.sleep("20 millis")
      expect(yield* running([told.deaf])).toEqual([told.deaf])
      const processes = yield* Processes.Service
      expect(yield* processes.reapMarked(told.mark)).toBe(1)
      expect(yield* running([told.deaf])).toEqual([])
      yield* main.stop()
      expect(yield* running(all)).toEqual([])
      expect(yield* marked(main.mark)).toEqual([])
    }),
  )
})
