import type { RosterEvent, RosterRow } from "@acp-kit/orchestrator/Subagents"
import { clip, columnsOf, padTo, printable } from "./Printable.ts"

/** One child as the view saw it. Times are Unix milliseconds. */
interface Seen {
  readonly row: RosterRow
  readonly first: number
  /** When the current status began. */
  readonly since: number
  /** It did something while the view looked; one that was only restored from an earlier run did not. */
  readonly active: boolean
}

/** Something that happened once and stays on screen. */
export interface Notice {
  /** `ended` was between turns when its parent ended, `stopped` was not. */
  readonly kind: "starting" | "working" | "idle" | "closed" | "failed" | "ended" | "stopped" | "log"
  readonly name: string
  readonly text: string
  /** Milliseconds since the view began. */
  readonly at: number
}

/** Everything a view needs, folded from the events of a roster. */
export interface Progress {
  readonly began: number
  readonly children: ReadonlyMap<string, Seen>
}

/** Nothing has happened yet. */
export const begin = (now: number): Progress => ({ began: now, children: new Map() })

/** `0.8s`, `12.3s`, `2m05s`. */
export const elapsed = (milliseconds: number): string => {
  const seconds = Math.max(0, milliseconds) / 1000
  if (seconds < 60) return `${seconds.toFixed(1)}s`
  return `${Math.floor(seconds / 60)}m${String(Math.floor(seconds % 60)).padStart(2, "0")}s`
}

/** The task in one line, without the code that a prompt may bring along. */
const gist = (task: string): string => {
  const words = task.split("```")[0]!.trim()
  return printable(words === "" ? task : words)
}

const describe = (row: RosterRow, before: Seen | undefined, now: number): string => {
  switch (row.status) {
    case "starting":
      return row.harness
    case "working":
      return gist(row.task)
    case "idle":
      return `generation ${row.generation}${before?.row.status === "working" ? `, ${elapsed(now - before.since)}` : ""}`
  }
}

const changed = (progress: Progress, row: RosterRow, now: number): readonly [Progress, ReadonlyArray<Notice>] => {
  const before = progress.children.get(row.id)
  const isNew = before === undefined || before.row.status !== row.status
  const active = row.status !== "idle" || (before?.active ?? false)
  const seen: Seen = { row, first: before?.first ?? now, since: isNew ? now : before.since, active }
  const children = new Map(progress.children).set(row.id, seen)
  const notice: Notice = {
    kind: row.status,
    name: printable(row.name),
    text: describe(row, before, now),
    at: now - progress.began,
  }
  return [{ ...progress, children }, isNew && active ? [notice] : []]
}

const removed = (
  progress: Progress,
  event: Extract<RosterEvent, { readonly type: "removed" }>,
  now: number,
): readonly [Progress, ReadonlyArray<Notice>] => {
  const before = progress.children.get(event.id)
  const children = new Map(progress.children)
  children.delete(event.id)
  const silent = event.reason === "ended" && before?.active === false
  const turns =
    before === undefined
      ? ""
      : before.row.status === "idle"
        ? `generation ${before.row.generation}`
        : `while ${before.row.status}`
  // The details of a failure stand in the failure itself, which is reported to whoever asked for the child.
  const text = event.message === undefined ? turns : printable(event.message.replace(/ \(harness=.*$/s, ""))
  const kind = event.reason === "ended" && before !== undefined && before.row.status !== "idle" ? "stopped" : event.reason
  const notice: Notice = { kind, name: printable(event.name), text, at: now - progress.began }
  return [{ ...progress, children }, silent ? [] : [notice]]
}

/** Folds one event; what it returns besides is what a view without redrawing prints. */
export const step = (progress: Progress, event: RosterEvent, now: number): readonly [Progress, ReadonlyArray<Notice>] => {
  switch (event.type) {
    case "changed":
      return changed(progress, event.row, now)
    case "removed":
      return removed(progress, event, now)
    case "log":
      return [progress, [{ kind: "log", name: printable(event.harness), text: printable(event.line), at: now - progress.began }]]
  }
}

/** How the parts of a line are emphasised; the identity where colour is off. */
export interface Paint {
  readonly quiet: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly busy: (text: string) => string
}

const plainly = (text: string): string => text

/** No emphasis at all. */
export const plain: Paint = { quiet: plainly, good: plainly, bad: plainly, busy: plainly }

const sgr = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[0m`

/** The four emphases as terminal colours. */
export const colors: Paint = { quiet: sgr(2), good: sgr(32), bad: sgr(31), busy: sgr(36) }

/** The cells of a name: it gives way first, so that a narrow line still tells the status. */
const nameColumns = (columns: number): number => Math.max(6, Math.min(16, columns - 32))

/** A part of a line and its emphasis. */
type Part = readonly [text: string, tone: (text: string) => string]

/** Parts of a line one after the other, in at most `columns` cells: the last ones give way. */
const squeeze = (parts: ReadonlyArray<Part>, columns: number): string => {
  let room = columns
  return parts
    .map(([text, tone]) => {
      const kept = clip(text, room)
      room -= columnsOf(kept)
      return kept === "" ? "" : tone(kept)
    })
    .join("")
    .trimEnd()
}

/** A notice as one line of at most `columns` cells, without a line feed. A log line is never cut. */
export const noticeLine = (notice: Notice, paint: Paint, columns: number): string => {
  if (notice.kind === "log") return `ACP harness ${notice.name}: ${notice.text}`
  const tone =
    notice.kind === "failed"
      ? paint.bad
      : notice.kind === "working"
        ? paint.busy
        : notice.kind === "idle"
          ? paint.good
          : paint.quiet
  const time = elapsed(notice.at).padStart(6)
  const parts: ReadonlyArray<Part> = [
    [time, paint.quiet],
    [`  ${padTo(notice.name, nameColumns(columns))}  `, plainly],
    [notice.text === "" ? notice.kind : padTo(notice.kind, 8), tone],
    [notice.text === "" ? "" : `  ${notice.text}`, plainly],
  ]
  return squeeze(parts, columns)
}

const marks = { starting: "◌", working: "●", idle: "○" } as const

const usageText = (row: RosterRow): string =>
  row.usage === undefined || row.usage.size <= 0 ? "" : `${Math.round((row.usage.used / row.usage.size) * 100)}%`

const childLine = (seen: Seen, paint: Paint, columns: number, now: number): string => {
  const { row } = seen
  const tone = row.status === "working" ? paint.busy : row.status === "idle" ? paint.good : paint.quiet
  const text = row.status === "working" ? gist(row.activity === "" ? row.task : row.activity) : describe(row, undefined, now)
  const tail = [elapsed(now - seen.since).padStart(6), usageText(row)].filter((part) => part !== "").join("  ")
  const parts: ReadonlyArray<Part> = [
    [marks[row.status], tone],
    [` ${padTo(printable(row.name), nameColumns(columns))}  `, plainly],
    [padTo(row.status, 8), tone],
    [`  ${tail}`, paint.quiet],
    [text === "" ? "" : `  ${text}`, plainly],
  ]
  return squeeze(parts, columns)
}

/** The live rows, working ones first kept in order of arrival, in at most `rows` lines of `columns` cells. */
export const block = (progress: Progress, paint: Paint, columns: number, rows: number, now: number): ReadonlyArray<string> => {
  const seen = [...progress.children.values()]
  const room = Math.max(1, rows)
  if (seen.length <= room) return seen.map((child) => childLine(child, paint, columns, now))
  const byBusy = [...seen.filter((child) => child.row.status !== "idle"), ...seen.filter((child) => child.row.status === "idle")]
  const shown = byBusy.slice(0, room - 1)
  const working = seen.filter((child) => child.row.status === "working").length
  return [
    ...shown.map((child) => childLine(child, paint, columns, now)),
    paint.quiet(clip(`  and ${seen.length - shown.length} more; ${working} of ${seen.length} working`, columns)),
  ]
}

export * as Progress from "./Progress.ts"
