import { ChildLog } from "@acp-kit/orchestrator/ChildLog"
import { Limits } from "@acp-kit/orchestrator/Limits"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { script, World, watch } from "./support/World.ts"

const limits = { ...Limits.defaults, logLineCharacters: 100, logBurst: 10_000, logPerSecond: 1_000, logTotal: 20_000 }

const make = () => {
  const shown: Array<string> = []
  const log = ChildLog.make(limits, (line) => Effect.sync(() => shown.push(line)))
  return { shown, log }
}

describe("ChildLog", () => {
  it.effect("gives each line without its line feed, whatever the pieces, and what stands behind the last one at the end", () =>
    Effect.gen(function* () {
      const text = "one\r\n\ntwo\nthree"
      for (let size = 1; size <= text.length; size++) {
        const { log, shown } = make()
        for (let at = 0; at < text.length; at += size) yield* log.text(text.slice(at, at + size))
        expect(shown).toEqual(["one", "", "two"])
        yield* log.end
        expect(shown).toEqual(["one", "", "two", "three"])
      }
    }),
  )

  it.effect("cuts a long line and holds no more of it, wherever it comes from", () =>
    Effect.gen(function* () {
      for (const size of [1, 99, 100, 101, 5_000]) {
        const { log, shown } = make()
        const text = `${"x".repeat(5_000)}\nshort\n`
        for (let at = 0; at < text.length; at += size) yield* log.text(text.slice(at, at + size))
        yield* log.line("y".repeat(300))
        yield* log.end
        expect(shown.slice(0, 3)).toEqual([`${"x".repeat(100)}…`, "short", `${"y".repeat(100)}…`])
        expect(shown[3]).toBe("0 lines, 5100 characters in all, of output were left out")
      }
    }),
  )

  it.effect(
    "shows a burst, then a rate, in all no more than its total; says once that something is left out, and counts it",
    () =>
      Effect.gen(function* () {
        const { log, shown } = make()
        const flood = (count: number) => log.text(`${"x".repeat(36)}\n`.repeat(count))
        yield* flood(150)
        expect(shown).toHaveLength(101)
        expect(shown[100]).toBe("it writes more than is shown here; what is left out is counted")
        yield* TestClock.adjust("1 second")
        yield* flood(50)
        expect(shown).toHaveLength(111)
        yield* TestClock.adjust("1 hour")
        yield* flood(500)
        expect(shown.filter((line) => line.startsWith("x"))).toHaveLength(200)
        yield* log.end
        expect(shown).toHaveLength(202)
        expect(shown[201]).toBe("500 lines, 18000 characters in all, of output were left out")
      }),
  )

  it.live("S163 bounds what a child writes to stderr and astray, for whoever watches, and knows the end of it all the same", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ limits: { logBurst: 20_000, logPerSecond: 1 } })
      const parent = yield* world.open()
      const events = yield* watch(parent)
      const stray = Array.from({ length: 500 }, (_, line) => ({ line: `astray ${line} ${"y".repeat(300)}` }))
      const prompt = script({ stderr: "z".repeat(1_000), times: 2_000 }, ...stray, { say: "ok" })
      const child = yield* parent.subagent({ prompt })
      expect(child.output).toBe("ok")
      yield* parent.close(child)
      yield* events.until((event) => event.type === "log" && event.line.endsWith("of output were left out"))
      const lines = events.seen.flatMap((event) => (event.type === "log" ? [event.line] : []))
      expect(lines.reduce((sum, line) => sum + line.length, 0)).toBeLessThan(20_500)
      expect(lines.filter((line) => line.includes("what is left out is counted"))).toHaveLength(1)
    }),
  )
})
