import { ProgressView } from "@acp-kit/cli/ProgressView"
import { Terminal } from "@acp-kit/cli/Terminal"
import type { RosterEvent } from "@acp-kit/orchestrator/Subagents"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"

const working = (name: string): RosterEvent => ({
  type: "changed",
  row: { id: name, name, status: "working", generation: 0, task: "a task", activity: "", harness: "acp.kit", since: 0 },
})

const ended = (name: string): RosterEvent => ({ type: "removed", id: name, name, reason: "ended" })

/** What a screen shows after the text: only the sequences that the view uses are known. */
const screen = (text: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the sequences of a terminal
  for (const token of text.match(/\u001b\[\?2026[hl]|\u001b\[A\u001b\[K|[^\n\r\u001b]*\n/g) ?? []) {
    if (token === "\u001b[A\u001b[K") lines.pop()
    else if (token.endsWith("\n")) lines.push(token.slice(0, -1))
  }
  return lines
}

describe("ProgressView", () => {
  it.effect("writes plain lines where stderr is no terminal", () =>
    Effect.gen(function* () {
      const [layer, recording] = Terminal.layerMemory()
      yield* Effect.provide(ProgressView.follow(Stream.make(working("A"), ended("A"))), layer)
      expect(recording.err().split("\n")).toHaveLength(3)
      expect(recording.err()).not.toContain("\u001b")
      expect(recording.out()).toBe("")
    }),
  )

  it.effect("redraws one block on a terminal and leaves what happened", () =>
    Effect.gen(function* () {
      const [layer, recording] = Terminal.layerMemory({ redraws: true, errIsTerminal: true })
      const queue = yield* Queue.unbounded<RosterEvent>()
      const view = yield* Effect.forkChild(Effect.provide(ProgressView.follow(Stream.fromQueue(queue)), layer))
      yield* Queue.offerAll(queue, [working("A"), working("B")])
      yield* TestClock.adjust("300 millis")
      expect(screen(recording.err()).map((line) => line.slice(0, 4).trim())).toEqual(["● A", "● B"])
      yield* Queue.offer(queue, ended("A"))
      yield* TestClock.adjust("200 millis")
      expect(screen(recording.err()).map((line) => line.trim().split(/\s+/).slice(0, 3).join(" ").trim())).toEqual([
        "0.3s A stopped",
        "● B working",
      ])
      yield* Fiber.interrupt(view)
      expect(screen(recording.err()).map((line) => line.trim().slice(0, 7))).toEqual(["0.3s  A"])
    }),
  )

  it.effect("takes the whole block away where the terminal has become narrower and broken its lines", () =>
    Effect.gen(function* () {
      let width = 80
      const columns = Effect.sync(() => width)
      const [layer, recording] = Terminal.layerMemory({ redraws: true, color: true, columns })
      const queue = yield* Queue.unbounded<RosterEvent>()
      const view = yield* Effect.forkChild(Effect.provide(ProgressView.follow(Stream.fromQueue(queue)), layer))
      yield* Queue.offerAll(queue, [working("A"), working("B")])
      yield* TestClock.adjust("300 millis")
      const up = (rows: number) => `\r\u001b[K${"\u001b[A\u001b[K".repeat(rows)}\u001b[36m●`
      expect(recording.err()).toContain(up(2))
      width = 40
      yield* TestClock.adjust("100 millis")
      expect(recording.err()).toContain(up(4))
      yield* Fiber.interrupt(view)
    }),
  )

  it.effect("never erases the rest of the screen, which in its top row would fill the history of tmux", () =>
    Effect.gen(function* () {
      const [layer, recording] = Terminal.layerMemory({ redraws: true })
      const queue = yield* Queue.unbounded<RosterEvent>()
      const view = yield* Effect.forkChild(Effect.provide(ProgressView.follow(Stream.fromQueue(queue)), layer))
      yield* Queue.offerAll(queue, [working("A"), working("B")])
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(view)
      expect(recording.err()).toContain("\u001b[A\u001b[K")
      expect(recording.err()).not.toMatch(/\[\d*J/)
    }),
  )

  it.effect("writes nothing while nothing changes", () =>
    Effect.gen(function* () {
      const [layer, recording] = Terminal.layerMemory({ redraws: true })
      const view = yield* Effect.forkChild(Effect.provide(ProgressView.follow(Stream.never), layer))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.interrupt(view)
      expect(recording.err()).toBe("")
    }),
  )
})
