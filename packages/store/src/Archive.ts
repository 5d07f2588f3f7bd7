import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { is as isAgentId, uuid } from "./AgentId.ts"
import { sha256Stream } from "./Checksum.ts"
import { Disk } from "./Disk.ts"
import * as Document from "./Document.ts"
import { isObject, type JsonObject } from "./Json.ts"
import * as Layout from "./Layout.ts"
import { intactEnd } from "./LogReader.ts"
import { writeNew } from "./LogRecovery.ts"
import * as SessionDocument from "./SessionDocument.ts"
import type { SessionId } from "./SessionId.ts"
import { AlreadyExists, Corrupt, Invalid, of, ofDisk, type StoreError } from "./StoreError.ts"
import * as Tree from "./Tree.ts"

/** The list of what an export holds. */
export const manifestFile = "manifest.json"
const format: Document.Format = { schema: "session.export", version: 1 }

const fileLimit = 1_000_000

interface Listed {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
}

const isLog = (path: string): boolean => /(^|\/)(transcript(\.\d{6,})?\.jsonl|wire(\.\d{6,})?\.log)$/.test(path)

/** Documents go first, so that each log reaches at least as far as the snapshot that names a place in it. */
const documentsFirst = (a: Tree.Entry, b: Tree.Entry): number => Number(isLog(a.path)) - Number(isLog(b.path))

/**
 * Copies a session with its agents to a new directory, with a manifest of sizes and checksums. Takes no lock: a log is copied up to its last whole line, and
 * nothing that was acknowledged before the call is missing. The system prompts and conversations go with it: whoever gets the copy can read them.
 */
export const exportTo = Effect.fn("Archive.exportTo")(function* (
  session: string,
  id: SessionId,
  target: string,
): Effect.fn.Return<ReadonlyArray<Listed>, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  yield* Layout.existing("session", id, session)
  if ((yield* disk.stat(target).pipe(Effect.mapError(ofDisk))) !== undefined) {
    return yield* of(new Invalid({ what: "export", why: `${target} exists already` }))
  }
  for (let tries = 0; tries < 3; tries++) {
    yield* Layout.ensureDirectory(target)
    const listed = yield* copyAll(session, target)
    if (yield* isComplete(session, listed)) {
      const at = new Date(yield* Clock.currentTimeMillis).toISOString()
      const files = listed as unknown as ReadonlyArray<JsonObject>
      yield* Document.write(`${target}/${manifestFile}`, { ...format, min_reader: 1, session_id: id, exported_at: at, files })
      return listed
    }
    yield* disk.removeTree(target).pipe(Effect.mapError(ofDisk))
  }
  return yield* of(new Invalid({ what: "export", why: "the session's logs were rotated again and again meanwhile; try again" }))
})

/** A log that was rotated while it was copied has a sealed file that the copy lacks. */
const isComplete = (session: string, listed: ReadonlyArray<Listed>): Effect.Effect<boolean, StoreError, Disk.Service> =>
  Effect.map(Tree.files(session), (files) => {
    const copied = new Set(listed.map((file) => file.path))
    return files.every((file) => !isLog(file.path) || copied.has(file.path))
  })

const copyAll = Effect.fnUntraced(function* (
  session: string,
  target: string,
): Effect.fn.Return<ReadonlyArray<Listed>, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const listed: Array<Listed> = []
  for (const { path } of [...(yield* Tree.files(session))].sort(documentsFirst)) {
    const source = `${session}/${path}`
    const bytes = isLog(path) ? yield* intactEnd(source) : ((yield* disk.stat(source).pipe(Effect.mapError(ofDisk)))?.size ?? 0)
    const parent = path.includes("/") ? `${target}/${path.slice(0, path.lastIndexOf("/"))}` : target
    yield* Layout.ensureDirectory(parent)
    const hash = sha256Stream()
    yield* Tree.copy(source, `${target}/${path}`, bytes, hash.update)
    listed.push({ path, bytes, sha256: hash.hex() })
  }
  return listed
})

/**
 * Makes a session of an export, under its own id, whole or not at all: every file that the manifest names, none besides, each with its size and checksum.
 * `AlreadyExists` where the id is taken.
 */
export const importFrom = Effect.fn("Archive.importFrom")(function* (
  home: string,
  source: string,
): Effect.fn.Return<SessionId, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const path = `${source}/${manifestFile}`
  const manifest = yield* Document.read(path)
  if (manifest === undefined) return yield* of(new Invalid({ what: "import", why: `${source} holds no ${manifestFile}` }))
  yield* Document.checkWritable(path, manifest, format)
  const id = yield* Layout.sessionId(String(manifest.session_id))
  const files = yield* listedIn(path, manifest)
  const target = Layout.sessionPath(home, id)
  const taken = of(new AlreadyExists({ what: "session", id }))
  if ((yield* disk.stat(target).pipe(Effect.mapError(ofDisk))) !== undefined) return yield* taken
  yield* Layout.ensureDirectory(Layout.sessionsPath(home))
  const staging = `${Layout.sessionsPath(home)}/${Layout.stagingPrefix}${id}.${yield* uuid}`
  const fill = Effect.gen(function* () {
    yield* disk.makeDirectory(staging).pipe(Effect.mapError(ofDisk))
    const made = new Set([staging])
    for (const file of files) {
      const to = `${staging}/${file.path}`
      const parent = to.slice(0, to.lastIndexOf("/"))
      if (!made.has(parent)) yield* Layout.ensureDirectory(parent)
      made.add(parent)
      const hash = sha256Stream()
      yield* Tree.copy(`${source}/${file.path}`, to, file.bytes + 1, hash.update)
      if (hash.hex() !== file.sha256) {
        return yield* of(new Corrupt({ path: `${source}/${file.path}`, why: "it is not what the manifest says" }))
      }
    }
    const info = yield* Document.read(`${staging}/${Layout.sessionFile}`)
    yield* SessionDocument.view(`${source}/${Layout.sessionFile}`, info ?? {}, id)
    yield* writeNew(`${staging}/${Layout.lockFile}`, new Uint8Array(0))
    for (const directory of made) yield* disk.syncDirectory(directory).pipe(Effect.mapError(ofDisk))
    yield* disk
      .rename(staging, target)
      .pipe(Effect.mapError((error) => (error.code === "ENOTEMPTY" || error.code === "EEXIST" ? taken : ofDisk(error))))
    yield* disk.syncDirectory(Layout.sessionsPath(home)).pipe(Effect.mapError(ofDisk))
  })
  yield* Effect.uninterruptible(Effect.tapError(fill, () => Effect.ignore(disk.removeTree(staging))))
  return id
})

/** The files of a manifest, refused where a name could lead anywhere but into the session. */
const listedIn = (path: string, manifest: JsonObject): Effect.Effect<ReadonlyArray<Listed>, StoreError> => {
  const files = Array.isArray(manifest.files) ? (manifest.files as ReadonlyArray<unknown>) : []
  const wrong = (why: string) => Effect.fail(of(new Corrupt({ path, why })))
  if (files.length === 0 || files.length > fileLimit) return wrong("it lists no files, or too many")
  for (const file of files) {
    if (
      !isObject(file) ||
      typeof file.path !== "string" ||
      !Number.isSafeInteger(file.bytes) ||
      typeof file.sha256 !== "string"
    ) {
      return wrong("an entry is malformed")
    }
    if (!isAllowed(file.path)) return wrong(`${JSON.stringify(file.path)} is no file of a session`)
  }
  return Effect.succeed(files as ReadonlyArray<Listed>)
}

const isAllowed = (path: string): boolean => {
  const parts = path.split("/")
  if (parts.some((part) => part === "" || part.startsWith(".") || part.includes("\\") || part.includes("\0"))) return false
  if (parts.length === 1) return path === Layout.sessionFile || isLog(path)
  if (parts[0] === Layout.artifactsName) return true
  return parts.length === 3 && parts[0] === Layout.subagentsName && isAgentId(parts[1] as string)
}

export * as Archive from "./Archive.ts"
