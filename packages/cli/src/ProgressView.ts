import type { RosterEvent } from "@acp-kit/orchestrator/Subagents"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { columnsOf } from "./Printable.ts"
import { Progress } from "./Progress.ts"
import { Terminal } from "./Terminal.ts"

/** What stays on a terminal above the block: what the block never showed, or no longer shows. */
const stays: ReadonlyArray<Progress.Notice["kind"]> = ["idle", "closed", "failed", "stopped", "log"]

/** How often a terminal is redrawn while something moves; 10 a second is what an eye takes as live. */
const redrawEvery = "100 millis"

const paintOf = (terminal: Terminal.Interface) => (terminal.color ? Progress.colors : Progress.plain)

type Lines = Stream.Stream<string>

const plainLines = Effect.fnUntraced(function* (events: Stream.Stream<RosterEvent>, lines: Lines) {
  const terminal = yield* Terminal.Service
  yield* Effect.forkScoped(Stream.runForEach(lines, (line) => terminal.err(`${line}\n`)))
  let progress = Progress.begin(yield* Clock.currentTimeMillis)
  const columns = terminal.errIsTerminal ? yield* terminal.columns : Number.POSITIVE_INFINITY
  yield* Stream.runForEach(
    events,
    Effect.fnUntraced(function* (event) {
      const [next, notices] = Progress.step(progress, event, yield* Clock.currentTimeMillis)
      progress = next
      const lines = notices.map((notice) => `${Progress.noticeLine(notice, paintOf(terminal), columns)}\n`)
      if (lines.length > 0) yield* terminal.err(lines.join(""))
    }),
  )
})

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the colours of Progress
const colour = /\u001b\[\d+m/g

/** The rows that lines take on a terminal that has become narrower since, and breaks them anew. */
const rowsOf = (lines: ReadonlyArray<string>, columns: number): number =>
  lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(columnsOf(line.replaceAll(colour, "")) / columns)), 0)

/**
 * Takes rows away, from the cursor's up. Row by row: to erase the rest of the screen at its top left corner would move the whole screen into the
 * history of tmux, at every redraw.
 */
const erased = (rows: number): string => (rows === 0 ? "" : `\r\u001b[K${"\u001b[A\u001b[K".repeat(rows)}`)

const redrawnBlock = Effect.fnUntraced(function* (events: Stream.Stream<RosterEvent>, lines: Lines) {
  const terminal = yield* Terminal.Service
  const paint = paintOf(terminal)
  let progress = Progress.begin(yield* Clock.currentTimeMillis)
  let waiting: Array<string> = []
  let drawn: ReadonlyArray<string> = []
  const draw = Effect.fnUntraced(function* (last: boolean) {
    const width = yield* terminal.columns
    const columns = width - 1
    const rows = (yield* terminal.rows) - 2
    const block = last ? [] : Progress.block(progress, paint, columns, rows, yield* Clock.currentTimeMillis)
    if (waiting.length === 0 && block.length === drawn.length && block.every((line, index) => line === drawn[index])) return
    const erase = erased(rowsOf(drawn, width))
    const text = [...waiting, ...block].map((line) => `${line}\n`).join("")
    waiting = []
    drawn = block
    yield* terminal.err(`\u001b[?2026h${erase}${text}\u001b[?2026l`)
  })
  yield* Effect.forkScoped(Stream.runForEach(lines, (line) => Effect.sync(() => void waiting.push(line))))
  const drawing = yield* Effect.forkScoped(Effect.forever(Effect.andThen(draw(false), Effect.sleep(redrawEvery))))
  yield* Stream.runForEach(
    events,
    Effect.fnUntraced(function* (event) {
      const [next, notices] = Progress.step(progress, event, yield* Clock.currentTimeMillis)
      const columns = yield* terminal.columns
      progress = next
      waiting.push(
        ...notices
          .filter((notice) => stays.includes(notice.kind))
          .map((notice) => Progress.noticeLine(notice, paint, columns - 1)),
      )
    }),
  ).pipe(Effect.ensuring(Effect.andThen(Fiber.interrupt(drawing), draw(true))))
})

/**
 * Shows a roster on stderr until its events end: a line for each child that starts, works and ends, or on a terminal
 * that can be redrawn one block that follows them. An interruption takes the block away and leaves the cursor below.
 * `lines` are what else is to be told meanwhile; they stay.
 */
export const follow = (
  events: Stream.Stream<RosterEvent>,
  lines: Lines = Stream.empty,
): Effect.Effect<void, never, Terminal.Service> =>
  Effect.gen(function* () {
    const terminal = yield* Terminal.Service
    return yield* Effect.scoped(terminal.redraws ? redrawnBlock(events, lines) : plainLines(events, lines))
  })

export * as ProgressView from "./ProgressView.ts"
