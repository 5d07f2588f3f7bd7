import { is as isAgentId } from "@acp-kit/store/AgentId"
import { Health } from "@acp-kit/store/Health"
import { is as isSessionId } from "@acp-kit/store/SessionId"
import { SessionStore, type SessionSummary } from "@acp-kit/store/SessionStore"
import type { StoreError } from "@acp-kit/store/StoreError"
import { remarkable } from "@acp-kit/store/Warning"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type AgentSession, SessionBusy, type SessionEvent } from "./AgentSession.ts"
import { Directories, SetupRefused } from "./Directories.ts"
import { type Item, Items } from "./Item.ts"
import { type Beginning, type Opened, SessionParts, type Settings } from "./SessionParts.ts"

/** No session of this id is open here, or none exists. */
export class UnknownSession extends Schema.TaggedError<UnknownSession>()("UnknownSession", { id: Schema.String }) {
  override get message() {
    return `session not found: ${this.id}`
  }
}

export interface OpenOptions {
  /** Absolute path of an existing directory. */
  readonly cwd: string
  /** Absolute paths of existing directories: the whole list, which replaces an earlier one. */
  readonly additionalDirectories?: ReadonlyArray<string>
  /** Where the events of its turns go, in order and awaited. */
  readonly view: (sessionId: string, event: SessionEvent) => Effect.Effect<void>
}

export interface ForkOptions extends OpenOptions {
  /** The id of the branch, where it is one of an agent's (K02) and free; a new one otherwise. */
  readonly id?: string
}

/** One page of sessions, newest first; `next` is the cursor of the following one. */
export interface Page {
  readonly sessions: ReadonlyArray<SessionSummary>
  readonly next?: string
}

/** The cursor is none that a page gave. */
export class CursorInvalid extends Schema.TaggedError<CursorInvalid>()("CursorInvalid", {}) {
  override get message() {
    return "invalid session list cursor"
  }
}

/** The sessions of one process. Every session is in the store; what is open here is locked for this process. */
export interface Interface {
  /** A new session with its own tools and children. `SetupRefused` means that nothing was created. */
  readonly create: (options: OpenOptions) => Effect.Effect<AgentSession, SetupRefused | UnknownSession>
  /** Opens a session of the store, or gives the open one where its directories are these; one that works is refused. What a crash left unfinished is finished. */
  readonly load: (id: string, options: OpenOptions) => Effect.Effect<AgentSession, SetupRefused | UnknownSession | SessionBusy>
  /**
   * A new session that begins with the completed turns of another, with its model and effort (S130). It waits for a running turn of the
   * source; the source does not change.
   */
  readonly fork: (id: string, options: ForkOptions) => Effect.Effect<AgentSession, SetupRefused | UnknownSession>
  readonly get: (id: string) => Effect.Effect<AgentSession, UnknownSession>
  /** Sessions that a person or an editor began, of one working directory where that is given. */
  readonly list: (filter: {
    readonly cwd?: string
    readonly cursor?: string
  }) => Effect.Effect<Page, SetupRefused | CursorInvalid>
  /** Cancels the running turn, waits until it has stopped, and releases the session with its children. Nothing on disk is removed. */
  readonly close: (id: string) => Effect.Effect<void, UnknownSession>
  /** Closes the session where it is open here, and removes it with its children from the store. One that is not there is no failure. */
  readonly remove: (id: string) => Effect.Effect<void, SetupRefused>
  /** Succeeds once no turn is running. */
  readonly idle: Effect.Effect<void>
  /** Closes all. Safe to call twice. */
  readonly shutdown: Effect.Effect<void>
}

export class Service extends Context.Service<Service, Interface>()("@acp-kit/agent/AgentSessions") {}

type Services = SessionStore.Service | FileSystem.FileSystem | Path.Path

interface Open {
  readonly session: AgentSession
  /** Stops and releases it, once; succeeds when that is done. */
  readonly end: Effect.Effect<void>
}

const pageLength = 100

/** The sessions of one process; the layer's scope ends them all. */
export const layerWith = (settings: Settings): Layer.Layer<Service, never, Services> => Layer.effect(Service, make(settings))

const make = Effect.fnUntraced(function* (settings: Settings): Effect.fn.Return<Interface, never, Services | Scope.Scope> {
  const outer = yield* Effect.scope
  const services = yield* Effect.context<Services>()
  const store = yield* SessionStore.Service
  const sessions = new Map<string, Open>()
  /** Sessions that are being closed: their lock and their children are still there. */
  const ending = new Map<string, Effect.Effect<void>>()
  let first = settings.first

  const check = (options: OpenOptions) =>
    Effect.provideContext(Directories.check(options.cwd, options.additionalDirectories ?? [], settings.root), services)

  /** Makes a session in a scope of its own; a failure or an interruption leaves nothing open. */
  const open = Effect.fnUntraced(function* <E>(
    options: OpenOptions,
    obtain: (directories: Directories.Directories) => Effect.Effect<Opened, E, Services | Scope.Scope>,
  ) {
    const directories = yield* check(options)
    const scope = yield* Scope.fork(outer)
    const { session, warnings } = yield* Effect.flatMap(obtain(directories), (opened) =>
      Effect.map(
        SessionParts.assemble(settings, directories, opened, (event) => options.view(opened.writer.id, event)),
        (session) => ({ session, warnings: remarkable(opened.writer.warnings) }),
      ),
    ).pipe(
      Scope.provide(scope),
      Effect.onError(() => Scope.close(scope, Exit.void)),
    )
    const release = Effect.ensuring(
      Effect.andThen(session.cancel, Scope.close(scope, Exit.void)),
      Effect.sync(() => ending.delete(session.id)),
    )
    sessions.set(session.id, { session, end: yield* Effect.cached(Effect.uninterruptible(release)) })
    const tell = ({ severity, text }: Health.News) => options.view(session.id, { type: "notice", severity, title: text })
    for (const { path, message } of warnings) yield* tell({ severity: "warning", text: `${path}: ${message}` })
    yield* Effect.forkIn(Stream.runForEach(Health.news(store.health), tell), scope)
    return session
  }, Effect.provideContext(services))

  /** A session that is new in the store; where it cannot be opened it is removed again. */
  const begin = (options: OpenOptions, beginning: Beginning) =>
    Effect.suspend(() => {
      let made: string | undefined
      const obtain = (directories: Directories.Directories) =>
        Effect.map(SessionParts.create(settings, directories, beginning), (opened) => {
          made = opened.writer.id
          return opened
        })
      return open(options, (directories) => Effect.mapError(obtain(directories), refused)).pipe(
        Effect.onError(() => (made === undefined ? Effect.void : Effect.ignore(store.delete(made)))),
      )
    })

  const create = Effect.fn("AgentSessions.create")(function* (options: OpenOptions) {
    const given = first
    first = undefined
    const again = given !== undefined && (given.resume || (yield* isUntouched(given.id)))
    const opening = again
      ? Effect.catchTag(load(given.id, options), "SessionBusy", Effect.die)
      : begin(options, { id: given?.id })
    return yield* Effect.onError(opening, () =>
      Effect.sync(() => {
        first = given
      }),
    )
  })

  /** Whether there is a session of this id that was never prompted: whoever made it for the same parent died right after (K07). */
  const isUntouched = (id: string) =>
    Effect.match(
      Effect.flatMap(store.openReader(id), (reader) => reader.items),
      {
        onFailure: () => false,
        onSuccess: (records) => !records.some((record) => Items.read(record)?.type === "prompt"),
      },
    )

  const ended = (id: string) => Effect.suspend(() => ending.get(id) ?? Effect.void)

  const load = Effect.fn("AgentSessions.load")(function* (id: string, options: OpenOptions) {
    yield* ended(id)
    const here = sessions.get(id)?.session
    if (here !== undefined) {
      if (yield* here.working) return yield* new SessionBusy({ id })
      const wanted = yield* check(options)
      if (isAt(here, wanted)) return here
      yield* close(id)
    }
    return yield* open(options, () => Effect.mapError(SessionParts.existing(id), (error) => refusal(id, error)))
  })

  const fork = Effect.fn("AgentSessions.fork")(function* (id: string, options: ForkOptions) {
    const items = Items.completed(yield* historyOf(id))
    const wanted = options.id !== undefined && isAgentId(options.id) ? options.id : undefined
    return yield* begin(options, { id: wanted, items })
  })

  const historyOf = Effect.fnUntraced(function* (
    id: string,
  ): Effect.fn.Return<ReadonlyArray<Item>, SetupRefused | UnknownSession> {
    yield* ended(id)
    const here = sessions.get(id)
    if (here !== undefined) return yield* Effect.as(here.session.idle, here.session.history.items())
    const records = yield* Effect.mapError(
      Effect.flatMap(store.openReader(id), (reader) => reader.items),
      (error) => refusal(id, error),
    )
    return records.flatMap((record) => Items.read(record) ?? [])
  })

  const get = Effect.fn("AgentSessions.get")(function* (id: string) {
    return (sessions.get(id) ?? (yield* new UnknownSession({ id }))).session
  })

  const list = Effect.fn("AgentSessions.list")(function* ({ cwd, cursor = "offset:0" }: { cwd?: string; cursor?: string }) {
    const [, digits] = /^offset:(\d{1,9})$/.exec(cursor) ?? []
    if (digits === undefined) return yield* new CursorInvalid()
    const from = Number(digits)
    const paths = Context.get(services, Path.Path)
    if (cwd !== undefined && !paths.isAbsolute(cwd)) return yield* new SetupRefused({ message: `cwd must be absolute: ${cwd}` })
    const all = yield* Effect.mapError(store.list(cwd === undefined ? {} : { cwd }), refused)
    const found = all.filter(({ info }) => info !== undefined)
    const page = found.slice(from, from + pageLength)
    return from + pageLength < found.length ? { sessions: page, next: `offset:${from + pageLength}` } : { sessions: page }
  })

  const close = Effect.fn("AgentSessions.close")(function* (id: string) {
    const { end } = sessions.get(id) ?? (yield* new UnknownSession({ id }))
    sessions.delete(id)
    ending.set(id, end)
    yield* Effect.uninterruptible(end)
  })

  const remove = Effect.fn("AgentSessions.remove")(function* (id: string) {
    if (!isSessionId(id)) return
    yield* Effect.ignore(close(id))
    yield* ended(id)
    yield* Effect.catchIf(
      store.delete(id),
      (error) => error.reason._tag === "NotFound",
      () => Effect.void,
    ).pipe(Effect.mapError(refused))
  })

  const all = (works: () => Iterable<Effect.Effect<void>>) =>
    Effect.suspend(() => Effect.all([...works()], { concurrency: "unbounded", discard: true }))

  yield* Effect.addFinalizer(() => all(() => ending.values()))
  return {
    create,
    load,
    fork,
    get,
    list,
    close,
    remove,
    idle: all(() => [...sessions.values()].map(({ session }) => session.idle)),
    shutdown: all(() => [...[...sessions.keys()].map((id) => Effect.ignore(close(id))), ...ending.values()]),
  }
})

const isAt = ({ cwd, additionalDirectories }: AgentSession, wanted: Directories.Directories) =>
  cwd === wanted.cwd &&
  additionalDirectories.length === wanted.additional.length &&
  additionalDirectories.every((path, index) => path === wanted.additional[index])

const refused = (error: StoreError) => new SetupRefused({ message: error.message })

const refusal = (id: string, error: StoreError) =>
  error.reason._tag === "NotFound" || error.reason._tag === "InvalidId" ? new UnknownSession({ id }) : refused(error)

export * as AgentSessions from "./AgentSessions.ts"
