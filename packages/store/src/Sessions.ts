import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Archive from "./Archive.ts"
import * as Collection from "./Collection.ts"
import * as Deletion from "./Deletion.ts"
import { Disk } from "./Disk.ts"
import * as Document from "./Document.ts"
import { Health } from "./Health.ts"
import * as KimiImport from "./KimiImport.ts"
import * as Layout from "./Layout.ts"
import { Lock } from "./Lock.ts"
import * as Migration from "./Migration.ts"
import * as Orphans from "./Orphans.ts"
import type { CreateOptions, SessionSummary, SessionWriter, TranscriptRecord } from "./Session.ts"
import * as SessionDocument from "./SessionDocument.ts"
import * as SessionFiles from "./SessionFiles.ts"
import { make as makeId, problem, type SessionId } from "./SessionId.ts"
import * as SessionReading from "./SessionReading.ts"
import type { Interface, Options } from "./SessionStore.ts"
import * as SessionWriting from "./SessionWriting.ts"
import { Invalid, of, ofDisk } from "./StoreError.ts"
import { StoreLimits } from "./StoreLimits.ts"

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

  const hooks: SessionWriting.Hooks = {
    onHealth: health.report,
    onDelete: (agent) => on(Deletion.nested(home, agent)),
  }

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
    return yield* registered(yield* on(SessionWriting.writer(home, id, raw, [], hooks)))
  })

  const openWriter = Effect.fn("SessionStore.openWriter")(function* (text: string, visit?: (record: TranscriptRecord) => void) {
    const id = yield* Layout.sessionId(text)
    return yield* registered(yield* on(SessionWriting.open(home, id, hooks, visit)))
  })

  const rename = Effect.fn("SessionStore.rename")(function* (text: string, title: string | undefined) {
    const id = yield* Layout.sessionId(text)
    const own = open.get(id)
    if (own !== undefined) return yield* own.rename(title)
    return yield* Effect.scoped(Effect.flatMap(on(SessionWriting.open(home, id, hooks)), (writer) => writer.rename(title)))
  })

  const remove = Effect.fn("SessionStore.delete")(function* (text: string) {
    const id = yield* Layout.sessionId(text)
    yield* on(Deletion.session(home, id))
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
      const row = yield* on(SessionReading.summary(home, id as SessionId))
      if (row.info !== undefined && filter.subagents !== true && row.info.origin === "subagent") continue
      if (filter.cwd !== undefined && row.info !== undefined && row.info.cwd !== filter.cwd) continue
      rows.push(row)
    }
    return rows.sort((a, b) => b.updated - a.updated || (a.id < b.id ? 1 : -1))
  })

  const exportTo = Effect.fn("SessionStore.exportTo")(function* (text: string, directory: string, onCopied?: Archive.OnCopied) {
    const id = yield* Layout.sessionId(text)
    if (`${directory}/`.startsWith(`${sessions}/`)) {
      return yield* of(new Invalid({ what: "export", why: `${directory} lies among the sessions themselves` }))
    }
    return yield* on(Archive.exportTo(home, id, directory, onCopied))
  })

  const orphans = Effect.gen(function* () {
    const found = []
    for (const id of yield* names) {
      const directory = Layout.sessionPath(home, id as SessionId)
      const those = Layout.existing("session", id, directory).pipe(
        Effect.andThen(Orphans.ofSession(directory, id, SessionFiles.isLive(directory))),
        Effect.catch((error) => Effect.succeed([{ path: directory, id, why: "no_metadata", detail: error.message } as const])),
      )
      for (const orphan of yield* on(those)) found.push({ ...orphan, session: id })
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
    collect: (policy, { dryRun, onLooked = () => {} }) =>
      on((dryRun ? Collection.plan : Collection.run)(home, store, policy, onLooked)),
    exportTo,
    importFrom: (directory, onCopied) => Effect.scoped(on(Archive.importFrom(home, directory, onCopied))),
    importKimi: (text, directory) =>
      Effect.scoped(Effect.flatMap(openWriter(text), ({ subagents }) => on(KimiImport.run(subagents, directory)))),
  }
  return store
})

const isAbsolute = (path: string): boolean => /^(\/|[A-Za-z]:[\\/])/.test(path)

export * as Sessions from "./Sessions.ts"
