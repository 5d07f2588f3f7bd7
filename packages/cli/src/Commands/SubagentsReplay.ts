import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Agents } from "../Agents.ts"
import { command } from "../Command.ts"
import { Flag } from "../Flag.ts"
import { LongWork } from "../LongWork.ts"
import { Output } from "../Output.ts"
import { Store } from "../Store.ts"
import { Terminal } from "../Terminal.ts"
import { wireLine } from "../WireLine.ts"
import { type Entry, WireRecords } from "../WireRecords.ts"

const line = (entry: Entry): string => {
  const number = "gap" in entry ? "—" : String(entry.seq)
  return `${number.padStart(6)}  ${wireLine(entry)}`
}

/** Waits before each record as long as passed before it was written, `speed` times shorter; a clock set back makes no wait. */
const paced = (speed: number) => {
  let before: number | undefined
  return (entry: Entry) =>
    Effect.suspend(() => {
      if ("gap" in entry) return Effect.void
      const passed = before === undefined ? 0 : Math.max(0, entry.time - before)
      before = entry.time
      return Effect.sleep(passed / speed)
    })
}

/** `kit subagents replay ID`. */
export const subagentsReplay = command({
  name: "replay",
  summary: "go through an agent's wire log record by record, checksums checked",
  details: [
    "Every record stands with its number: frames, and what the log says of itself. --speed lets time pass as it did. Exit 1 where lines cannot be read; the readable ones are shown all the same.",
  ],
  parameters: { ID: Flag.required("the agent") },
  flags: {
    ...Agents.flags,
    from: Flag.count({ placeholder: "SEQ", summary: "begin with this record", fallback: "1" }),
    to: Flag.count({ placeholder: "SEQ", summary: "end with this record", fallback: "the last" }),
    speed: Flag.count({ placeholder: "N", summary: "N times as fast as it happened; 1 takes as long", fallback: "no waiting" }),
    json: Flag.toggle({ summary: "print the records as ndjson" }),
  },
  examples: [
    { line: "subagents replay ID --from 100 --json", does: "the records from number 100 on, for another program" },
    { line: "subagents replay ID --speed 10", does: "watches it again, ten times as fast" },
  ],
  run: ({ parameters: { ID: id }, flags }) =>
    Store.use(
      Effect.gen(function* () {
        const terminal = yield* Terminal.Service
        const { session } = yield* Store.tried(Agents.find(id, flags))
        const { from = 1, to = Number.POSITIVE_INFINITY, speed = 0 } = flags
        const show = flags.json ? WireRecords.jsonLine : line
        let count = 0
        let damaged = 0
        const wait = paced(speed)
        const chosen = WireRecords.stored(session, id, from).pipe(
          Stream.takeWhile((entry) => "gap" in entry || entry.seq <= to),
          Stream.tap((entry) =>
            Effect.sync(() => {
              if ("gap" in entry) damaged++
              else count++
            }),
          ),
        )
        const all = speed === 0 ? chosen : Stream.tap(chosen, wait)
        const printing = Stream.runForEachArray(all, (entries) => Output.lines(entries.map(show)))
        yield* terminal.outIsTerminal ? printing : LongWork.during(() => `replayed ${count} records`)(printing)
        const gaps = damaged === 0 ? "nothing is missing" : `${damaged} gaps; mend what can be with: kit subagents repair ${id}`
        if (!flags.json) yield* terminal.err(`${count} records; ${gaps}\n`)
        return damaged === 0 ? (0 as const) : (1 as const)
      }),
    ),
})
