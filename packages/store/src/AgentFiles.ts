import * as Effect from "effect/Effect"
import * as AgentContext from "./AgentContext.ts"
import * as AgentDocument from "./AgentDocument.ts"
import type { AgentLaunchSpec } from "./AgentLaunchSpec.ts"
import type { AgentMeta } from "./AgentMeta.ts"
import { sha256 } from "./Checksum.ts"
import { Disk } from "./Disk.ts"
import * as Document from "./Document.ts"
import type { JsonObject } from "./Json.ts"
import { contextFile, metaFile, promptFile, stagingPrefix, wireLog } from "./Layout.ts"
import { onlyLine, writeNew } from "./LogRecovery.ts"
import { AlreadyExists, Corrupt, ForeignSession, of, ofDisk, type StoreError } from "./StoreError.ts"
import type { Warning } from "./Warning.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

export interface CreateOptions {
  /** The session's `subagents` directory. */
  readonly parent: string
  readonly sessionId: string
  readonly agentId: string
  readonly spec: AgentLaunchSpec
  readonly prompt: string
  readonly now: number
}

/**
 * Makes an agent's directory with all four files, or nothing (K01, K07): staged under a name that no reader takes for an agent, synced, then renamed.
 */
export const create = Effect.fn("AgentFiles.create")(function* (
  options: CreateOptions,
): Effect.fn.Return<JsonObject, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const { parent, sessionId, agentId, spec, prompt, now } = options
  const target = `${parent}/${agentId}`
  const staging = `${parent}/${stagingPrefix}${agentId}`
  const ids = { session_id: sessionId, agent_id: agentId }
  const promptBytes = encoder.encode(prompt)
  const meta = AgentDocument.initial({
    sessionId,
    agentId,
    spec,
    promptBytes: promptBytes.length,
    promptSha256: sha256(promptBytes),
    now,
  })
  const head = onlyLine(ids, now, { spec: meta.spec as JsonObject, prompt: meta.prompt as JsonObject })
  const taken = of(new AlreadyExists({ what: "subagent", id: agentId }))
  if ((yield* disk.stat(target).pipe(Effect.mapError(ofDisk))) !== undefined) return yield* taken
  const fill = Effect.gen(function* () {
    yield* disk
      .makeDirectory(staging)
      .pipe(Effect.catchTag("DiskError", (error) => (error.code === "EEXIST" ? Effect.fail(taken) : Effect.fail(ofDisk(error)))))
    const files = [
      [metaFile, Document.encode(meta)],
      [promptFile, promptBytes],
      [`${wireLog.base}${wireLog.extension}`, head],
      [contextFile, AgentContext.encode(ids, {}, { seq: 1, segment: 1, offset: head.length })],
    ] as const
    yield* Effect.forEach(files, ([name, bytes]) => writeNew(`${staging}/${name}`, bytes), {
      concurrency: "unbounded",
      discard: true,
    })
    yield* disk.syncDirectory(staging).pipe(Effect.mapError(ofDisk))
    yield* disk
      .rename(staging, target)
      .pipe(Effect.mapError((error) => (error.code === "ENOTEMPTY" || error.code === "EEXIST" ? taken : ofDisk(error))))
  }).pipe(Effect.tapError((error) => (error === taken ? Effect.void : Effect.ignore(disk.removeTree(staging)))))
  yield* Effect.uninterruptible(Effect.andThen(fill, disk.syncDirectory(parent).pipe(Effect.mapError(ofDisk))))
  return meta
})

/** `meta.json` as it is. */
export const readMeta = Effect.fnUntraced(function* (
  directory: string,
  agentId: string,
): Effect.fn.Return<JsonObject, StoreError, Disk.Service> {
  const path = `${directory}/${metaFile}`
  const raw = yield* Document.read(path)
  return raw ?? (yield* of(new Corrupt({ path, why: `it is missing, though ${agentId} has a directory` })))
})

/** Why metadata is not that of this agent of this session (K10), `undefined` where it is. */
export const ownerProblem = (meta: AgentMeta, sessionId: string, agentId: string, path: string): StoreError | undefined => {
  if (meta.session_id !== sessionId) return of(new ForeignSession({ id: agentId, session: sessionId, owner: meta.session_id }))
  if (meta.agent_id !== agentId) return of(new Corrupt({ path, why: `it is the metadata of ${meta.agent_id}` }))
  return undefined
}

/** {@link ownerProblem} as an effect. */
export const checkOwner = (
  meta: AgentMeta,
  sessionId: string,
  agentId: string,
  path: string,
): Effect.Effect<void, StoreError> => {
  const problem = ownerProblem(meta, sessionId, agentId, path)
  return problem === undefined ? Effect.void : Effect.fail(problem)
}

/** Whether a segment's first line names a session that the agent was moved from. */
export const acceptsHead =
  (meta: AgentMeta) =>
  (head: JsonObject): boolean =>
    meta.migrated_from.some((step) => step.session_id === head.session_id && step.agent_id === head.agent_id)

/** `prompt.txt`, byte for byte what `create` was given; `Corrupt` where it is missing or not that. */
export const readPrompt = Effect.fnUntraced(function* (
  directory: string,
  meta: AgentMeta,
): Effect.fn.Return<string, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const path = `${directory}/${promptFile}`
  const bytes = yield* disk.readFile(path).pipe(Effect.mapError(ofDisk))
  if (bytes === undefined)
    return yield* of(new Corrupt({ path, why: "it is missing; the agent cannot be resumed without its system prompt" }))
  if (sha256(bytes) !== meta.prompt.sha256) return yield* of(new Corrupt({ path, why: "it is not what was written at creation" }))
  return decoder.decode(bytes)
})

/** `context.json`, or `undefined` and a warning where it must be rebuilt from the log. A newer version fails. */
export const readSnapshot = Effect.fnUntraced(function* (
  path: string,
  warnings: Array<Warning>,
): Effect.fn.Return<AgentContext.Snapshot | undefined, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const bytes = yield* disk.readFile(path).pipe(Effect.mapError(ofDisk))
  if (bytes === undefined) {
    warnings.push({ kind: "missing_file", path, message: "it was missing; the state was rebuilt from the wire log" })
    return undefined
  }
  const snapshot = yield* AgentContext.decode(path, bytes).pipe(
    Effect.catchIf(
      (error) => error.reason._tag === "Corrupt",
      (error) => {
        warnings.push({ kind: "damage_skipped", path, message: `${error.message}; the state was rebuilt from the wire log` })
        return Effect.succeed(undefined)
      },
    ),
  )
  if (snapshot?.edited === true)
    warnings.push({ kind: "hand_edited", path, message: "it was changed by hand; it is used as it is" })
  return snapshot
})

export * as AgentFiles from "./AgentFiles.ts"
