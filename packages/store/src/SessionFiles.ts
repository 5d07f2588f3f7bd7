import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { uuid } from "./AgentId.ts"
import { Disk } from "./Disk.ts"
import * as Document from "./Document.ts"
import type { JsonObject } from "./Json.ts"
import * as Layout from "./Layout.ts"
import { Lock } from "./Lock.ts"
import { onlyLine, writeNew } from "./LogRecovery.ts"
import type { Initial } from "./SessionDocument.ts"
import * as SessionDocument from "./SessionDocument.ts"
import { AlreadyExists, type Holder, Locked, NotFound, of, ofDisk, type StoreError } from "./StoreError.ts"
import { StoreLimits } from "./StoreLimits.ts"
import * as Trash from "./Trash.ts"

type Needs = Disk.Service | Lock.Service

/**
 * Makes a session's directory and holds its lock for the scope, or leaves nothing: staged apart, locked, synced, then renamed. Nobody can come between.
 */
export const create = Effect.fn("SessionFiles.create")(function* (
  home: string,
  initial: Omit<Initial, "now">,
): Effect.fn.Return<void, StoreError, Needs | Scope.Scope> {
  const disk = yield* Disk.Service
  const { id } = initial
  const target = Layout.sessionPath(home, id)
  const taken = of(new AlreadyExists({ what: "session", id }))
  if ((yield* disk.stat(target).pipe(Effect.mapError(ofDisk))) !== undefined) return yield* taken
  yield* Layout.ensureDirectory(Layout.sessionsPath(home))
  yield* sweep(home)
  const staging = `${Layout.sessionsPath(home)}/${Layout.stagingPrefix}${id}.${yield* uuid}`
  const now = yield* Clock.currentTimeMillis
  const fill = Effect.gen(function* () {
    yield* disk.makeDirectory(staging).pipe(Effect.mapError(ofDisk))
    yield* writeNew(`${staging}/${Layout.lockFile}`, new Uint8Array(0))
    yield* hold(staging, id)
    yield* disk.makeDirectory(`${staging}/${Layout.subagentsName}`).pipe(Effect.mapError(ofDisk))
    const transcript = `${Layout.transcriptLog.base}${Layout.transcriptLog.extension}`
    yield* writeNew(`${staging}/${Layout.sessionFile}`, Document.encode(SessionDocument.initial({ ...initial, now })))
    yield* writeNew(`${staging}/${transcript}`, onlyLine({ session_id: id }, now))
    yield* disk.syncDirectory(staging).pipe(Effect.mapError(ofDisk))
    yield* disk
      .rename(staging, target)
      .pipe(Effect.mapError((error) => (error.code === "ENOTEMPTY" || error.code === "EEXIST" ? taken : ofDisk(error))))
  }).pipe(Effect.tapError(() => Effect.ignore(disk.removeTree(staging))))
  yield* Effect.uninterruptible(Effect.andThen(fill, disk.syncDirectory(Layout.sessionsPath(home)).pipe(Effect.mapError(ofDisk))))
})

/** Milliseconds since it was begun in which a creation may have made its lock file without holding the lock yet. */
const stagingGrace = 10_000

/** When a creation was begun, in Unix milliseconds, as the id at the end of its directory's name says. */
const begun = (name: string): number => Number.parseInt(name.slice(-36).replace("-", "").slice(0, 12), 16)

/**
 * Removes what creations and deletions left that died half-way. A creation that is under way holds its lock, or is about to take it, and is left alone.
 */
export const sweep = Effect.fnUntraced(function* (home: string): Effect.fn.Return<void, StoreError, Needs> {
  const disk = yield* Disk.Service
  const lock = yield* Lock.Service
  const directory = Layout.sessionsPath(home)
  yield* Trash.sweep(directory)
  const now = yield* Clock.currentTimeMillis
  for (const name of (yield* disk.list(directory).pipe(Effect.mapError(ofDisk))) ?? []) {
    if (!name.startsWith(Layout.stagingPrefix) || now - begun(name) < stagingGrace) continue
    const path = `${directory}/${name}`
    const file = yield* disk.stat(`${path}/${Layout.lockFile}`).pipe(Effect.orElseSucceed(() => undefined))
    const dead = file !== undefined && !(yield* lock.isHeld(`${path}/${Layout.lockFile}`).pipe(Effect.orElseSucceed(() => true)))
    if (dead) yield* disk.removeTree(path).pipe(Effect.mapError(ofDisk))
  }
})

/** Takes the lock of a session's directory for the scope and says who we are beside it; `Locked` names the holder. */
export const hold = Effect.fn("SessionFiles.hold")(
  function* (directory: string, id: string): Effect.fn.Return<void, StoreError, Needs | Scope.Scope> {
    const disk = yield* Disk.Service
    const lock = yield* Lock.Service
    const limits = yield* StoreLimits
    const path = `${directory}/${Layout.lockFile}`
    if ((yield* disk.stat(path).pipe(Effect.mapError(ofDisk))) === undefined) {
      yield* writeNew(path, new Uint8Array(0)).pipe(Effect.catch((error) => (isTaken(error) ? Effect.void : Effect.fail(error))))
    }
    const step = 5
    for (let waited = 0; !(yield* lock.acquire(path)); waited += step) {
      if (waited >= limits.lockMillis) return yield* of(new Locked({ session: id, holder: yield* holderOf(directory) }))
      yield* Effect.sleep(step)
    }
    yield* sign(directory, lock.self)
    if ((yield* disk.stat(path).pipe(Effect.mapError(ofDisk))) === undefined)
      return yield* of(new NotFound({ what: "session", id }))
  },
  (holding, directory, id) => Effect.catch(holding, (error) => gone(error, directory, id)),
)

/** Says who we are, for people. A full disk only keeps it from being said: the lock is the kernel's, and what frees space must not need any. */
const sign = Effect.fnUntraced(function* (
  directory: string,
  { pid, host }: Lock.Interface["self"],
): Effect.fn.Return<void, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const path = `${directory}/${Layout.holderFile}`
  const since = new Date(yield* Clock.currentTimeMillis).toISOString()
  yield* Document.write(path, { pid, host, since }, { durable: false }).pipe(
    Effect.catchIf(
      (error) => error.code === "NO_SPACE",
      () => Effect.ignore(disk.unlink(path)),
    ),
  )
})

/** The failure of a call on a session's directory; `NotFound` where somebody else has deleted it meanwhile. */
const gone = Effect.fnUntraced(function* (
  error: StoreError,
  directory: string,
  id: string,
): Effect.fn.Return<never, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const stat = yield* disk.stat(directory).pipe(Effect.mapError(ofDisk))
  return yield* stat === undefined ? of(new NotFound({ what: "session", id })) : error
})

const isTaken = (error: StoreError): boolean => error.reason._tag === "Io" && error.reason.reason === "EEXIST"

/** What the holder wrote about itself; never a proof that it lives. */
export const holderOf = (directory: string): Effect.Effect<Holder, never, Disk.Service> =>
  Document.read(`${directory}/${Layout.holderFile}`).pipe(
    Effect.orElseSucceed((): JsonObject => ({})),
    Effect.map((value) => ({
      pid: typeof value?.pid === "number" ? value.pid : null,
      host: typeof value?.host === "string" ? value.host : null,
      since: typeof value?.since === "string" ? value.since : null,
    })),
  )

/** Whether a process has the session open for writing. Looks without waiting. */
export const isLive = (directory: string): Effect.Effect<boolean, StoreError, Needs> =>
  Effect.gen(function* () {
    const disk = yield* Disk.Service
    const lock = yield* Lock.Service
    const path = `${directory}/${Layout.lockFile}`
    const stat = yield* disk.stat(path).pipe(Effect.mapError(ofDisk))
    return stat !== undefined && (yield* lock.isHeld(path))
  })

export * as SessionFiles from "./SessionFiles.ts"
