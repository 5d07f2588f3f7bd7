import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Vendor } from "./Vendor.ts"

export type Status = "starting" | "working" | "idle"

/** One live direct child, as a view shows it (S23, S50 to S53). Times are Unix milliseconds. */
export interface RosterRow {
  readonly id: string
  readonly name: string
  readonly status: Status
  /** Of the turn at work, else of the last one that completed. */
  readonly generation: number
  /** The prompt's text blocks, whitespace collapsed, at most 96 characters. */
  readonly task: string
  /** Title of the running tool, else the plan entry in progress, else the session's title, else the task (S51). */
  readonly activity: string
  /** Tokens of the context, as the child reports them (S52). */
  readonly usage?: { readonly used: number; readonly size: number }
  readonly harness: string
  /** Whose agent the launch line starts; absent where the harness is no longer configured (S53). */
  readonly vendor?: Vendor
  /** When the current status began. */
  readonly since: number
}

/** What a view can follow live, in order. */
export type RosterEvent =
  | { readonly type: "changed"; readonly row: RosterRow }
  | {
      readonly type: "removed"
      readonly id: string
      readonly name: string
      readonly reason: "closed" | "failed" | "ended"
      readonly message?: string
    }
  /** A line of a child's stderr, or what Kit has to say of its wire; shown as `ACP harness <name>: <line>`, `harness` being the name. */
  | { readonly type: "log"; readonly harness: string; readonly line: string }

interface Reader {
  queue: Array<RosterEvent>
  logs: number
  wake: Deferred.Deferred<void> | undefined
}

const isNews = (event: RosterEvent, of: RosterEvent): boolean =>
  event.type === "changed" && of.type === "changed" && event.row.id === of.row.id && event.row.status === of.row.status

/**
 * The live list of children. Views follow {@link Roster.events}; whoever publishes never waits for them: a `changed` that a reader has not
 * seen yet is overwritten by the next one of the same child and status, and of unread log lines only the last `logLines` stay.
 */
export class Roster {
  readonly #rows = new Map<string, RosterRow>()
  readonly #readers = new Set<Reader>()
  readonly #logLines: number
  #ended = false

  constructor(logLines: number) {
    this.#logLines = logLines
  }

  get rows(): ReadonlyArray<RosterRow> {
    return [...this.#rows.values()]
  }

  #add(reader: Reader, event: RosterEvent): void {
    if (event.type === "log" && ++reader.logs > this.#logLines) {
      reader.queue.splice(
        reader.queue.findIndex((unread) => unread.type === "log"),
        1,
      )
      reader.logs--
    }
    const unread =
      event.type === "changed"
        ? reader.queue.findLastIndex((earlier) => earlier.type === "changed" && earlier.row.id === event.row.id)
        : -1
    if (unread >= 0 && isNews(event, reader.queue[unread]!)) reader.queue[unread] = event
    else reader.queue.push(event)
    this.#rouse(reader)
  }

  #publish(event: RosterEvent): void {
    for (const reader of this.#readers) this.#add(reader, event)
  }

  /** Shows a child as it is now. */
  change(row: RosterRow): void {
    this.#rows.set(row.id, row)
    this.#publish({ type: "changed", row })
  }

  /** Takes a child off the list; one that is not on it is left alone. */
  remove(id: string, reason: "closed" | "failed" | "ended", message?: string): void {
    const row = this.#rows.get(id)
    if (!this.#rows.delete(id)) return
    this.#publish({ type: "removed", id, name: row!.name, reason, ...(message === undefined ? {} : { message }) })
  }

  log(harness: string, line: string): void {
    this.#publish({ type: "log", harness, line })
  }

  /** The parent is over: whoever is on the list ends, readers see what they have not seen yet, then the end. */
  end(): void {
    for (const id of [...this.#rows.keys()]) this.remove(id, "ended")
    this.#ended = true
    for (const reader of this.#readers) this.#rouse(reader)
  }

  #rouse(reader: Reader): void {
    const { wake } = reader
    // First cleared: the reader may run at once, and wait for the next one before this returns.
    reader.wake = undefined
    if (wake !== undefined) Deferred.doneUnsafe(wake, Effect.void)
  }

  #take(reader: Reader): Effect.Effect<ReadonlyArray<RosterEvent>, Cause.Done> {
    return Effect.suspend(() => {
      if (reader.queue.length === 0) {
        if (this.#ended) return Cause.done()
        reader.wake ??= Deferred.makeUnsafe<void>()
        return Effect.flatMap(Deferred.await(reader.wake), () => this.#take(reader))
      }
      const events = reader.queue
      reader.queue = []
      reader.logs = 0
      return Effect.succeed(events)
    })
  }

  /** A `changed` per live row, then what happens, in order, until {@link Roster.end}. */
  get events(): Stream.Stream<RosterEvent> {
    return Stream.unwrap(
      Effect.gen({ self: this }, function* () {
        const reader = yield* Effect.acquireRelease(
          Effect.sync((): Reader => {
            const queue = this.rows.map((row): RosterEvent => ({ type: "changed", row }))
            const made = { queue, logs: 0, wake: undefined }
            this.#readers.add(made)
            return made
          }),
          (made) => Effect.sync(() => this.#readers.delete(made)),
        )
        return Stream.fromIterableEffectRepeat(this.#take(reader))
      }),
    )
  }
}
