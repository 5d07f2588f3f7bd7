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
 * Copies a session with its agents to a new directory, with a manifest of sizes and checksums; where it fails or is interrupted nothing of that is left.
 * Takes no lock: a log is copied up to its last whole line, and nothing that was acknowledged before the call is missing. The system prompts and
 * conversations go with it: whoever gets the copy can read them.
 */
export const exportTo = Effect.fn("Archive.exportTo")(function* (
  session: string,
  id: SessionId,
  target: string,
  onCopied: OnCopied = () => {},
): Effect.fn.Return<Copied, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  yield* Layout.existing("session", id, session)
  yield* Layout.ensureDirectory(target.slice(0, target.lastIndexOf("/")) || "/")
  const taken = of(new Invalid({ what: "export", why: `${target} exists already; name a directory that does not` }))
  yield* disk.makeDirectory(target).pipe(Effect.mapError((error) => (error.code === "EEXIST" ? taken : ofDisk(error))))
  const fill = Effect.gen(function* () {
    for (let tries = 0; tries < 3; tries++) {
      const files = yield* copyAll(session, target, onCopied)
      if (files !== undefined && (yield* isComplete(session, files))) {
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

/** A log that was rotated while it was copied has a sealed file that the copy lacks. */
const isComplete = (session: string, listed: ReadonlyArray<Manifest.Listed>): Effect.Effect<boolean, StoreError, Disk.Service> =>
  Effect.map(Tree.files(session), (files) => {
    const copied = new Set(listed.map((file) => file.path))
    return files.every((file) => !Manifest.isLog(file.path) || copied.has(file.path))
  })

/** Copies every file; `undefined` where one went away meanwhile. */
const copyAll = Effect.fnUntraced(function* (
  session: string,
  target: string,
  onCopied: OnCopied,
): Effect.fn.Return<ReadonlyArray<Manifest.Listed> | undefined, StoreError, Disk.Service> {
  const listed: Array<Manifest.Listed> = []
  const files = [...(yield* Tree.files(session))].sort(documentsFirst)
  const count = counter(
    onCopied,
    files.reduce((sum, file) => sum + file.bytes, 0),
  )
  for (const { path } of files) {
    const source = `${session}/${path}`
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
  return listed
})

/**
 * Makes a session of an export, under its own id, whole or not at all: every file that the manifest names, none besides, each with its size and checksum.
 * `AlreadyExists` where the id is taken. The scope holds the session's lock; what a death leaves the next creation or deletion removes.
 */
export const importFrom = Effect.fn("Archive.importFrom")(function* (
  home: string,
  source: string,
  onCopied: OnCopied = () => {},
): Effect.fn.Return<Copied, StoreError, Disk.Service | Lock.Service | Scope.Scope> {
  const disk = yield* Disk.Service
  const manifest = yield* Manifest.read(source)
  const { id, files } = manifest
  const target = Layout.sessionPath(home, id)
  const taken = of(new AlreadyExists({ what: "session", id }))
  if ((yield* disk.stat(target).pipe(Effect.mapError(ofDisk))) !== undefined) return yield* taken
  const sessions = Layout.sessionsPath(home)
  yield* Layout.ensureDirectory(sessions)
  const staging = `${sessions}/${Layout.stagingPrefix}${id}.${yield* uuid}`
  const copied = copiedOf(manifest)
  const count = counter(onCopied, copied.bytes)
  const fill = Effect.gen(function* () {
    yield* disk.makeDirectory(staging).pipe(Effect.mapError(ofDisk))
    yield* writeNew(`${staging}/${Layout.lockFile}`, new Uint8Array(0))
    yield* SessionFiles.hold(staging, id)
    const made = new Set([staging])
    for (const file of files) {
      const cut = file.path.lastIndexOf("/") + 1
      const parent = `${staging}/${file.path.slice(0, cut)}`.slice(0, -1)
      if (!made.has(parent)) {
        yield* Layout.ensureDirectory(parent)
        made.add(parent)
      }
      yield* checkSource(source, file.path)
      const hash = sha256Stream()
      const bytes = yield* Tree.copy(`${source}/${file.path}`, `${staging}/${file.path}`, file.bytes + 1, (chunk) => {
        hash.update(chunk)
        count(chunk)
      })
      if (bytes !== file.bytes || hash.hex() !== file.sha256) {
        return yield* Manifest.damaged(`${source}/${file.path}`, "it is not what the manifest says")
      }
    }
    const info = (yield* Document.read(`${staging}/${Layout.sessionFile}`)) ?? {}
    const document = `${source}/${Layout.sessionFile}`
    yield* Document.checkWritable(document, info, SessionDocument.format)
    yield* SessionDocument.view(document, info, id)
    for (const directory of made) yield* disk.syncDirectory(directory).pipe(Effect.mapError(ofDisk))
    const rename = disk
      .rename(staging, target)
      .pipe(Effect.mapError((error) => (error.code === "ENOTEMPTY" || error.code === "EEXIST" ? taken : ofDisk(error))))
    const named = disk.syncDirectory(sessions).pipe(
      Effect.tapError(() => Effect.ignore(disk.rename(target, staging))),
      Effect.mapError(ofDisk),
    )
    yield* Effect.uninterruptible(Effect.andThen(rename, named))
    return copied
  })
  return yield* Effect.onError(fill, () => Effect.ignore(disk.removeTree(staging)))
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
