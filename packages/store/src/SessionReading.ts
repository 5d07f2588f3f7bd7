import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Disk } from "./Disk.ts"
import * as Document from "./Document.ts"
import * as Layout from "./Layout.ts"
import { Lock } from "./Lock.ts"
import { activePath, type LogName } from "./LogFiles.ts"
import * as LogReader from "./LogReader.ts"
import type { Session, SessionInfo, SessionSummary } from "./Session.ts"
import * as SessionDocument from "./SessionDocument.ts"
import * as SessionFiles from "./SessionFiles.ts"
import type { SessionId } from "./SessionId.ts"
import { Corrupt, of, ofDisk, type StoreError } from "./StoreError.ts"
import * as SubagentReader from "./SubagentReader.ts"
import * as Transcript from "./Transcript.ts"

/** `session.json` of a directory. */
export const readInfo = Effect.fnUntraced(function* (
  directory: string,
  id: string,
): Effect.fn.Return<SessionInfo, StoreError, Disk.Service> {
  const path = `${directory}/${Layout.sessionFile}`
  const raw = yield* Document.read(path)
  if (raw === undefined) return yield* of(new Corrupt({ path, why: "it is missing" }))
  return yield* SessionDocument.view(path, raw, id)
})

/** A session's row in a list; whatever is wrong with the session becomes its `problem`. */
export const summary = Effect.fnUntraced(function* (
  home: string,
  id: SessionId,
): Effect.fn.Return<SessionSummary, never, Disk.Service> {
  const disk = yield* Disk.Service
  const directory = Layout.sessionPath(home, id)
  const path = `${directory}/${Layout.sessionFile}`
  let updated = 0
  const read = Effect.gen(function* () {
    yield* Layout.directory(directory)
    updated = (yield* disk.stat(activePath(transcriptOf(directory))).pipe(Effect.mapError(ofDisk)))?.modified ?? 0
    const raw = (yield* Document.read(path)) ?? (yield* of(new Corrupt({ path, why: "it is missing" })))
    const info = yield* SessionDocument.view(path, raw, id)
    updated = Math.max(Date.parse(info.updated_at) || 0, updated)
    const problem = yield* Document.checkWritable(path, raw, SessionDocument.format).pipe(
      Effect.andThen(hasTranscript(transcriptOf(directory))),
      Effect.match({ onFailure: (error) => error, onSuccess: () => undefined }),
    )
    return { id, info, updated, ...(problem === undefined ? {} : { problem }) }
  })
  return yield* Effect.catch(read, (problem) => Effect.succeed<SessionSummary>({ id, updated, problem }))
})

/** Fails with `Corrupt` where the transcript is gone. Between two of its files there is no active one, and nothing is missing. */
const hasTranscript = Effect.fnUntraced(function* (name: LogName): Effect.fn.Return<void, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const path = activePath(name)
  if ((yield* disk.stat(path).pipe(Effect.mapError(ofDisk))) !== undefined) return
  if ((yield* LogReader.tail(name, 1))[0]?.kind === "seal") return
  return yield* of(new Corrupt({ path, why: "it is missing, and with it what the session was about" }))
})

/** The transcript's place. */
export const transcriptOf = (directory: string): LogName => ({ directory, ...Layout.transcriptLog })

/** A session for reading. Takes no lock, writes nothing, sees at each call what is there then. */
export const open = Effect.fn("SessionReading.open")(function* (
  home: string,
  id: SessionId,
): Effect.fn.Return<Session, StoreError, Disk.Service | Lock.Service> {
  const disk = yield* Disk.Service
  const lock = yield* Lock.Service
  const directory = Layout.sessionPath(home, id)
  yield* Layout.existing("session", id, directory)
  const on = <A, E>(effect: Effect.Effect<A, E, Disk.Service | Lock.Service>): Effect.Effect<A, E> =>
    effect.pipe(Effect.provideService(Disk.Service, disk), Effect.provideService(Lock.Service, lock))
  const transcript = transcriptOf(directory)
  return {
    id,
    summary: on(summary(home, id)),
    info: on(readInfo(directory, id)),
    warnings: [],
    records: Stream.provideService(Transcript.records(transcript), Disk.Service, disk),
    items: on(Transcript.items(transcript)),
    children: on(Effect.map(Transcript.children(transcript), (last) => [...last.values()])),
    subagents: yield* SubagentReader.make({ home, sessionId: id, directory, isLive: on(SessionFiles.isLive(directory)) }),
  }
})

export * as SessionReading from "./SessionReading.ts"
