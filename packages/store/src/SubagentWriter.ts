import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Agent from "./Agent.ts"
import * as AgentDocument from "./AgentDocument.ts"
import * as AgentFiles from "./AgentFiles.ts"
import { is as isAgentId, make as makeId } from "./AgentId.ts"
import { isLive } from "./AgentMeta.ts"
import { Disk } from "./Disk.ts"
import type { Health } from "./Health.ts"
import * as Layout from "./Layout.ts"
import { activePath } from "./LogFiles.ts"
import { describeGap } from "./LogRecovery.ts"
import * as Repair from "./Repair.ts"
import { AlreadyExists, Busy, InvalidId, of, type StoreError } from "./StoreError.ts"
import { StoreLimits } from "./StoreLimits.ts"
import { locate, make as makeReader, type ReaderOptions } from "./SubagentReader.ts"
import type { Finding, Interface } from "./SubagentStore.ts"
import * as Trash from "./Trash.ts"

export interface WriterOptions extends ReaderOptions {
  readonly onHealth: (path: string, health: Health.State) => void
  readonly onDelete: (agent: string) => Effect.Effect<void, StoreError>
}

interface Entry {
  readonly agent: Agent.Agent
  readonly scope: Scope.Closeable
}

/** The subagent store of a session whose lock we hold, until the scope closes. Each agent's files are opened when they are first needed. */
export const make = Effect.fn("SubagentWriter.make")(function* (
  options: WriterOptions,
): Effect.fn.Return<Interface, never, Disk.Service | Scope.Scope> {
  const disk = yield* Disk.Service
  const limits = yield* StoreLimits
  // Not the caller's scope: that takes nothing new once it begins to close, and whoever is closed with it may still have to write.
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
  const reader = yield* makeReader(options)
  const entries = new Map<string, Entry>()
  const gate = Semaphore.makeUnsafe(1)
  const parent = `${options.directory}/${Layout.subagentsName}`
  const on = <A, E>(effect: Effect.Effect<A, E, Disk.Service>): Effect.Effect<A, E> =>
    effect.pipe(Effect.provideService(Disk.Service, disk), Effect.provideService(StoreLimits, limits))

  const openEntry = Effect.fnUntraced(function* (id: string): Effect.fn.Return<Entry, StoreError> {
    const known = entries.get(id)
    if (known !== undefined) return known
    const directory = yield* on(locate(options, id))
    const own = yield* Scope.fork(scope)
    const agent = yield* Agent.open({ directory, sessionId: options.sessionId, agentId: id, onHealth: options.onHealth }).pipe(
      Scope.provide(own),
      on,
      Effect.onError(() => Scope.close(own, Exit.void)),
    )
    const entry = { agent, scope: own }
    entries.set(id, entry)
    return entry
  })

  const closeEntry = (id: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      const entry = entries.get(id)
      entries.delete(id)
      return entry === undefined ? Effect.void : Scope.close(entry.scope, Exit.void)
    })

  const agentOf = (id: string): Effect.Effect<Agent.Agent, StoreError> =>
    Effect.suspend(() => {
      const known = entries.get(id)
      return known !== undefined
        ? Effect.succeed(known.agent)
        : Effect.map(gate.withPermit(Effect.uninterruptible(openEntry(id))), (entry) => entry.agent)
    })

  const create: Interface["create"] = Effect.fn("SubagentStore.create")(function* (spec, prompt, given) {
    const agentId = given?.id ?? (yield* makeId)
    if (!isAgentId(agentId)) {
      return yield* of(new InvalidId({ what: "subagent", id: agentId, why: "an id is s- and a UUIDv7 in lower case" }))
    }
    if (entries.has(agentId)) return yield* of(new AlreadyExists({ what: "subagent", id: agentId }))
    const now = yield* Clock.currentTimeMillis
    if ((yield* on(Layout.directory(parent))) === undefined) yield* on(Layout.ensureDirectory(parent))
    const raw = yield* on(AgentFiles.create({ parent, sessionId: options.sessionId, agentId, spec, prompt, now }))
    return yield* AgentDocument.view(`${parent}/${agentId}/${Layout.metaFile}`, raw)
  })

  const load: Interface["load"] = Effect.fn("SubagentStore.load")(function* (id) {
    const agent = yield* agentOf(id)
    const meta = yield* agent.meta
    const prompt = yield* on(AgentFiles.readPrompt(`${parent}/${id}`, meta))
    return { meta, prompt, context: yield* agent.context, warnings: agent.warnings }
  })

  const setStatus: Interface["setStatus"] = Effect.fn("SubagentStore.setStatus")(function* (id, from, to, reason) {
    const agent = yield* agentOf(id)
    const meta = yield* agent.setStatus(from, to, reason)
    if (to === "closed") yield* gate.withPermit(Effect.uninterruptible(closeEntry(id)))
    return meta
  })

  const remove = Effect.fnUntraced(function* (id: string): Effect.fn.Return<void, StoreError> {
    const directory = yield* on(locate(options, id))
    const status = yield* statusOf(directory, id)
    if (status !== undefined && isLive(status)) {
      return yield* of(new Busy({ id, status, wanted: "close it first, then delete it" }))
    }
    yield* options.onDelete(id)
    yield* closeEntry(id)
    yield* on(Trash.remove(parent, id))
  })

  /** The status on disk; `undefined` where the metadata cannot be read, which must not keep a directory from being deleted. */
  const statusOf = (directory: string, id: string): Effect.Effect<string | undefined, StoreError> =>
    on(
      AgentFiles.readMeta(directory, id).pipe(
        Effect.flatMap((raw) => AgentDocument.view(directory, raw)),
        Effect.tap((meta) => AgentFiles.checkOwner(meta, options.sessionId, id, directory)),
        Effect.map((meta) => meta.status),
        Effect.catchIf(
          (error) => error.reason._tag === "Corrupt",
          () => Effect.succeed(undefined),
        ),
      ),
    )

  const freeze: Interface["freeze"] = Effect.fn("SubagentStore.freeze")(function* (id, moving) {
    const agent = yield* agentOf(id)
    const { status } = yield* agent.meta
    if (isLive(status)) return yield* of(new Busy({ id, status, wanted: "only an agent that is not at work can be moved" }))
    yield* agent.revise({ moving })
    yield* gate.withPermit(Effect.uninterruptible(closeEntry(id)))
  })

  const repair: Interface["repair"] = Effect.fn("SubagentStore.repair")(function* (id) {
    const directory = yield* on(locate(options, id))
    const log = activePath({ directory, ...Layout.wireLog })
    const done: Array<Finding> = [...(yield* on(Repair.metadata(directory, options.sessionId, id)))]
    const note = (path: string, message: string): void => void done.push({ path, severity: "warning", message })
    yield* gate.withPermit(Effect.uninterruptible(closeEntry(id)))
    const agent = yield* agentOf(id)
    for (const { kind, path, message } of agent.warnings) {
      if (kind !== "damage_skipped" || path !== log) note(path, message)
    }
    for (const [gap, copy] of yield* on(Repair.gaps(directory))) {
      yield* agent.append({ note: Repair.setAsideNote, data: Repair.setAsideData(gap, copy) }, "disk")
      note(log, `segment ${gap.segment}: ${describeGap(gap)}${copy === undefined ? "" : `; a copy is in ${copy}`}`)
    }
    yield* agent.flush
    done.push(...(yield* on(Repair.modes(directory))))
    const left = (yield* reader.verify(id)).filter(({ severity }) => severity === "error")
    return [...done, ...left]
  })

  return {
    ...reader,
    create,
    load,
    setStatus,
    append: (id, event, level = "kernel") => Effect.flatMap(agentOf(id), (agent) => agent.append(event, level)),
    setExt: (id, ext) =>
      Effect.flatMap(agentOf(id), (agent) =>
        Effect.flatMap(agent.meta, (meta) => agent.revise({ ext: { ...meta.ext, ...ext } })),
      ),
    saveContext: (id, context, level = "disk") => Effect.flatMap(agentOf(id), (agent) => agent.saveContext(context, level)),
    context: (id) => Effect.flatMap(agentOf(id), (agent) => agent.context),
    flush: (id) => Effect.flatMap(agentOf(id), (agent) => agent.flush),
    freeze,
    delete: (id) => gate.withPermit(Effect.uninterruptible(remove(id))),
    repair,
  }
})

export * as SubagentWriter from "./SubagentWriter.ts"
