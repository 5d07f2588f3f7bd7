import * as Effect from "effect/Effect"
import { is as isAgentId } from "./AgentId.ts"
import { Disk, type Stat } from "./Disk.ts"
import { problem, type SessionId } from "./SessionId.ts"
import { Corrupt, Denied, InvalidId, NotFound, notOurs, of, ofDisk, type StoreError } from "./StoreError.ts"

/**
 * Where things lie under Kit's home. Only this file turns an id into a path, and only after checking it.
 *
 *     sessions/<session_id>/  session.json  transcript.jsonl  .writer.lock  .writer.json  artifacts/
 *       subagents/<agent_id>/  meta.json  prompt.txt  wire.log  context.json
 */
export const sessionsPath = (home: string): string => `${home}/sessions`

/** Prefix of a directory that is being made; in the same directory as its later name, so that one rename in one directory does it. */
export const stagingPrefix = ".new-"
/** Prefix of a directory that a deletion has renamed away and not yet removed. */
export const trashPrefix = ".trash-"

export const sessionFile = "session.json"
export const lockFile = ".writer.lock"
export const holderFile = ".writer.json"
export const transcriptLog = { base: "transcript", extension: ".jsonl" } as const
export const subagentsName = "subagents"
export const artifactsName = "artifacts"

export const metaFile = "meta.json"
export const promptFile = "prompt.txt"
export const contextFile = "context.json"
export const wireLog = { base: "wire", extension: ".log" } as const

/** The id of a session, or `InvalidId`. */
export const sessionId = (id: string): Effect.Effect<SessionId, StoreError> => {
  const why = problem(id)
  return why === undefined ? Effect.succeed(id as SessionId) : Effect.fail(of(new InvalidId({ what: "session", id, why })))
}

/** A session's directory. */
export const sessionPath = (home: string, id: SessionId): string => `${sessionsPath(home)}/${id}`

/** An agent's directory; any string that is no agent id is simply unknown (K02). */
export const agentPath = (session: string, id: string): Effect.Effect<string, StoreError> =>
  isAgentId(id) ? Effect.succeed(`${session}/${subagentsName}/${id}`) : Effect.fail(of(new NotFound({ what: "subagent", id })))

/** What is no directory, in words. */
export const article = (kind: Stat["kind"]): string => (kind === "other" ? "a pipe or a device" : `a ${kind}`)

/** What has the name, refused where it is a link, no directory, or another user's. `undefined` where nothing has it. */
export const directory = Effect.fnUntraced(function* (
  path: string,
  owner?: number,
): Effect.fn.Return<Stat | undefined, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const stat = yield* disk.stat(path).pipe(Effect.mapError(ofDisk))
  if (stat === undefined) return undefined
  if (stat.kind !== "directory") {
    const why = `${article(stat.kind)} stands where a directory belongs`
    return yield* of(new Corrupt({ path, why, remedy: notOurs }))
  }
  if (owner !== undefined && stat.uid !== owner) return yield* of(new Denied({ path, reason: `it belongs to user ${stat.uid}` }))
  return stat
})

/** The same, `NotFound` where nothing has the name. */
export const existing = Effect.fnUntraced(function* (
  what: "session" | "subagent",
  id: string,
  path: string,
  owner?: number,
): Effect.fn.Return<Stat, StoreError, Disk.Service> {
  const stat = yield* directory(path, owner)
  return stat ?? (yield* of(new NotFound({ what, id })))
})

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/")) || "/"

/**
 * Makes a directory and those above it that are missing. Its own name and that of its parent are on disk when it succeeds, whoever made them: a process that
 * died between making a directory and syncing its name leaves one that a power loss takes away again.
 */
export const ensureDirectory = Effect.fnUntraced(function* (path: string): Effect.fn.Return<void, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const parent = parentOf(path)
  yield* make(path)
  if (parent !== "/") yield* Effect.ignore(disk.syncDirectory(parentOf(parent)))
  yield* disk.syncDirectory(parent).pipe(Effect.mapError(ofDisk))
})

const make: (path: string) => Effect.Effect<void, StoreError, Disk.Service> = Effect.fnUntraced(function* (
  path: string,
): Effect.fn.Return<void, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const stat = yield* disk.stat(path).pipe(Effect.mapError(ofDisk))
  if (stat?.kind === "directory" || stat?.kind === "symlink" || path === "/") return
  yield* make(parentOf(path))
  yield* disk
    .makeDirectory(path)
    .pipe(Effect.catchTag("DiskError", (error) => (error.code === "EEXIST" ? Effect.void : Effect.fail(ofDisk(error)))))
  yield* disk.syncDirectory(parentOf(path)).pipe(Effect.mapError(ofDisk))
})

export * as Layout from "./Layout.ts"
