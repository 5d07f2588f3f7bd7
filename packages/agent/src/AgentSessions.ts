import { make as makeSessionId } from "@acp-kit/store/SessionId"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { type AgentSession, AgentSessionMaker } from "./AgentSession.ts"
import { Directories, type SetupRefused } from "./Directories.ts"
import type { History } from "./History.ts"
import type { Interface as Provider } from "./ModelProvider.ts"
import type { Selection } from "./SessionOptions.ts"
import type { Limits, Tool, TurnEvent } from "./TurnLoop.ts"

/** No session of this id is open here. */
export class UnknownSession extends Schema.TaggedError<UnknownSession>()("UnknownSession", { id: Schema.String }) {
  override get message() {
    return `session not found: ${this.id}`
  }
}

export interface OpenOptions {
  /** Absolute path of an existing directory. */
  readonly cwd: string
  /** Absolute paths of existing directories. */
  readonly additionalDirectories?: ReadonlyArray<string>
  /** Where the events of its turns go, in order and awaited. */
  readonly view: (sessionId: string, event: TurnEvent) => Effect.Effect<void>
}

/** The sessions of one process. */
export interface Interface {
  /** A new session with its own tools and children. `SetupRefused` means that nothing was created. */
  readonly create: (options: OpenOptions) => Effect.Effect<AgentSession, SetupRefused>
  readonly get: (id: string) => Effect.Effect<AgentSession, UnknownSession>
  /** Cancels the running turn, waits until it has stopped, and releases the session with its children. Nothing on disk is removed. */
  readonly close: (id: string) => Effect.Effect<void, UnknownSession>
  /** Succeeds once no turn is running. */
  readonly idle: Effect.Effect<void>
  /** Closes all. Safe to call twice. */
  readonly shutdown: Effect.Effect<void>
}

export class Service extends Context.Service<Service, Interface>()("@acp-kit/agent/AgentSessions") {}

/** What a session is about when its parts are made; directories are checked. */
export interface SessionContext {
  readonly id: string
  readonly cwd: string
  readonly additionalDirectories: ReadonlyArray<string>
  /** What is chosen now. */
  readonly selection: Ref.Ref<Selection>
}

/** What one session is made of; its scope is the session's life. */
export interface SessionParts {
  readonly history: History
  readonly tools: ReadonlyArray<Tool>
}

export interface Settings {
  readonly provider: Provider
  /** What new sessions start with. */
  readonly selection: Selection
  /** The system prompt, empty for none. */
  readonly system: string
  readonly limits: Limits
  /** The one working directory that sessions may have; any where absent. */
  readonly root?: string | undefined
  /** The id of the first session; later ones get ids of their own. */
  readonly firstId?: string | undefined
  readonly parts: (context: SessionContext) => Effect.Effect<SessionParts, SetupRefused, Scope.Scope>
}

interface Open {
  readonly session: AgentSession
  readonly scope: Scope.Closeable
}

/** The sessions of one process; the layer's scope ends them all. */
export const layerWith = (settings: Settings): Layer.Layer<Service, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    Service,
    Effect.gen(function* () {
      const outer = yield* Effect.scope
      const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
      const sessions = new Map<string, Open>()
      let firstId = settings.firstId

      const create = Effect.fn("AgentSessions.create")(function* (options: OpenOptions) {
        const { cwd, additional } = yield* Directories.check(options.cwd, options.additionalDirectories ?? [], settings.root)
        const id = firstId ?? (yield* makeSessionId)
        firstId = undefined
        const scope = yield* Scope.fork(outer)
        const selection = yield* Ref.make(settings.selection)
        const session = yield* open({ id, cwd, additionalDirectories: additional, selection }, options).pipe(
          Scope.provide(scope),
          Effect.onError(() => Scope.close(scope, Exit.void)),
        )
        sessions.set(id, { session, scope })
        return session
      }, Effect.provideContext(services))

      const open = Effect.fnUntraced(function* (context: SessionContext, options: OpenOptions) {
        const { history, tools } = yield* settings.parts(context)
        const { provider, system, limits } = settings
        const view = (event: TurnEvent) => options.view(context.id, event)
        return yield* AgentSessionMaker.make({ ...context, history, tools, provider, system, limits, view })
      })

      const get = Effect.fn("AgentSessions.get")(function* (id: string) {
        return (sessions.get(id) ?? (yield* new UnknownSession({ id }))).session
      })

      const close = Effect.fn("AgentSessions.close")(function* (id: string) {
        const { session, scope } = sessions.get(id) ?? (yield* new UnknownSession({ id }))
        sessions.delete(id)
        yield* Effect.uninterruptible(Effect.andThen(session.cancel, Scope.close(scope, Exit.void)))
      })

      const each = (act: (open: Open) => Effect.Effect<void>) =>
        Effect.suspend(() => Effect.forEach([...sessions.values()], act, { concurrency: "unbounded", discard: true }))

      return {
        create,
        get,
        close,
        idle: each(({ session }) => session.idle),
        shutdown: each(({ session }) => Effect.ignore(close(session.id))),
      }
    }),
  )

export * as AgentSessions from "./AgentSessions.ts"
