import { Roster, type RosterEvent, type RosterRow } from "@acp-kit/orchestrator/Roster"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"

const row = (id: string, more: Partial<RosterRow> = {}): RosterRow => ({
  id,
  name: id,
  status: "working",
  generation: 1,
  task: "t",
  activity: "t",
  harness: "acp.kit",
  since: 0,
  ...more,
})

const take = (roster: Roster, count: number) =>
  Effect.map(Stream.runCollect(Stream.take(roster.events, count)), (events): ReadonlyArray<RosterEvent> => events)

describe("Roster", () => {
  it.effect("starts with the rows of now, then tells what happens", () =>
    Effect.gen(function* () {
      const roster = new Roster(10)
      roster.change(row("a"))
      const reader = yield* Effect.forkChild(take(roster, 4), { startImmediately: true })
      yield* Effect.yieldNow
      roster.change(row("b", { status: "starting" }))
      yield* Effect.yieldNow
      roster.log("review", "hello")
      roster.remove("a", "closed")
      expect(yield* Fiber.join(reader)).toEqual([
        { type: "changed", row: row("a") },
        { type: "changed", row: row("b", { status: "starting" }) },
        { type: "log", harness: "review", line: "hello" },
        { type: "removed", id: "a", name: "a", reason: "closed" },
      ])
      expect(roster.rows).toEqual([row("b", { status: "starting" })])
    }),
  )

  it.effect("is not missed by a reader that makes something happen while it is woken", () =>
    Effect.gen(function* () {
      const roster = new Roster(10)
      const seen: Array<string> = []
      const look = Stream.runForEach(roster.events, (event) =>
        Effect.sync(() => {
          if (event.type !== "changed") return
          seen.push(event.row.id)
          if (event.row.id === "a") roster.change(row("b"))
        }),
      )
      yield* Effect.forkScoped(look, { startImmediately: true })
      yield* Effect.yieldNow
      for (const id of ["a", "c"]) {
        roster.change(row(id))
        for (let turn = 0; turn < 10; turn++) yield* Effect.yieldNow
      }
      expect(seen).toEqual(["a", "b", "c"])
    }).pipe(Effect.scoped),
  )

  it.effect("spares a slow reader all but the last activity of a status, and bounds the lines that wait for it", () =>
    Effect.gen(function* () {
      const roster = new Roster(2)
      const slow: Array<RosterEvent> = []
      yield* Effect.scoped(
        Effect.gen(function* () {
          const pull = yield* Stream.toPull(roster.events)
          roster.change(row("a"))
          slow.push(...(yield* pull))
          for (let step = 0; step < 1_000; step++) {
            roster.change(row("a", { activity: String(step) }))
            roster.log("x", String(step))
          }
          roster.change(row("a", { status: "idle" }))
          slow.push(...(yield* pull))
        }),
      )
      expect(slow).toEqual([
        { type: "changed", row: row("a") },
        { type: "changed", row: row("a", { activity: "999" }) },
        { type: "log", harness: "x", line: "998" },
        { type: "log", harness: "x", line: "999" },
        { type: "changed", row: row("a", { status: "idle" }) },
      ])
    }),
  )

  it("removes a child once", () => {
    const roster = new Roster(10)
    roster.change(row("a"))
    roster.remove("a", "failed", "why")
    roster.remove("a", "failed", "why")
    expect(roster.rows).toEqual([])
  })
})
