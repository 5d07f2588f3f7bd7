import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Effect from "effect/Effect"
import { marksIn } from "./Mark.ts"

/** A process that runs; one that has ended and waits for its parent is none. */
export interface Entry {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** Not known everywhere. */
  readonly session: number | undefined
  /** When it started, in the system's own words. With the pid it names one process for good: pids are used again. */
  readonly startTime: string
}

/** Names one process for good. */
export const identity = (entry: Pick<Entry, "pid" | "startTime">): string => `${entry.pid}@${entry.startTime}`

/** How one system tells about its processes. */
export interface Source {
  readonly snapshot: Effect.Effect<ReadonlyArray<Entry>>
  readonly lookup: (pid: number) => Effect.Effect<Entry | undefined>
  /** Those of the table whose environment carries the mark. */
  readonly marked: (mark: string, table: ReadonlyArray<Entry>) => Effect.Effect<ReadonlyArray<Entry>>
}

const readable = (file: string): string | undefined => {
  try {
    return Fs.readFileSync(file, "latin1")
  } catch {
    return undefined
  }
}

const pids = (): ReadonlyArray<number> => Fs.readdirSync("/proc").map(Number).filter(Number.isInteger)

const ended = new Set(["Z", "X", "x"])

const entryOf = (pid: number): Entry | undefined => {
  const stat = readable(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  const [state, parent, group, session, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const startTime = rest[15]
  if (state === undefined || startTime === undefined || ended.has(state)) return undefined
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), startTime }
}

const readMarks = (pid: number): ReadonlyArray<string> => (readable(`/proc/${pid}/environ`) ?? "").split("\0").flatMap(marksIn)

type Marks = ReadonlyMap<string, ReadonlyArray<string>>

let lastMarks: Marks = new Map()
const marksOf = new WeakMap<ReadonlyArray<Entry>, Marks>()

/** Whatever runs has its marks from its start on; only what this program starts itself has ours until it has become another program. */
const marksAmong = (table: ReadonlyArray<Entry>): Marks => {
  const before = marksOf.get(table)
  if (before !== undefined) return before
  const marks = new Map<string, ReadonlyArray<string>>()
  for (const entry of table) {
    const key = identity(entry)
    marks.set(key, (entry.parent === process.pid ? undefined : lastMarks.get(key)) ?? readMarks(entry.pid))
  }
  lastMarks = marks
  marksOf.set(table, marks)
  return marks
}

/** At most one look at the whole system in so many milliseconds, however many wait for one. */
const paceMs = 10

/** Everyone gets what was seen after they asked. */
const shared = <A>(look: () => A): Effect.Effect<A> => {
  let waiting: Array<(seen: Effect.Effect<A>) => void> = []
  let last = -paceMs
  const see = () => {
    const asked = waiting
    waiting = []
    const seen = Effect.succeed(look())
    last = performance.now()
    for (const resume of asked) resume(seen)
  }
  return Effect.callback((resume) => {
    waiting.push(resume)
    if (waiting.length === 1) setTimeout(see, Math.max(0, last + paceMs - performance.now()))
  })
}

/** Linux: `/proc`. */
export const proc: Source = {
  snapshot: shared(() => pids().flatMap((pid) => entryOf(pid) ?? [])),
  lookup: (pid) => Effect.sync(() => entryOf(pid)),
  marked: (mark, table) =>
    Effect.sync(() => {
      const marks = marksAmong(table)
      return table.filter((entry) => marks.get(identity(entry))?.includes(mark) === true)
    }),
}

const ps = (...args: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>> =>
  Effect.callback((resume) => {
    ChildProcess.execFile("ps", args, { env: { LC_ALL: "C", PATH: "/usr/bin:/bin" }, maxBuffer: 1 << 28 }, (_, stdout) => {
      resume(Effect.succeed(stdout.split("\n")))
    })
  })

const row = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/

const rows = (lines: ReadonlyArray<string>): ReadonlyArray<Entry> =>
  lines.flatMap((line) => {
    const [, pid, parent, group, state = "Z", startTime = ""] = row.exec(line) ?? []
    if (ended.has(state.charAt(0))) return []
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), session: undefined, startTime }]
  })

const columns = "pid=,ppid=,pgid=,stat=,lstart="

/** Elsewhere: `ps`, which knows no session and shows the environment after the command line. */
export const byPs: Source = {
  snapshot: Effect.map(ps("-A", "-o", columns), rows),
  lookup: (pid) => Effect.map(ps("-o", columns, "-p", String(pid)), (lines) => rows(lines)[0]),
  marked: (mark, table) =>
    Effect.map(ps("axeww", "-o", "pid=,command="), (lines) => {
      const carries = (line: string) => line.includes(mark) && line.split(" ").some((word) => marksIn(word).includes(mark))
      const carriers = new Set(lines.filter(carries).map((line) => Number.parseInt(line, 10)))
      return table.filter((entry) => carriers.has(entry.pid))
    }),
}

/** The source of this system. */
export const system: Source = Fs.existsSync("/proc/self/stat") ? proc : byPs

/** The processes that run and whose environment carries the mark, this one included. */
export const marked = (mark: string): Effect.Effect<ReadonlyArray<Entry>> =>
  Effect.flatMap(system.snapshot, (table) => system.marked(mark, table))

/** The given processes and all that they, directly or not, started and that still hang below them. */
export const closure = (table: ReadonlyArray<Entry>, roots: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const children = Map.groupBy(table, (entry) => entry.parent)
  const found = new Map<number, Entry>()
  const visit = (entry: Entry): void => {
    if (found.has(entry.pid)) return
    found.set(entry.pid, entry)
    for (const child of children.get(entry.pid) ?? []) visit(child)
  }
  for (const root of roots) visit(root)
  return [...found.values()]
}

export * as ProcessTable from "./ProcessTable.ts"
