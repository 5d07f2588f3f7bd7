import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { uuid } from "./AgentId.ts"
import { sha256Stream } from "./Checksum.ts"
import { Disk } from "./Disk.ts"
import * as Document from "./Document.ts"
import * as Layout from "./Layout.ts"
import type { Lock } from "./Lock.ts"
import { intactEnd } from "./LogReader.ts"
import { writeNew } from "./LogRecovery.ts"
import { Manifest } from "./Manifest.ts"
import * as Nested from "./Nested.ts"
import * as SessionDocument from "./SessionDocument.ts"
import * as SessionFiles from "./SessionFiles.ts"
import type { SessionId } from "./SessionId.ts"
import { AlreadyExists, Corrupt, Invalid, of, ofDisk, type StoreError } from "./StoreError.ts"
import * as Tree from "./Tree.ts"

/** Is told how many bytes were copied so far, and how many there will be as far as is known. */
export type OnCopied = (bytes: number, of: number) => void

/** What was copied. */
export interface Copied {
  readonly id: SessionId
  readonly files: number
  readonly bytes: number
}

const copiedOf = ({ id, files }: Manifest.Manifest): Copied => ({
  id,
  files: files.length,
  bytes: files.reduce((sum, file) => sum + file.bytes, 0),
})

const counter = (onCopied: OnCopied, of: number) => {
  let copied = 0
  return (chunk: Uint8Array): void => {
    copied += chunk.length
    onCopied(copied, Math.max(copied, of))
  }
}

/** Documents go first, so that each log reaches at least as far as the snapshot that names a place in it. */
const documentsFirst = (a: Tree.Entry, b: Tree.Entry): number => Number(Manifest.isLog(a.path)) - Number(Manifest.isLog(b.path))

/**
 * Copies a session with its agents, and the sessions that nested Kits keep for those, to a new directory, with a manifest of sizes and checksums; where it
 * fails or is interrupted nothing of that is left. Takes no lock: a log is copied up to its last whole line, and nothing that was acknowledged before the call
 * is missing. The system prompts and conversations go with it: whoever gets the copy can read them.
 */
export const exportTo = Effect.fn("Archive.exportTo")(function* (
  home: string,
  id: SessionId,
  target: string,
  onCopied: OnCopied = () => {},
): Effect.fn.Return<Copied, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const session = Layout.sessionPath(home, id)
  yield* Layout.existing("session", id, session)
  yield* Layout.ensureDirectory(target.slice(0, target.lastIndexOf("/")) || "/")
  const taken = of(new Invalid({ what: "export", why: `${target} exists already; name a directory that does not` }))
  yield* disk.makeDirectory(target).pipe(Effect.mapError((error) => (error.code === "EEXIST" ? taken : ofDisk(error))))
  const fill = Effect.gen(function* () {
    for (let tries = 0; tries < 3; tries++) {
      const files = yield* copyAll(home, id, target, onCopied)
      if (files !== undefined) {
        if (!files.some(({ path }) => path === Layout.sessionFile)) {
          yield* Layout.existing("session", id, session)
          return yield* of(new Corrupt({ path: `${session}/${Layout.sessionFile}`, why: "it is missing" }))
        }
        yield* Manifest.write(target, { id, files }, yield* Clock.currentTimeMillis)
        return copiedOf({ id, files })
      }
      yield* disk.removeTree(target).pipe(Effect.andThen(disk.makeDirectory(target)), Effect.mapError(ofDisk))
    }
    return yield* of(
      new Invalid({ what: "export", why: "the session's files were replaced again and again meanwhile; try again" }),
    )
  })
  return yield* Effect.onError(fill, () => Effect.ignore(disk.removeTree(target)))
})

/** A file of a session, and its path in the export. */
interface Found extends Tree.Entry {
  readonly source: string
}

/** Every file of a session and of those nested in it, documents first. */
const filesOf = Effect.fnUntraced(function* (
  home: string,
  id: SessionId,
): Effect.fn.Return<ReadonlyArray<Found>, StoreError, Disk.Service> {
  const found: Array<Found> = []
  for (const one of [id, ...(yield* Nested.ofSession(home, id))]) {
    const directory = Layout.sessionPath(home, one)
    const prefix = Manifest.prefixOf({ id }, one)
    for (const { path, bytes } of yield* Tree.files(directory)) {
      found.push({ path: `${prefix}${path}`, bytes, source: `${directory}/${path}` })
    }
  }
  return found.sort(documentsFirst)
})

/** Copies every file; `undefined` where one went away meanwhile, or a log was rotated, so that the copy lacks a sealed file. */
const copyAll = Effect.fnUntraced(function* (
  home: string,
  id: SessionId,
  target: string,
  onCopied: OnCopied,
): Effect.fn.Return<ReadonlyArray<Manifest.Listed> | undefined, StoreError, Disk.Service> {
  const listed: Array<Manifest.Listed> = []
  const files = yield* filesOf(home, id)
  const count = counter(
    onCopied,
    files.reduce((sum, file) => sum + file.bytes, 0),
  )
  for (const { path, source } of files) {
    const parent = path.includes("/") ? `${target}/${path.slice(0, path.lastIndexOf("/"))}` : target
    yield* Layout.ensureDirectory(parent)
    const hash = sha256Stream()
    const seen = (chunk: Uint8Array): void => {
      hash.update(chunk)
      count(chunk)
    }
    const copying = Effect.flatMap(Manifest.isLog(path) ? intactEnd(source) : Effect.succeed(Number.POSITIVE_INFINITY), (end) =>
      Tree.copy(source, `${target}/${path}`, end, seen),
    )
    const bytes = yield* copying.pipe(
      Effect.catchIf(
        ({ reason }) => reason._tag === "Io" && reason.reason === "ENOENT",
        () => Effect.succeed(undefined),
      ),
    )
    if (bytes === undefined) return undefined
    listed.push({ path, bytes, sha256: hash.hex() })
  }
  const copied = new Set(listed.map((file) => file.path))
  const isComplete = (yield* filesOf(home, id)).every((file) => !Manifest.isLog(file.path) || copied.has(file.path))
  return isComplete ? listed : undefined
})

/**
 * Makes the sessions of an export, under their own ids, all of them whole or none at all: every file that the manifest names, none besides, each with its
 * size and checksum. `AlreadyExists` where an id is taken. The scope holds their locks; what a death leaves in the making the next creation or deletion
 * removes.
 */
export const importFrom = Effect.fn("Archive.importFrom")(function* (
  home: string,
  source: string,
  onCopied: OnCopied = () => {},
): Effect.fn.Return<Copied, StoreError, Disk.Service | Lock.Service | Scope.Scope> {
  const disk = yield* Disk.Service
  const manifest = yield* Manifest.read(source)
  const sessions = Manifest.sessionsOf(manifest)
  const parent = Layout.sessionsPath(home)
  for (const { id } of sessions) {
    if ((yield* disk.stat(Layout.sessionPath(home, id)).pipe(Effect.mapError(ofDisk))) !== undefined) return yield* taken(id)
  }
  yield* Layout.ensureDirectory(parent)
  const copied = copiedOf(manifest)
  const count = counter(onCopied, copied.bytes)
  const staged: Array<{ readonly id: SessionId; readonly staging: string }> = []
  const fill = Effect.gen(function* () {
    for (const session of sessions) {
      const staging = `${parent}/${Layout.stagingPrefix}${session.id}.${yield* uuid}`
      staged.push({ id: session.id, staging })
      yield* stage(source, staging, session, count)
      const path = `${source}/${session.prefix}${Layout.sessionFile}`
      const info = (yield* Document.read(`${staging}/${Layout.sessionFile}`)) ?? {}
      yield* Document.checkWritable(path, info, SessionDocument.format)
      const { origin } = yield* SessionDocument.view(path, info, session.id)
      if (session.id !== manifest.id && origin !== "subagent") return yield* Manifest.damaged(path, "it is not that of an agent")
    }
    yield* Effect.uninterruptible(reveal(parent, staged))
    return copied
  })
  const undo = Effect.suspend(() =>
    Effect.forEach(staged, ({ staging }) => Effect.ignore(disk.removeTree(staging)), { discard: true }),
  )
  return yield* Effect.onError(fill, () => undo)
})

const taken = (id: SessionId): StoreError => of(new AlreadyExists({ what: "session", id }))

/** Gives staged sessions their names, the last one last; where one cannot have its name, none has. */
const reveal = Effect.fnUntraced(function* (
  parent: string,
  staged: ReadonlyArray<{ readonly id: SessionId; readonly staging: string }>,
): Effect.fn.Return<void, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const named: Array<{ readonly id: SessionId; readonly staging: string }> = []
  const all = Effect.gen(function* () {
    for (const session of staged) {
      yield* disk
        .rename(session.staging, `${parent}/${session.id}`)
        .pipe(
          Effect.mapError((error) => (error.code === "ENOTEMPTY" || error.code === "EEXIST" ? taken(session.id) : ofDisk(error))),
        )
      named.push(session)
    }
    yield* disk.syncDirectory(parent).pipe(Effect.mapError(ofDisk))
  })
  yield* Effect.tapError(all, () =>
    Effect.forEach(named.toReversed(), ({ id, staging }) => Effect.ignore(disk.rename(`${parent}/${id}`, staging)), {
      discard: true,
    }),
  )
})

/** Copies the files of one session of an export to a directory that is made, locked for the scope, and on disk. */
const stage = Effect.fnUntraced(function* (
  source: string,
  staging: string,
  { id, prefix, files }: ReturnType<typeof Manifest.sessionsOf>[number],
  count: (chunk: Uint8Array) => void,
): Effect.fn.Return<void, StoreError, Disk.Service | Lock.Service | Scope.Scope> {
  const disk = yield* Disk.Service
  yield* disk.makeDirectory(staging).pipe(Effect.mapError(ofDisk))
  yield* writeNew(`${staging}/${Layout.lockFile}`, new Uint8Array(0))
  yield* SessionFiles.hold(staging, id)
  const made = new Set([staging])
  for (const file of files) {
    const target = `${staging}/${file.path.slice(prefix.length)}`
    const parent = target.slice(0, target.lastIndexOf("/"))
    if (!made.has(parent)) yield* Layout.ensureDirectory(parent)
    made.add(parent)
    yield* checkSource(source, file.path)
    const hash = sha256Stream()
    const bytes = yield* Tree.copy(`${source}/${file.path}`, target, file.bytes + 1, (chunk) => {
      hash.update(chunk)
      count(chunk)
    })
    if (bytes !== file.bytes || hash.hex() !== file.sha256) {
      return yield* Manifest.damaged(`${source}/${file.path}`, "it is not what the manifest says")
    }
  }
  for (const directory of made) yield* disk.syncDirectory(directory).pipe(Effect.mapError(ofDisk))
})

/** A file of an export must be one, and nothing on the way to it may be a link. */
const checkSource = Effect.fnUntraced(function* (
  source: string,
  relative: string,
): Effect.fn.Return<void, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  for (let at = relative.indexOf("/"); at >= 0; at = relative.indexOf("/", at + 1)) {
    const parent = `${source}/${relative.slice(0, at)}`
    const kind = (yield* disk.stat(parent).pipe(Effect.mapError(ofDisk)))?.kind ?? "directory"
    if (kind !== "directory") return yield* Manifest.damaged(parent, `${Layout.article(kind)} stands where a directory belongs`)
  }
  const path = `${source}/${relative}`
  const kind = (yield* disk.stat(path).pipe(Effect.mapError(ofDisk)))?.kind
  if (kind === "file") return
  const why =
    kind === undefined ? "it is missing, and the manifest lists it" : `${Layout.article(kind)} stands where a file belongs`
  return yield* Manifest.damaged(path, why)
})

export * as Archive from "./Archive.ts"
