import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as AgentContext from "./AgentContext.ts"
import * as AgentDocument from "./AgentDocument.ts"
import * as AgentFiles from "./AgentFiles.ts"
import { type AgentMeta, type AgentStatus, isLegalMove, isStatus } from "./AgentMeta.ts"
import { diff } from "./ContextDelta.ts"
import { Disk } from "./Disk.ts"
import * as Document from "./Document.ts"
import type { Level, Receipt } from "./Durability.ts"
import type { Health } from "./Health.ts"
import { isObject, type Json, type JsonObject, stringify } from "./Json.ts"
import { contextFile, metaFile, wireLog } from "./Layout.ts"
import { type Log, open as openLog } from "./Log.ts"
import { isGap } from "./LogDecoder.ts"
import * as LogReader from "./LogReader.ts"
import { redact } from "./Redaction.ts"
import { Repair } from "./Repair.ts"
import * as Revision from "./Revision.ts"
import { Busy, Invalid, of, type StoreError } from "./StoreError.ts"
import { StoreLimits } from "./StoreLimits.ts"
import type { WireEvent } from "./SubagentStore.ts"
import type { Warning } from "./Warning.ts"

/** One agent's directory, open for writing. */
export interface Agent {
  readonly meta: Effect.Effect<AgentMeta>
  readonly context: Effect.Effect<JsonObject>
  readonly warnings: ReadonlyArray<Warning>
  readonly append: (event: WireEvent, level: Level) => Effect.Effect<Receipt, StoreError>
  readonly setStatus: (from: AgentStatus, to: AgentStatus, reason?: string) => Effect.Effect<AgentMeta, StoreError>
  readonly revise: (change: { readonly [key: string]: Json | undefined }) => Effect.Effect<AgentMeta, StoreError>
  readonly saveContext: (context: JsonObject, level: Level) => Effect.Effect<Receipt, StoreError>
  readonly flush: Effect.Effect<void, StoreError>
}

export interface OpenOptions {
  readonly directory: string
  readonly sessionId: string
  readonly agentId: string
  readonly onHealth?: (path: string, health: Health.State) => void
}

/** The wire log's record version that this Kit writes and the newest it appends beside. */
export const wireVersion = 1

/** Opens the directory: checks owner and versions, mends the log's end, restores the state from snapshot and log. */
export const open = Effect.fn("Agent.open")(function* (
  options: OpenOptions,
): Effect.fn.Return<Agent, StoreError, Disk.Service | Scope.Scope> {
  const disk = yield* Disk.Service
  const limits = yield* StoreLimits
  const { directory, sessionId, agentId } = options
  const ids = { session_id: sessionId, agent_id: agentId }
  const warnings: Array<Warning> = []
  const metaPath = `${directory}/${metaFile}`
  const contextPath = `${directory}/${contextFile}`
  let raw = yield* AgentFiles.readMeta(directory, agentId)
  let meta = yield* AgentDocument.view(metaPath, raw)
  yield* AgentFiles.checkOwner(meta, sessionId, agentId, metaPath)
  yield* Document.checkWritable(metaPath, raw, AgentDocument.format)
  if (isObject(raw.moving)) {
    const wanted = `finish its move with: kit subagents migrate ${agentId} --session ${sessionId} --to ${String(raw.moving.to)}`
    return yield* of(new Busy({ id: agentId, status: "moving to another session", wanted }))
  }

  const name = { directory, ...wireLog }
  const snapshot = yield* AgentFiles.readSnapshot(contextPath, warnings)
  if (warnings.some((warning) => warning.kind === "damage_skipped")) yield* Repair.setAside(directory, contextFile)
  const state: JsonObject = snapshot?.state ?? {}
  if (snapshot === undefined) yield* rebuild(name, state)
  const log = yield* openLog({
    name,
    identity: ids,
    accepts: AgentFiles.acceptsHead(meta),
    supported: wireVersion,
    ...(snapshot === undefined ? {} : { from: snapshot.position }),
    visit: (record) => {
      if (snapshot !== undefined && record.seq > snapshot.position.seq) AgentContext.replayOnto(state, record)
    },
    ...(options.onHealth === undefined ? {} : { onHealth: (health: Health.State) => options.onHealth?.(directory, health) }),
  })
  warnings.push(...log.warnings)

  let context = state
  let snapshotBytes = snapshot?.bytes ?? 0
  let tailBytes =
    snapshot === undefined ? Number.POSITIVE_INFINITY : Math.max(0, (yield* log.position).offset - snapshot.position.offset)
  let savedSeq = snapshot?.position.seq ?? 0
  let dirty = snapshot === undefined || snapshot.edited
  const mutex = Semaphore.makeUnsafe(1)
  const exclusively = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    mutex.withPermit(Effect.uninterruptible(effect))
  const onDisk = <A, E>(effect: Effect.Effect<A, E, Disk.Service>): Effect.Effect<A, E> =>
    Effect.provideService(effect, Disk.Service, disk)

  const writeSnapshot: Effect.Effect<void, StoreError> = Effect.gen(function* () {
    yield* log.flush
    const position = yield* log.position
    const bytes = AgentContext.encode(ids, context, position, snapshot?.unknown)
    yield* onDisk(Document.writeBytes(contextPath, bytes))
    snapshotBytes = bytes.length
    tailBytes = 0
    savedSeq = position.seq
    dirty = false
  })

  const revise = Effect.fnUntraced(function* (change: {
    readonly [key: string]: Json | undefined
  }): Effect.fn.Return<AgentMeta, StoreError> {
    const next = Revision.next(raw, change, yield* Clock.currentTimeMillis)
    yield* onDisk(Document.write(metaPath, next))
    raw = next
    meta = yield* AgentDocument.view(metaPath, next)
    return meta
  })

  const setStatus = Effect.fnUntraced(function* (
    from: AgentStatus,
    to: AgentStatus,
    reason?: string,
  ): Effect.fn.Return<AgentMeta, StoreError> {
    if (meta.status !== from)
      return yield* of(new Busy({ id: agentId, status: meta.status, wanted: `the caller took it for ${from}` }))
    if (!isStatus(from) || !isLegalMove(from, to)) {
      return yield* of(new Invalid({ what: "status", why: `a subagent that is ${from} cannot become ${to}` }))
    }
    if (to === "closed" && dirty) yield* writeSnapshot
    return yield* revise({ status: to, status_reason: reason })
  })

  const saveContext = Effect.fnUntraced(function* (next: JsonObject, level: Level): Effect.fn.Return<Receipt, StoreError> {
    const changes = diff(context, next)
    if (changes.length === 0) {
      if (level === "disk") yield* log.flush
      return { seq: (yield* log.position).seq, where: level === "disk" ? "disk" : "kernel" }
    }
    const body = AgentContext.stateBody(changes)
    const receipt = yield* log.append(AgentContext.stateKind, wireVersion, body, level)
    context = next
    dirty = true
    tailBytes += body.length
    const small = snapshotBytes + tailBytes <= limits.smallContextBytes
    const grown = tailBytes > Math.max(limits.smallContextBytes, limits.snapshotGrowth * snapshotBytes)
    if (receipt.where !== "held" && ((small && level === "disk") || grown)) yield* writeSnapshot
    return receipt
  })

  const flush: Effect.Effect<void, StoreError> = Effect.gen(function* () {
    if (dirty || savedSeq < (yield* log.position).seq) yield* writeSnapshot
  })

  yield* Effect.addFinalizer(() =>
    exclusively(Effect.suspend(() => (dirty ? writeSnapshot : Effect.void))).pipe(
      Effect.catch((error) => Effect.logWarning(`${contextPath} is behind its log, which holds everything: ${error.message}`)),
    ),
  )

  return {
    meta: Effect.sync(() => meta),
    context: Effect.sync(() => context),
    warnings,
    append: (event, level) => appendEvent(log, event, level),
    setStatus: (from, to, reason) => exclusively(setStatus(from, to, reason)),
    revise: (change) => exclusively(revise(change)),
    saveContext: (next, level) => exclusively(saveContext(next, level)),
    flush: exclusively(flush),
  }
})

/** The kind of the records that hold wire events. */
export const eventKind = "event"

const appendEvent = (log: Log, event: WireEvent, level: Level): Effect.Effect<Receipt, StoreError> => {
  if (!("direction" in event)) {
    return log.append(
      eventKind,
      wireVersion,
      stringify(event.data === undefined ? { note: event.note } : { note: event.note, data: event.data }),
      level,
    )
  }
  const frame = redact(event.frame)
  const member = frame === undefined || /[\n\r]/.test(frame) ? `"text":${stringify(event.frame)}` : `"frame":${frame}`
  return log.append(eventKind, wireVersion, `{"dir":"${event.direction}",${member}}`, level)
}

/** The state of every record in the log, where no snapshot is left. */
const rebuild = (
  name: Parameters<typeof LogReader.replay>[0],
  state: JsonObject,
): Effect.Effect<void, StoreError, Disk.Service> =>
  LogReader.replay(name).pipe(
    Stream.runForEach((element) =>
      Effect.sync(() => {
        if (!isGap(element)) AgentContext.replayOnto(state, element)
      }),
    ),
  )

export * as Agent from "./Agent.ts"
