import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as AgentContext from "./AgentContext.ts"
import * as AgentDocument from "./AgentDocument.ts"
import * as AgentFiles from "./AgentFiles.ts"
import { is as isAgentId } from "./AgentId.ts"
import { type AgentMeta, isLive } from "./AgentMeta.ts"
import { Disk, DiskError } from "./Disk.ts"
import * as Document from "./Document.ts"
import * as Layout from "./Layout.ts"
import { isGap } from "./LogDecoder.ts"
import * as LogReader from "./LogReader.ts"
import * as Orphans from "./Orphans.ts"
import { Corrupt, ForeignSession, of, ofDisk, type StoreError } from "./StoreError.ts"
import type { AgentSummary, LoadedAgent, Reader } from "./SubagentStore.ts"
import * as Verify from "./Verify.ts"
import type { Warning } from "./Warning.ts"

export interface ReaderOptions {
  readonly home: string
  readonly sessionId: string
  /** The session's directory. */
  readonly directory: string
  /** Whether a process has the session open for writing now. */
  readonly isLive: Effect.Effect<boolean, StoreError>
}

/** What `meta` says to someone who knows that no process is at work for the agent any more. */
export const asInterrupted = (meta: AgentMeta): AgentMeta =>
  isLive(meta.status) ? { ...meta, status: "interrupted", status_reason: `its process ended while it was ${meta.status}` } : meta

/** The directory of an agent of this session; `ForeignSession` where another session has it (K10), `NotFound` where none has. */
export const locate = Effect.fnUntraced(function* (
  options: ReaderOptions,
  id: string,
): Effect.fn.Return<string, StoreError, Disk.Service> {
  const path = yield* Layout.agentPath(options.directory, id)
  yield* Layout.directory(`${options.directory}/${Layout.subagentsName}`)
  const found = yield* Layout.directory(path)
  if (found !== undefined) return path
  const owner = yield* ownerElsewhere(options, id)
  if (owner !== undefined) return yield* of(new ForeignSession({ id, session: options.sessionId, owner }))
  yield* Layout.existing("subagent", id, path)
  return path
})

const ownerElsewhere = Effect.fnUntraced(function* (
  options: ReaderOptions,
  id: string,
): Effect.fn.Return<string | undefined, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const sessions = Layout.sessionsPath(options.home)
  for (const other of (yield* disk.list(sessions).pipe(Effect.mapError(ofDisk))) ?? []) {
    if (other.startsWith(".") || other === options.sessionId) continue
    const stat = yield* disk.stat(`${sessions}/${other}/${Layout.subagentsName}/${id}`).pipe(Effect.mapError(ofDisk))
    if (stat !== undefined) return other
  }
  return undefined
})

/** Metadata of an agent whose directory is known, owner checked. */
const readMeta = Effect.fnUntraced(function* (
  options: ReaderOptions,
  directory: string,
  id: string,
): Effect.fn.Return<AgentMeta, StoreError, Disk.Service> {
  const path = `${directory}/${Layout.metaFile}`
  const meta = yield* AgentDocument.view(path, yield* AgentFiles.readMeta(directory, id))
  yield* AgentFiles.checkOwner(meta, options.sessionId, id, path)
  return meta
})

const load = Effect.fn("SubagentStore.load")(function* (
  options: ReaderOptions,
  id: string,
): Effect.fn.Return<LoadedAgent, StoreError, Disk.Service> {
  const directory = yield* locate(options, id)
  const meta = yield* readMeta(options, directory, id)
  const prompt = yield* AgentFiles.readPrompt(directory, meta)
  const warnings: Array<Warning> = []
  const snapshot = yield* AgentFiles.readSnapshot(`${directory}/${Layout.contextFile}`, warnings)
  const context = snapshot?.state ?? {}
  yield* LogReader.replay({ directory, ...Layout.wireLog }, (snapshot?.position.seq ?? 0) + 1).pipe(
    Stream.runForEach((element) => Effect.sync(() => void (isGap(element) || AgentContext.replayOnto(context, element)))),
  )
  return { meta: (yield* options.isLive) ? meta : asInterrupted(meta), prompt, context, warnings }
})

/** Newest first; of the same moment, by id. */
const newestFirst = (a: AgentSummary, b: AgentSummary): number => {
  const left = a.meta?.updated_at ?? ""
  const right = b.meta?.updated_at ?? ""
  return left === right ? (a.id < b.id ? 1 : -1) : left < right ? 1 : -1
}

/** Files read in one call, between which other fibers run. */
const listBatch = 256

/** One row of the list. */
const summary = (
  options: ReaderOptions,
  id: string,
  path: string,
  content: Uint8Array | undefined | DiskError,
  live: boolean,
): AgentSummary => {
  if (content === undefined) return { id, problem: of(new Corrupt({ path, why: "it is missing" })) }
  if (content instanceof DiskError) return { id, problem: ofDisk(content) }
  const raw = Document.objectOf(path, content)
  const meta = Document.isStoreError(raw) ? raw : AgentDocument.viewOf(path, raw)
  if (Document.isStoreError(meta)) return { id, problem: meta }
  const problem = AgentFiles.ownerProblem(meta, options.sessionId, id, path)
  return problem === undefined ? { id, meta: live ? meta : asInterrupted(meta) } : { id, problem }
}

/** Why what has an agent's name is no directory of ours. */
const problemOf = (path: string): Effect.Effect<StoreError | undefined, never, Disk.Service> =>
  Effect.match(Layout.directory(path), { onFailure: (problem) => problem, onSuccess: () => undefined })

const list = Effect.fn("SubagentStore.list")(function* (
  options: ReaderOptions,
  filter: { readonly status?: string; readonly limit?: number } = {},
): Effect.fn.Return<ReadonlyArray<AgentSummary>, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const parent = `${options.directory}/${Layout.subagentsName}`
  yield* Layout.directory(parent)
  const names = ((yield* disk.list(parent).pipe(Effect.mapError(ofDisk))) ?? []).filter(isAgentId)
  const directories = new Set(yield* disk.directories(parent).pipe(Effect.mapError(ofDisk)))
  const live = names.length > 0 && (yield* options.isLive)
  const rows: Array<AgentSummary> = []
  for (let at = 0; at < names.length; at += listBatch) {
    const ids = names.slice(at, at + listBatch)
    const contents = yield* disk.readFiles(ids.map((id) => `${parent}/${id}/${Layout.metaFile}`))
    for (const [index, id] of ids.entries()) {
      const misplaced = directories.has(id) ? undefined : yield* problemOf(`${parent}/${id}`)
      const row =
        misplaced !== undefined
          ? { id, problem: misplaced }
          : summary(options, id, `${parent}/${id}/${Layout.metaFile}`, contents[index], live)
      if (filter.status === undefined || row.meta?.status === filter.status) rows.push(row)
    }
  }
  rows.sort(newestFirst)
  return filter.limit === undefined ? rows : rows.slice(0, filter.limit)
})

/** The reading half of a session's subagent store. */
export const make = (options: ReaderOptions): Effect.Effect<Reader, never, Disk.Service> =>
  Effect.map(Disk.Service, (disk) => {
    const on = <A, E>(effect: Effect.Effect<A, E, Disk.Service>): Effect.Effect<A, E> =>
      Effect.provideService(effect, Disk.Service, disk)
    return {
      load: (id) => on(load(options, id)),
      list: (filter) => on(list(options, filter)),
      tail: (id, count) =>
        on(Effect.flatMap(locate(options, id), (directory) => LogReader.tail({ directory, ...Layout.wireLog }, count))),
      replay: (id, from) =>
        Stream.unwrap(
          Effect.map(locate(options, id), (directory) => LogReader.replay({ directory, ...Layout.wireLog }, from?.fromSeq)),
        ).pipe(Stream.provideService(Disk.Service, disk)),
      orphans: on(Orphans.ofSession(options.directory, options.sessionId, options.isLive)),
      verify: (id) => on(Effect.flatMap(locate(options, id), (directory) => Verify.agent(directory, options.sessionId, id))),
    }
  })

export * as SubagentReader from "./SubagentReader.ts"
