import { spawnSync } from "node:child_process"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Processes } from "../src/Processes.ts"
import { byPs, closure, type Entry, identity, proc, system } from "../src/ProcessTable.ts"
import { child, firstLine } from "./Fixture.ts"

const live = <E>(name: string, effect: () => Effect.Effect<unknown, E, Processes.Service | Scope.Scope>) =>
  it.live(name, () => Effect.scoped(effect()).pipe(Effect.provide(Processes.layer)))

const hasPs = spawnSync("ps", ["-A"]).status === 0

const family = Effect.gen(function* () {
  const processes = yield* Processes.Service
  const leader = yield* processes.spawn({ ...child("family"), ladder: { eof: "1 second", term: "100 millis" } })
  const pids = (yield* firstLine(leader.read)) as ReadonlyArray<number>
  return { leader, pids: [leader.pid, ...pids] }
})

const sorted = (entries: ReadonlyArray<Entry>) => entries.map((entry) => entry.pid).sort((a, b) => a - b)

for (const [name, source] of [
  ["the table of this system", system],
  ...(system === proc && hasPs ? [["the table by ps", byPs] as const] : []),
] as const) {
  describe(name, () => {
    live("shows who started whom, in which group", () =>
      Effect.gen(function* () {
        const { leader, pids } = yield* family
        const table = yield* source.snapshot
        const root = table.filter((entry) => entry.pid === leader.pid)
        expect(root).toMatchObject([{ parent: process.pid, group: leader.pid }])
        expect(sorted(closure(table, root))).toEqual(pids.toSorted((a, b) => a - b))
      }),
    )

    live("finds a mark in those that left the group", () =>
      Effect.gen(function* () {
        const { leader, pids } = yield* family
        const found = yield* source.marked(leader.mark, yield* source.snapshot)
        expect(sorted(found)).toEqual(pids.toSorted((a, b) => a - b))
      }),
    )

    live("tells two processes with one pid apart by their start", () =>
      Effect.gen(function* () {
        const { leader } = yield* family
        const entry = yield* source.lookup(leader.pid)
        expect(entry === undefined ? "" : identity(entry)).toMatch(new RegExp(`^${leader.pid}@.+`))
        expect(yield* source.lookup(2 ** 22 + 1)).toBeUndefined()
      }),
    )

    live("takes a process that has ended and was not waited for as gone", () =>
      Effect.gen(function* () {
        const processes = yield* Processes.Service
        const shell = yield* processes.spawn({
          ...child("echo"),
          command: "sh",
          args: ["-c", "exec 3<&0; cat <&3 >&2 & echo $!; exec sleep 3600"],
          ladder: { eof: 0, term: "1 second" },
        })
        const pid = (yield* firstLine(shell.read)) as number
        yield* shell.endInput
        while ((yield* source.lookup(pid)) !== undefined) yield* Effect.sleep("10 millis")
        expect(() => process.kill(pid, 0)).not.toThrow()
        expect((yield* source.snapshot).some((entry) => entry.pid === pid)).toBe(false)
      }),
    )
  })
}
