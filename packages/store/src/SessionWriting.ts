import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type { ChildRecord } from "./ChildRecord.ts"
import { Disk } from "./Disk.ts"
import * as Document from "./Document.ts"
import type { Health } from "./Health.ts"
import { type JsonObject, stringify } from "./Json.ts"
import * as Layout from "./Layout.ts"
import type { Lock } from "./Lock.ts"
import { open as openLog } from "./Log.ts"
import * as Revision from "./Revision.ts"
import type { SessionInfo, SessionWriter, TranscriptRecord } from "./Session.ts"
import * as SessionDocument from "./SessionDocument.ts"
import * as SessionFiles from "./SessionFiles.ts"
import type { SessionId } from "./SessionId.ts"
import * as SessionReading from "./SessionReading.ts"
import { Corrupt, of, ofDisk, type StoreError } from "./StoreError.ts"
import * as SubagentRecovery from "./SubagentRecovery.ts"
import * as SubagentWriter from "./SubagentWriter.ts"
import * as Transcript from "./Transcript.ts"
import type { Warning } from "./Warning.ts"

type Needs = Disk.Service | Lock.Service

/** What a session that is open for writing tells the store. */
export interface Hooks {
  readonly onHealth: Health.Watch["report"]
  /** An agent is about to be deleted; where this fails it stays. */
  readonly onDelete: (agent: string) => Effect.Effect<void, StoreError>
}

/** Opens an existing session for writing: lock, versions, then repairs. A newer format is refused before anything is written. */
export const open = Effect.fn("SessionWriting.open")(function* (
  home: string,
  id: SessionId,
  hooks: Hooks,
  visit: (record: TranscriptRecord) => void = () => {},
): Effect.fn.Return<SessionWriter, StoreError, Needs | Scope.Scope> {
  const disk = yield* Disk.Service
  const directory = Layout.sessionPath(home, id)
  const sessions = yield* Layout.directory(Layout.sessionsPath(home))
  yield* Layout.existing("session", id, directory, sessions?.uid)
  yield* SessionFiles.hold(directory, id)
  const path = `${directory}/${Layout.sessionFile}`
  const raw = yield* Document.read(path)
  if (raw === undefined) return yield* of(new Corrupt({ path, why: "it is missing" }))
  yield* Document.checkWritable(path, raw, SessionDocument.format)
  yield* SessionDocument.view(path, raw, id)
  const around = yield* Effect.orElseSucceed(narrow(Layout.sessionsPath(home)), () => [])
  const warnings: Array<Warning> = [...around, ...(yield* narrow(directory))]
  for (const name of (yield* disk.list(directory).pipe(Effect.mapError(ofDisk))) ?? []) {
    if (Document.isTemporary(name)) yield* disk.unlink(`${directory}/${name}`).pipe(Effect.mapError(ofDisk))
  }
  return yield* writer(home, id, raw, warnings, hooks, visit)
})

/** Makes the directory ours alone where its mode lets others in. */
const narrow = Effect.fnUntraced(function* (directory: string): Effect.fn.Return<Array<Warning>, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const stat = yield* disk.stat(directory).pipe(Effect.mapError(ofDisk))
  if (stat === undefined || (stat.mode & 0o077) === 0) return []
  yield* disk.chmod(directory, 0o700).pipe(Effect.mapError(ofDisk))
  return [{ kind: "wide_mode", path: directory, message: `its mode was ${stat.mode.toString(8)}; others can no longer enter` }]
})

/** The handle of a session whose lock is ours. */
export const writer = Effect.fnUntraced(function* (
  home: string,
  id: SessionId,
  initial: JsonObject,
  found: ReadonlyArray<Warning>,
  hooks: Hooks,
  visit: (record: TranscriptRecord) => void = () => {},
): Effect.fn.Return<SessionWriter, StoreError, Needs | Scope.Scope> {
  const disk = yield* Disk.Service
  const directory = Layout.sessionPath(home, id)
  const path = `${directory}/${Layout.sessionFile}`
  const name = SessionReading.transcriptOf(directory)
  const reader = yield* SessionReading.open(home, id)
  const children = new Map<string, ChildRecord>()
  const note = (record: TranscriptRecord): void => {
    if (record.kind === "child") children.set(record.child.id, record.child)
    visit(record)
  }
  yield* Stream.runForEach(Transcript.sealed(name), (record) => Effect.sync(() => note(record)))
  const log = yield* openLog({
    name,
    identity: { session_id: id },
    supported: Transcript.supported,
    visit: (record) => note(Transcript.decode(record)),
    onHealth: (next) => hooks.onHealth(directory, next),
  })
  const recovered = yield* SubagentRecovery.run(directory, id, children)
  const subagents = yield* SubagentWriter.make({ home, sessionId: id, directory, isLive: Effect.succeed(true), ...hooks })

  let raw = initial
  const mutex = Semaphore.makeUnsafe(1)
  const rename = Effect.fnUntraced(function* (title: string | undefined): Effect.fn.Return<SessionInfo, StoreError> {
    yield* SessionDocument.checkTitle(title)
    const next = Revision.next(raw, { title }, yield* Clock.currentTimeMillis)
    yield* Effect.provideService(Document.write(path, next), Disk.Service, disk)
    raw = next
    return yield* SessionDocument.view(path, raw, id)
  })
  const appendChild = Effect.fn("SessionWriter.appendChild")(function* (record: ChildRecord) {
    yield* Transcript.checkChild(record)
    const receipt = yield* log.append("child", Transcript.childVersion, stringify(record), "disk")
    children.set(record.id, record)
    return receipt
  })

  return {
    ...reader,
    info: Effect.suspend(() => SessionDocument.view(path, raw, id)),
    warnings: [...found, ...log.warnings, ...recovered],
    children: Effect.sync(() => [...children.values()]),
    appendItem: (item, level = "soon") => log.append("item", Transcript.itemVersion, stringify(item), level),
    appendReplacement: (items) => log.append("replacement", Transcript.itemVersion, stringify(items), "disk"),
    appendChild,
    rename: (title) => mutex.withPermit(Effect.uninterruptible(rename(title))),
    flush: log.flush,
    subagents,
  }
})

export * as SessionWriting from "./SessionWriting.ts"
