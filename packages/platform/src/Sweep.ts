import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { closure, type Entry, identity, system } from "./ProcessTable.ts"

/** A process and all that belongs to it. */
export interface Family {
  readonly mark: string
  /** The leader of the group and session, if there is one. */
  readonly leader?: Pick<Entry, "pid" | "startTime">
  /** Whoever was seen below it, by identity; grows with every look. */
  readonly noted: Set<string>
}

/** Signals that cannot be delivered any more are no failure. */
const signal = (pid: number, name: "SIGTERM" | "SIGKILL"): void => {
  try {
    process.kill(pid, name)
  } catch {}
}

/** What of the family runs now. All of it is noted, so that whoever leaves the group later is still known. */
export const members = Effect.fnUntraced(function* ({ mark, leader, noted }: Family) {
  const table = yield* system.snapshot
  const carriers = new Set(yield* system.marked(mark, table))
  const holder = table.find((entry) => entry.pid === leader?.pid)
  const ours = leader !== undefined && (holder === undefined || holder.startTime === leader.startTime)
  const roots = table.filter(
    (entry) =>
      carriers.has(entry) || noted.has(identity(entry)) || (ours && (entry.group === leader.pid || entry.session === leader.pid)),
  )
  const found = closure(table, roots).filter((entry) => entry.pid !== process.pid)
  for (const entry of found) noted.add(identity(entry))
  return found
})

const send = (found: ReadonlyArray<Entry>, name: "SIGTERM" | "SIGKILL") =>
  Effect.sync(() => {
    for (const entry of found) signal(entry.pid, name)
  })

const pace = Schedule.spaced("20 millis")

/** Repeats `look` until it finds nothing, for so long at most. */
const untilNone = (look: Effect.Effect<ReadonlyArray<Entry>>, patience: Duration.Input) =>
  look.pipe(
    Effect.repeat({ schedule: pace, until: (found) => found.length === 0 }),
    Effect.interruptible,
    Effect.timeoutOption(patience),
    Effect.map(Option.isSome),
  )

/** Long enough for a machine under load; what outlives this cannot be ended at all. */
const lastPatience = "10 seconds"

/** TERM to all of the family, then KILL to what is left of it after `term`. Succeeds when none is left. */
export const end = Effect.fnUntraced(function* (family: Family, term: Duration.Input) {
  const found = yield* members(family)
  if (found.length === 0) return 0
  yield* send(found, "SIGTERM")
  if (yield* untilNone(members(family), term)) return found.length
  const kill = Effect.tap(members(family), (left) => send(left, "SIGKILL"))
  if (!(yield* untilNone(kill, lastPatience))) yield* Effect.logWarning(`processes of ${family.mark} could not be ended`)
  return found.length
}, Effect.uninterruptible)

const living = new Set<Family>()

/** The family counts as living until `forget`. */
export const track = (family: Family): void => {
  living.add(family)
}

/** Nothing of the family is left. */
export const forget = (family: Family): void => {
  living.delete(family)
}

/** Long enough to see that KILL has worked; whoever waits for this wants to leave. */
const shortPatience = "2 seconds"

/** KILL to every family that this program has started and not yet ended, until none is left. For a program that leaves without its finalizers. */
export const killLiving: Effect.Effect<void> = Effect.suspend(() =>
  Effect.forEach([...living], members, { concurrency: "unbounded" }),
).pipe(
  Effect.map((found) => found.flat()),
  Effect.tap((found) => send(found, "SIGKILL")),
  (look) => untilNone(look, shortPatience),
  Effect.asVoid,
)

/** {@link end} for whatever carries a mark. */
export const endMarked = (mark: string, term: Duration.Input): Effect.Effect<number> => end({ mark, noted: new Set() }, term)

export * as Sweep from "./Sweep.ts"
