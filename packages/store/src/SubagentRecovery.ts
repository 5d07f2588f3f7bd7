import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as AgentDocument from "./AgentDocument.ts"
import * as AgentFiles from "./AgentFiles.ts"
import { is as isAgentId } from "./AgentId.ts"
import { type AgentMeta, type AgentStatus, isLive } from "./AgentMeta.ts"
import { type ChildRecord, hasMoved } from "./ChildRecord.ts"
import { Disk } from "./Disk.ts"
import * as Document from "./Document.ts"
import type { JsonObject } from "./Json.ts"
import * as Layout from "./Layout.ts"
import * as Revision from "./Revision.ts"
import { ofDisk, type StoreError } from "./StoreError.ts"
import * as Trash from "./Trash.ts"
import type { Warning } from "./Warning.ts"

/**
 * What opening a session for writing does to its agents, once and safe to be cut short: unfinished creations and deletions are removed, and every
 * `meta.json` follows what the child records decide (decision 22); an agent that was at work and has no completed turn since is `interrupted`.
 */
export const run = Effect.fn("SubagentRecovery.run")(function* (
  session: string,
  sessionId: string,
  children: ReadonlyMap<string, ChildRecord>,
): Effect.fn.Return<ReadonlyArray<Warning>, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const parent = `${session}/${Layout.subagentsName}`
  const warnings: Array<Warning> = []
  const stat = yield* Layout.directory(parent)
  if (stat === undefined) return warnings
  const swept = yield* Trash.sweep(parent)
  if (swept > 0) warnings.push({ kind: "swept", path: parent, message: `${swept} unfinished deletions were finished` })
  for (const name of (yield* disk.list(parent).pipe(Effect.mapError(ofDisk))) ?? []) {
    const path = `${parent}/${name}`
    if (name.startsWith(Layout.stagingPrefix)) {
      yield* disk.removeTree(path).pipe(Effect.mapError(ofDisk))
      warnings.push({
        kind: "swept",
        path,
        message: "a creation was cut short before anybody was given the agent; its files were removed",
      })
    } else if (isAgentId(name)) {
      yield* recover(path, name, sessionId, children.get(name), warnings).pipe(
        Effect.catchIf(
          (error) => error.reason._tag !== "NoSpace" && error.reason._tag !== "Io",
          (error) => Effect.sync(() => void warnings.push({ kind: "damage_skipped", path, message: error.message })),
        ),
      )
    }
  }
  return warnings
})

const recover = Effect.fnUntraced(function* (
  path: string,
  id: string,
  sessionId: string,
  child: ChildRecord | undefined,
  warnings: Array<Warning>,
): Effect.fn.Return<void, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const file = `${path}/${Layout.metaFile}`
  yield* Layout.directory(path)
  for (const name of (yield* disk.list(path).pipe(Effect.mapError(ofDisk))) ?? []) {
    if (Document.isTemporary(name)) yield* disk.unlink(`${path}/${name}`).pipe(Effect.mapError(ofDisk))
  }
  const raw = yield* AgentFiles.readMeta(path, id)
  const meta = yield* AgentDocument.view(file, raw)
  yield* AgentFiles.checkOwner(meta, sessionId, id, file)
  const status = decided(meta, child !== undefined && hasMoved(child) ? undefined : child)
  if (status === meta.status) return
  yield* Document.checkWritable(file, raw, AgentDocument.format)
  const reason = status === "interrupted" ? `its process ended while it was ${meta.status}` : undefined
  const next: JsonObject = Revision.next(raw, { status, status_reason: reason }, yield* Clock.currentTimeMillis)
  yield* Document.write(file, next)
  warnings.push({
    kind: status === "interrupted" ? "interrupted" : "repaired",
    path: file,
    message: reason === undefined ? `its status follows the transcript: ${meta.status} became ${status}` : reason,
  })
})

/** The status that the transcript decides; where it says nothing, what a process that is gone can have left. */
const decided = (meta: AgentMeta, child: ChildRecord | undefined): AgentStatus | string => {
  if (meta.status === "closed") return meta.status
  if (child?.lifecycle === "Closed") return "closed"
  if (child?.lifecycle === "Idle" && meta.status !== "failed")
    return isLive(meta.status) || meta.status === "interrupted" ? "idle" : meta.status
  if (child?.lifecycle === "Interrupted" && meta.status === "idle") return "interrupted"
  return isLive(meta.status) ? "interrupted" : meta.status
}

export * as SubagentRecovery from "./SubagentRecovery.ts"
