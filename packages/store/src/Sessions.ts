import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Archive from "./Archive.ts"
import * as Collection from "./Collection.ts"
import { Disk } from "./Disk.ts"
import * as Document from "./Document.ts"
import { Health } from "./Health.ts"
import * as KimiImport from "./KimiImport.ts"
import * as Layout from "./Layout.ts"
import { Lock } from "./Lock.ts"
import { activePath } from "./LogFiles.ts"
import * as Migration from "./Migration.ts"
import * as Orphans from "./Orphans.ts"
import * as SessionDocument from "./SessionDocument.ts"
import * as SessionFiles from "./SessionFiles.ts"
import { make as makeId, problem, type SessionId } from "./SessionId.ts"
import * as SessionReading from "./SessionReading.ts"
import type { CreateOptions, Interface, Options, SessionSummary, SessionWriter } from "./SessionStore.ts"
import * as SessionWriting from "./SessionWriting.ts"
import { Invalid, of, ofDisk, type StoreError } from "./StoreError.ts"
import { StoreLimits } from "./StoreLimits.ts"
import * as Trash from "./Trash.ts"

type Needs = Disk.Service | Lock.Service

/** Every session under a home. */
export const make = Effect.fn("SessionStore.make")(function* (
  options: Options,
): Effect.fn.Return<Interface, never, Needs | Scope.Scope> {
  const system = yield* Lock.Service
  const limits = yield* StoreLimits
  const lock = {
    ...system,
    self: { pid: options.owner?.pid ?? system.self.pid, host: options.owner?.host ?? system.self.host },
  }
  const { home } = options
  const sessions = Layout.sessionsPath(home)
  const health = yield* Health.watch(yield* Disk.Service, sessions)
  const { disk } = health
  const open = new Map<string, SessionWriter>()
  const on = <A, E, R>(effect: Effect.Effect<A, E, R | Needs>): Effect.Effect<A, E, Exclude<R, Needs>> =>
    effect.pipe(
      Effect.provideService(Disk.Service, disk),
      Effect.provideService(Lock.Service, lock),
      Effect.provideService(StoreLimits, limits),
    ) as Effect.Effect<A, E, Exclude<R, Needs>>

  /** Notes the handle as this process's own until the scope closes. */
  const registered = (writer: SessionWriter): Effect.Effect<SessionWriter, never, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.sync(() => {
        open.set(writer.id, writer)
        return writer
      }),
      () => Effect.sync(() => void open.delete(writer.id)),
    )

  const create = Effect.fn("SessionStore.create")(function* (given: CreateOptions) {
    const id = given.id === undefined ? yield* makeId : yield* Layout.sessionId(given.id)
    if (!isAbsolute(given.cwd)) return yield* of(new Invalid({ what: "cwd", why: `${given.cwd} is not absolute` }))
    yield* SessionDocument.checkTitle(given.title)
    const initial = {
      id,
      cwd: given.cwd,
      additionalDirectories: given.additionalDirectories ?? [],
      origin: given.origin ?? "top_level",
      title: given.title,
    } as const
    yield* on(SessionFiles.create(home, initial))
    const path = `${Layout.sessionPath(home, id)}/${Layout.sessionFile}`
    const raw = (yield* on(Document.read(path))) ?? {}
    return yield* registered(yield* on(SessionWriting.writer(home, id, raw, [], health.report)))
  })

  const openWriter = Effect.fn("SessionStore.openWriter")(function* (text: string) {
    const id = yield* Layout.sessionId(text)
    return yield* registered(yield* on(SessionWriting.open(home, id, health.report)))
  })

  const rename = Effect.fn("SessionStore.rename")(function* (text: string, title: string | undefined) {
    const id = yield* Layout.sessionId(text)
    const own = open.get(id)
    if (own !== undefined) return yield* own.rename(title)
    return yield* Effect.scoped(
      Effect.flatMap(on(SessionWriting.open(home, id, health.report)), (writer) => writer.rename(title)),
    )
  })

  const remove = Effect.fn("SessionStore.delete")(function* (text: string) {
    const id = yield* Layout.sessionId(text)
    const directory = Layout.sessionPath(home, id)
    yield* on(Layout.existing("session", id, directory))
    yield* Effect.scoped(on(Effect.andThen(SessionFiles.hold(directory, id), Trash.remove(sessions, id))))
    yield* on(SessionFiles.sweep(home))
  })

  const migrate = Effect.fn("SessionStore.migrate")(function* (
    agent: string,
    { from, to, mode = "move" }: Parameters<Interface["migrate"]>[1],
  ) {
    if (from === to) return yield* of(new Invalid({ what: "move", why: "both sessions are the same" }))
    const ids = [yield* Layout.sessionId(from), yield* Layout.sessionId(to)]
    return yield* Effect.scoped(
      Effect.gen(function* () {
        const sides = new Map<string, Migration.Side>()
        for (const id of ids.toSorted()) {
          sides.set(id, { session: yield* openWriter(id), directory: Layout.sessionPath(home, id) })
        }
        return yield* on(Migration.run(agent, sides.get(from) as Migration.Side, sides.get(to) as Migration.Side, mode))
      }),
    )
  })

  const holder = Effect.fn("SessionStore.holder")(function* (text: string) {
    const id = yield* Layout.sessionId(text)
    const directory = Layout.sessionPath(home, id)
    yield* on(Layout.existing("session", id, directory))
    return (yield* on(SessionFiles.isLive(directory))) ? yield* on(SessionFiles.holderOf(directory)) : undefined
  })

  const names = disk.list(sessions).pipe(
    Effect.mapError(ofDisk),
    Effect.map((found) => (found ?? []).filter((name) => problem(name) === undefined)),
  )

  const list = Effect.fn("SessionStore.list")(function* (filter: Parameters<Interface["list"]>[0] = {}) {
    const rows: Array<SessionSummary> = []
    for (const id of yield* names) {
      const row = yield* on(summary(home, id as SessionId))
      if (row.info !== undefined && filter.subagents !== true && row.info.origin === "subagent") continue
      if (filter.cwd !== undefined && row.info?.cwd !== filter.cwd) continue
      rows.push(row)
    }
    return rows.sort((a, b) => b.updated - a.updated || (a.id < b.id ? 1 : -1))
  })

  const orphans = Effect.gen(function* () {
    const found = []
    for (const id of yield* names) {
      const directory = Layout.sessionPath(home, id as SessionId)
      const live = yield* on(SessionFiles.isLive(directory))
      for (const orphan of yield* on(Orphans.ofSession(directory, id, live))) found.push({ ...orphan, session: id })
    }
    return found
  })

  const store: Interface = {
    health: health.changes,
    create,
    openWriter,
    openReader: (text) => Effect.flatMap(Layout.sessionId(text), (id) => on(SessionReading.open(home, id))),
    list,
    rename,
    delete: remove,
    holder,
    migrate,
    orphans,
    collect: (policy, { dryRun }) => on(dryRun ? Collection.plan(home, store, policy) : Collection.run(home, store, policy)),
    exportTo: (text, directory) =>
      Effect.flatMap(Layout.sessionId(text), (id) =>
        Effect.asVoid(on(Archive.exportTo(Layout.sessionPath(home, id), id, directory))),
      ),
    importFrom: (directory) => on(Archive.importFrom(home, directory)),
    importKimi: (text, directory) =>
      Effect.scoped(Effect.flatMap(openWriter(text), ({ subagents }) => on(KimiImport.run(subagents, directory)))),
  }
  return store
})

const isAbsolute = (path: string): boolean => /^(\/|[A-Za-z]:[\\/])/.test(path)

/** One row; whatever is wrong with the session becomes its `problem`. */
const summary = (home: string, id: SessionId): Effect.Effect<SessionSummary, StoreError, Disk.Service> =>
  Effect.gen(function* () {
    const disk = yield* Disk.Service
    const directory = Layout.sessionPath(home, id)
    const path = `${directory}/${Layout.sessionFile}`
    const touched =
      (yield* disk.stat(activePath(SessionReading.transcriptOf(directory))).pipe(Effect.mapError(ofDisk)))?.modified ?? 0
    const read = Effect.gen(function* () {
      yield* Layout.directory(directory)
      const info = yield* SessionReading.readInfo(directory, id)
      const raw = (yield* Document.read(path)) ?? {}
      const problem = yield* Document.checkWritable(path, raw, SessionDocument.format).pipe(
        Effect.match({ onFailure: (error) => error, onSuccess: () => undefined }),
      )
      const updated = Math.max(Date.parse(info.updated_at) || 0, touched)
      return { id, info, updated, ...(problem === undefined ? {} : { problem }) }
    })
    return yield* read.pipe(Effect.catch((error) => Effect.succeed<SessionSummary>({ id, updated: touched, problem: error })))
  })

export * as Sessions from "./Sessions.ts"
