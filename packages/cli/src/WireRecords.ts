import { stringify } from "@acp-kit/store/Json"
import type { LogGap, LogRecord } from "@acp-kit/store/Record"
import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Store } from "./Store.ts"

/** A line of a wire log, or lines of it that cannot be read. */
export type Entry = LogRecord | LogGap

/** How often a log that is followed is looked at. */
const lookEvery = "200 millis"

/** A record as `--json` prints it, on one line. */
export const jsonLine = (entry: Entry): string =>
  "gap" in entry
    ? stringify({ gap: true, firstSeq: entry.firstSeq ?? null, lastSeq: entry.lastSeq ?? null })
    : stringify({ seq: entry.seq, time: entry.time, kind: entry.kind, body: entry.body })

/** Every record from number `from` to the end of now. */
export const stored = (session: SessionStore.Session, id: string, from = 1) =>
  Stream.mapError(session.subagents.replay(id, { fromSeq: from }), Store.storeFailed)

/**
 * Every record from number `from` on, those to come included, each once. It ends when no process has the session open for writing any more, with the
 * last record.
 */
export const followed = (session: SessionStore.Session, id: string, from = 1) => {
  let next = from
  const gaps = new Set<string>()
  const isNew = (entry: Entry): boolean => {
    if (!("gap" in entry)) {
      if (entry.seq < next) return false
      next = entry.seq + 1
      return true
    }
    const place = `${entry.segment}:${entry.from}`
    if (gaps.has(place) || (entry.lastSeq ?? next) < next) return false
    gaps.add(place)
    return true
  }
  const look = Effect.gen(function* () {
    const store = yield* SessionStore.Service
    const writer = yield* Store.tried(store.holder(session.id))
    return { written: Stream.filter(stored(session, id, next), isNew), over: writer === undefined }
  })
  const round = (first: boolean): Stream.Stream<Entry, Effect.Error<typeof look>, SessionStore.Service> =>
    Stream.unwrap(
      Effect.map(first ? look : Effect.andThen(Effect.sleep(lookEvery), look), ({ written, over }) =>
        over
          ? written
          : Stream.concat(
              written,
              Stream.suspend(() => round(false)),
            ),
      ),
    )
  return round(true)
}

export * as WireRecords from "./WireRecords.ts"
