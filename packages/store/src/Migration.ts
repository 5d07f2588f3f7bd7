import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as AgentContext from "./AgentContext.ts"
import * as AgentDocument from "./AgentDocument.ts"
import * as AgentFiles from "./AgentFiles.ts"
import { type AgentId, make as makeId, uuid } from "./AgentId.ts"
import type { MigrationStep } from "./AgentMeta.ts"
import { hasMoved } from "./ChildRecord.ts"
import { Disk } from "./Disk.ts"
import * as Document from "./Document.ts"
import { encodeValue } from "./Frame.ts"
import { isObject, type JsonObject } from "./Json.ts"
import * as Layout from "./Layout.ts"
import { activePath, sealedPath, segments } from "./LogFiles.ts"
import * as LogReader from "./LogReader.ts"
import { headBody, writeNew } from "./LogRecovery.ts"
import * as Revision from "./Revision.ts"
import type { SessionWriter } from "./Session.ts"
import { AlreadyExists, Invalid, of, ofDisk, type StoreError } from "./StoreError.ts"
import * as Trash from "./Trash.ts"
import * as Tree from "./Tree.ts"

/** A session that takes part, open for writing. */
export interface Side {
  readonly session: SessionWriter
  readonly directory: string
}

/**
 * Moves or copies an agent to another session (K10). A move freezes the source first (`moving` in its metadata), then makes the target whole under its final
 * name in one rename, hands over the checkpoint, and removes the source. A crash leaves the frozen source alone, or both; calling again with the same target
 * finishes. A copy is `closed`: a record that nobody goes on with. The agent's older log files move as they are: their first lines name the old session, which `migrated_from` vouches for.
 */
export const run = Effect.fn("Migration.run")(function* (
  id: string,
  from: Side,
  to: Side,
  mode: "move" | "copy",
): Effect.fn.Return<AgentId, StoreError, Disk.Service> {
  const parent = `${to.directory}/${Layout.subagentsName}`
  const source = yield* Layout.agentPath(from.directory, id)
  yield* Layout.existing("subagent", id, source)
  if (mode === "copy") {
    const step = { session_id: from.session.id, agent_id: id, at: yield* now, migration_id: yield* uuid }
    const copy = yield* makeId
    yield* from.session.subagents.flush(id)
    const ended = { status: "closed", status_reason: `a copy of ${id}, to be looked at` }
    yield* place(source, id, from, `${parent}/${copy}`, copy, to, step, ended)
    return copy
  }
  const frozen = yield* freeze(id, source, from, to)
  const target = `${parent}/${id}`
  if ((yield* Layout.directory(target)) === undefined) yield* place(source, id, from, target, id, to, frozen)
  else {
    const there = yield* AgentDocument.view(target, yield* AgentFiles.readMeta(target, id))
    if (!there.migrated_from.some((step) => step.migration_id === frozen.migration_id)) {
      return yield* of(new AlreadyExists({ what: "subagent", id }))
    }
  }
  yield* handOver(id, from.session, to.session)
  yield* Trash.remove(`${from.directory}/${Layout.subagentsName}`, id)
  return id as AgentId
})

const now = Effect.map(Clock.currentTimeMillis, Revision.timestamp)

/** Marks the source as moving, on disk; a move that was begun goes on under its own mark. */
const freeze = Effect.fnUntraced(function* (
  id: string,
  source: string,
  from: Side,
  to: Side,
): Effect.fn.Return<MigrationStep, StoreError, Disk.Service> {
  const begun = movingOf(yield* AgentFiles.readMeta(source, id))
  if (begun?.to === to.session.id) return begun.step
  if (begun !== undefined) {
    return yield* of(
      new Invalid({ what: "move", why: `${id} is on its way to session "${begun.to}" already; finish that move first` }),
    )
  }
  yield* from.session.subagents.flush(id)
  const step = { session_id: from.session.id, agent_id: id, at: yield* now, migration_id: yield* uuid }
  yield* from.session.subagents.freeze(id, { to: to.session.id, ...step })
  return step
})

/** What the metadata says of a move that was begun. */
export const movingOf = (raw: JsonObject): { readonly to: string; readonly step: MigrationStep } | undefined => {
  const { moving } = raw
  if (!isObject(moving)) return undefined
  const { to, ...step } = moving
  return { to: String(to), step: step as unknown as MigrationStep }
}

/** Makes the whole agent under another session in one rename. */
const place = Effect.fnUntraced(function* (
  source: string,
  id: string,
  from: Side,
  target: string,
  newId: string,
  to: Side,
  step: MigrationStep,
  changes: JsonObject = {},
): Effect.fn.Return<void, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const parent = target.slice(0, target.lastIndexOf("/"))
  const staging = `${parent}/${Layout.stagingPrefix}${newId}`
  const ids = { session_id: to.session.id, agent_id: newId }
  const raw = yield* AgentFiles.readMeta(source, id)
  const meta = yield* AgentDocument.view(source, raw)
  yield* AgentFiles.checkOwner(meta, from.session.id, id, source)
  const prompt = yield* AgentFiles.readPrompt(source, meta)
  const name = { directory: source, ...Layout.wireLog }
  const copied = { directory: staging, ...Layout.wireLog }
  const snapshot = yield* AgentFiles.readSnapshot(`${source}/${Layout.contextFile}`, [])
  const last = (yield* LogReader.tail(name, 1))[0]?.seq ?? 0
  const time = yield* Clock.currentTimeMillis

  const fill = Effect.gen(function* () {
    yield* disk.removeTree(staging).pipe(Effect.mapError(ofDisk))
    yield* disk.makeDirectory(staging).pipe(Effect.mapError(ofDisk))
    const old = yield* segments(name)
    const sealedCount = old.filter((segment) => segment.number !== undefined)
    let segment = (sealedCount[sealedCount.length - 1]?.number ?? 0) + 1
    for (const one of old) {
      const bytes = (yield* disk.stat(one.path).pipe(Effect.mapError(ofDisk)))?.size ?? 0
      yield* Tree.copy(one.path, sealedPath(copied, one.number ?? segment), bytes)
    }
    if (old.some((one) => one.number === undefined)) segment += 1
    const head = encodeValue(last + 1, time, "head", 1, headBody(ids, segment, { segment: segment - 1, seq: last }))
    const note = encodeValue(last + 2, time, "note", 1, { event: "migrated", ...step })
    const log = new Uint8Array(head.length + note.length)
    log.set(head)
    log.set(note, head.length)
    yield* writeNew(activePath(copied), log)
    yield* writeNew(`${staging}/${Layout.promptFile}`, new TextEncoder().encode(prompt))
    const position = { seq: last + 2, segment, offset: log.length }
    yield* writeNew(
      `${staging}/${Layout.contextFile}`,
      AgentContext.encode(ids, snapshot?.state ?? {}, position, snapshot?.unknown),
    )
    const { moving: _, ...rest } = raw
    const migrated = [...meta.migrated_from, step] as unknown as ReadonlyArray<JsonObject>
    yield* writeNew(
      `${staging}/${Layout.metaFile}`,
      Document.encode(Revision.next(rest, { ...changes, ...ids, migrated_from: migrated }, time)),
    )
    yield* disk.syncDirectory(staging).pipe(Effect.mapError(ofDisk))
    yield* disk.rename(staging, target).pipe(Effect.mapError(ofDisk))
    yield* disk.syncDirectory(parent).pipe(Effect.mapError(ofDisk))
  })
  yield* Effect.uninterruptible(Effect.tapError(fill, () => Effect.ignore(disk.removeTree(staging))))
})

/**
 * The checkpoint goes with the agent: the target's transcript has it before the source's says `Closed`, marked with where the agent went. A mark in the target
 * is of an earlier stay and is overruled; anything newer that the target says of the agent stands.
 */
const handOver = Effect.fnUntraced(function* (
  id: string,
  from: SessionWriter,
  to: SessionWriter,
): Effect.fn.Return<void, StoreError> {
  const record = (yield* from.children).find((child) => child.id === id)
  if (record === undefined || record.lifecycle === "Closed") return
  const there = (yield* to.children).find((child) => child.id === id)
  if (there === undefined || hasMoved(there)) yield* to.appendChild(record)
  yield* from.appendChild({ ...record, lifecycle: "Closed", moved_to: to.id })
})

export * as Migration from "./Migration.ts"
