import * as Effect from "effect/Effect"
import { is as isAgentId } from "./AgentId.ts"
import { Disk } from "./Disk.ts"
import * as Document from "./Document.ts"
import { isObject, type JsonObject } from "./Json.ts"
import * as Layout from "./Layout.ts"
import type { SessionId } from "./SessionId.ts"
import { Corrupt, Invalid, of, ofDisk, type StoreError } from "./StoreError.ts"

/** The list of what an export holds, in its directory. */
export const file = "manifest.json"

const format: Document.Format = { schema: "session.export", version: 1 }

const filesLimit = 100_000
const bytesLimit = 64 * 1024 * 1024

/** One file of an export. */
export interface Listed {
  /** Relative to the session's directory, with slashes. */
  readonly path: string
  readonly bytes: number
  /** In lower case hex. */
  readonly sha256: string
}

/** What an export is of, and all that it holds. */
export interface Manifest {
  readonly id: SessionId
  readonly files: ReadonlyArray<Listed>
}

/** Writes the manifest, last of all: a directory without one is no export. */
export const write = (directory: string, { id, files }: Manifest, at: number): Effect.Effect<void, StoreError, Disk.Service> =>
  Document.write(`${directory}/${file}`, {
    ...format,
    min_reader: 1,
    session_id: id,
    exported_at: new Date(at).toISOString(),
    files: files as unknown as ReadonlyArray<JsonObject>,
  })

/**
 * Reads the manifest of an export that anybody may have made: refused where it is too large, of a newer format, malformed, names a file twice, or a name
 * could lead anywhere but into its sessions.
 */
export const read = Effect.fn("Manifest.read")(function* (
  directory: string,
): Effect.fn.Return<Manifest, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const path = `${directory}/${file}`
  const kind = (yield* disk.stat(directory).pipe(Effect.mapError(ofDisk)))?.kind
  if (kind === undefined || kind === "file" || kind === "other") {
    const why = kind === undefined ? `there is no ${directory}` : `${directory} is ${Layout.article(kind)} and no directory`
    return yield* of(new Invalid({ what: "import", why: `${why}; name a directory that kit sessions export made` }))
  }
  const stat = yield* disk.stat(path).pipe(Effect.mapError(ofDisk))
  if (stat === undefined) {
    return yield* of(
      new Invalid({ what: "import", why: `${directory} holds no ${file}; name a directory that kit sessions export made` }),
    )
  }
  const wrong = (why: string) => damaged(path, why)
  if (stat.kind !== "file") return yield* wrong(`${Layout.article(stat.kind)} stands where a file belongs`)
  if (stat.size > bytesLimit) return yield* wrong(`${stat.size} bytes are more than the limit of ${bytesLimit}`)
  const raw = (yield* Document.read(path)) ?? {}
  yield* Document.checkWritable(path, raw, format)
  const id = yield* Layout.sessionId(String(raw.session_id))
  const files = Array.isArray(raw.files) ? (raw.files as ReadonlyArray<unknown>) : []
  if (files.length === 0 || files.length > filesLimit) return yield* wrong(`it lists no files, or more than ${filesLimit}`)
  const seen = new Set<string>()
  for (const entry of files) {
    if (!isListed(entry)) return yield* wrong("an entry is malformed")
    if (!isAllowed(entry.path)) return yield* wrong(`${JSON.stringify(entry.path)} is no file of a session`)
    if (seen.has(entry.path)) return yield* wrong(`it lists ${JSON.stringify(entry.path)} twice`)
    seen.add(entry.path)
  }
  const sessions = sessionsOf({ id, files: files as ReadonlyArray<Listed> })
  if (!sessions.every(({ prefix }) => seen.has(`${prefix}${Layout.sessionFile}`))) {
    return yield* wrong(`it lists no ${Layout.sessionFile} for one of its sessions`)
  }
  return { id, files: files as ReadonlyArray<Listed> }
})

/** Where the sessions of agents stand in an export, one directory each. */
export const nestedName = "nested"

/** What stands before the paths of a session in an export. */
export const prefixOf = (manifest: Pick<Manifest, "id">, id: SessionId): string =>
  id === manifest.id ? "" : `${nestedName}/${id}/`

/** The sessions of an export with their files, the one that it is of last. */
export const sessionsOf = (
  manifest: Manifest,
): ReadonlyArray<{ readonly id: SessionId; readonly prefix: string; readonly files: ReadonlyArray<Listed> }> => {
  const byId = new Map<SessionId, Array<Listed>>()
  for (const entry of manifest.files) {
    const id = entry.path.startsWith(`${nestedName}/`) ? (entry.path.split("/")[1] as SessionId) : manifest.id
    const files = byId.get(id)
    if (files === undefined) byId.set(id, [entry])
    else files.push(entry)
  }
  const inner = [...byId].filter(([id]) => id !== manifest.id)
  return [...inner, [manifest.id, byId.get(manifest.id) ?? []] as const].map(([id, files]) => ({
    id,
    prefix: prefixOf(manifest, id),
    files,
  }))
}

/** A file of an export is not what it should be. */
export const damaged = (path: string, why: string): StoreError =>
  of(new Corrupt({ path, why, remedy: "nothing was imported; make the export again with: kit sessions export" }))

const isListed = (entry: unknown): entry is Listed =>
  isObject(entry) &&
  typeof entry.path === "string" &&
  typeof entry.sha256 === "string" &&
  typeof entry.bytes === "number" &&
  Number.isSafeInteger(entry.bytes) &&
  entry.bytes >= 0

/** Whether a path is that of a transcript or a wire log, sealed segments included. */
export const isLog = (path: string): boolean => /(^|\/)(transcript(\.\d{6,})?\.jsonl|wire(\.\d{6,})?\.log)$/.test(path)

const isAllowed = (path: string): boolean => {
  const parts = path.split("/")
  if (parts[0] === nestedName && parts.length > 2 && isAgentId(parts[1] as string)) parts.splice(0, 2)
  if (parts.some((part) => part === "" || part.startsWith(".") || part.includes("\\") || part.includes("\0"))) return false
  if (parts.length === 1) return parts[0] === Layout.sessionFile || isLog(parts[0] as string)
  if (parts[0] === Layout.artifactsName) return true
  return parts.length === 3 && parts[0] === Layout.subagentsName && isAgentId(parts[1] as string)
}

export * as Manifest from "./Manifest.ts"
