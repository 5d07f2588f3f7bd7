import { JsonSchemas } from "@acp-kit/json-schema/JsonSchemas"
import { Files } from "@acp-kit/platform/Files"
import { Host } from "@acp-kit/platform/Host"
import { Processes } from "@acp-kit/platform/Processes"
import type { Json } from "@acp-kit/runlet/Host"
import { SessionStore } from "@acp-kit/store/SessionStore"
import type { StoreError } from "@acp-kit/store/StoreError"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type * as Stream from "effect/Stream"
import { Checkpoints } from "./Checkpoints.ts"
import type { HandleValue } from "./Child.ts"
import { Children } from "./Children.ts"
import { Config } from "./Config.ts"
import type { ConfigError } from "./ConfigProblem.ts"
import { Harness } from "./Harness.ts"
import { Limits } from "./Limits.ts"
import type { Options, Parent, Services } from "./Parent.ts"
import { Restore } from "./Restore.ts"
import { Roster, type RosterEvent, type RosterRow } from "./Roster.ts"
import { SessionMark } from "./SessionMark.ts"
import { SubagentError } from "./SubagentError.ts"
import { close } from "./Verbs/Close.ts"
import { fork } from "./Verbs/Fork.ts"
import { subagents } from "./Verbs/List.ts"
import { prompt } from "./Verbs/Prompt.ts"
import { type Request as Resume, resume } from "./Verbs/Resume.ts"
import { steer } from "./Verbs/Steer.ts"
import { subagent } from "./Verbs/Subagent.ts"

export type { HandleValue } from "./Child.ts"
export type { Options, Services } from "./Parent.ts"
export type { RosterEvent, RosterRow, Status } from "./Roster.ts"

/** The six verbs of one parent session. Arguments are whatever the program passed; each verb validates its own (decision 18). */
export interface Interface {
  readonly subagent: (input: Json) => Effect.Effect<HandleValue, SubagentError>
  readonly prompt: (input: Json) => Effect.Effect<HandleValue, SubagentError>
  readonly fork: (input: Json) => Effect.Effect<HandleValue, SubagentError>
  readonly steer: (input: Json) => Effect.Effect<Json, SubagentError>
  readonly close: (input: Json) => Effect.Effect<Json, SubagentError>
  readonly subagents: (input: Json) => Effect.Effect<ReadonlyArray<Json>, SubagentError>
  /** The rows of now. */
  readonly roster: Effect.Effect<ReadonlyArray<RosterRow>>
  /** Starts with a `changed` per live row and ends after the last child, with the scope; a slow reader never slows a child. */
  readonly events: Stream.Stream<RosterEvent>
}

/** The verbs, and what programs on this side of the language may do besides. */
export interface Live extends Interface {
  /** Continues an agent by its id, whatever its generation (K09). */
  readonly resume: (request: Resume) => Effect.Effect<HandleValue, SubagentError>
}

export class Service extends Context.Service<Service, Interface>()("@acp-kit/orchestrator/Subagents") {}

const cancelled = () => new SubagentError({ code: "CANCELLED", message: "nested agent cancelled", uncertain: true })

const makeParent = Effect.fnUntraced(function* (
  options: Options,
  restored: boolean,
): Effect.fn.Return<Parent, never, Services | Scope.Scope> {
  const limits = yield* Limits.Service
  const host = yield* Host.Service
  const context = yield* Effect.context<Services>()
  const work = yield* Scope.make("parallel")
  const processes = yield* Scope.make("parallel")
  const roster = new Roster(limits.logLines)
  yield* Effect.addFinalizer(() =>
    Scope.close(work, Exit.void).pipe(
      Effect.andThen(Scope.close(processes, Exit.void)),
      Effect.andThen(Effect.sync(() => roster.end())),
    ),
  )
  // A disk that is full is told by the health of the store, once for all that it refuses.
  const trouble: Parent["trouble"] = (harness, error, what = "") =>
    Effect.sync(() => {
      if (error.reason._tag !== "NoSpace") roster.log(harness, `${what}${error.message}`)
    })
  const mark = SessionMark.of(host.kitHome, options.session.id)
  const { reapMarked } = yield* Processes.Service
  const reaping = yield* Effect.forkIn(restored ? reapMarked(mark) : Effect.void, processes, { startImmediately: true })
  const start: Parent["fork"] = (effect) =>
    Effect.forkIn(Effect.provideContext(effect, context), work, { startImmediately: true })
  return {
    options,
    limits,
    roster,
    host,
    processes,
    mark,
    reaped: Effect.asVoid(Fiber.await(reaping)),
    children: new Children(roster, limits),
    arrivals: Semaphore.makeUnsafe(1),
    checkpoints: new Checkpoints(options.session, options.depth + 1, (error) => trouble("kit", error)),
    trouble,
    fork: start,
    own: (effect) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const fiber = yield* start(effect)
          const exit = yield* restore(Fiber.await(fiber)).pipe(Effect.onInterrupt(() => Fiber.interrupt(fiber)))
          if (Exit.isSuccess(exit)) return exit.value
          return yield* Cause.hasInterruptsOnly(exit.cause) ? Effect.fail(cancelled()) : Effect.failCause(exit.cause)
        }),
      ),
  }
})

/**
 * The children of one parent session, those of earlier runs included (S101); no process is started. The end of the scope cancels what works,
 * ends every process, and deletes nothing (S15). Fails where the session's records cannot be read.
 */
export const make = Effect.fn("Subagents.make")(function* (
  options: Options,
): Effect.fn.Return<Live, StoreError, Services | Scope.Scope> {
  const records = yield* options.session.children
  const known = yield* options.session.subagents.list({ limit: 1 })
  const parent = yield* makeParent(options, known.length > 0)
  for (const record of records) {
    const child = Restore.childOf(record, options.harnesses, (name) => parent.children.freeName(name))
    if (child === undefined) parent.children.remember(record.id)
    else parent.children.restore(child)
  }
  return {
    subagent: (input) => parent.own(subagent(parent, input)),
    prompt: (input) => parent.own(prompt(parent, input)),
    fork: (input) => parent.own(fork(parent, input)),
    steer: (input) => steer(parent, input),
    close: (input) => parent.own(close(parent, input)),
    subagents: (input) => subagents(parent, input),
    roster: Effect.sync(() => parent.roster.rows),
    events: parent.roster.events,
    resume: (request) => parent.own(resume(parent, request)),
  }
})

/** Everything that {@link make} needs, in plain values: for programs that are not Kit. */
export interface Standalone {
  /** Where sessions are kept, absolute; made when the first one is. */
  readonly home: string
  /** The working directory of the children, absolute. */
  readonly root: string
  /** What the children's environment is made of, `process.env` say. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The harnesses, and the one that is used where a call names none, as `config.toml` has them. Default: `kit` on the PATH. */
  readonly config?: string
  /** Goes on with this session, its children included; without it a new one is made. */
  readonly session?: string
}

/**
 * The verbs, without the command and with nothing to set up: configuration, session, processes and files all live as long as the scope.
 * Fails where the configuration is wrong (`CONFIG`) or the session cannot be opened (`SESSION_LOCKED`, `SESSION_NOT_FOUND`, …).
 */
export const open = Effect.fn("Subagents.open")(function* (
  options: Standalone,
): Effect.fn.Return<Live & { readonly session: SessionStore.SessionWriter }, ConfigError | StoreError, Scope.Scope> {
  const { home, root, config = "" } = options
  const settings = yield* Config.decode("config", config)
  const self = ["kit"] as const
  const env = Object.fromEntries(
    Object.entries(options.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
  const machine = Layer.mergeAll(
    Processes.layer,
    Files.layer,
    JsonSchemas.layer,
    SessionStore.layerWith({ home }),
    Host.layerWith({ env, kitHome: home, cwd: root, self, version: "embedded" }),
    Limits.layerWith(settings.limits),
  )
  const opened = Effect.gen(function* () {
    const store = yield* SessionStore.Service
    const session = yield* options.session === undefined ? store.create({ cwd: root }) : store.openWriter(options.session)
    const harnesses = Harness.fromTables(settings, self)
    const live = yield* make({ session, depth: 0, root, additionalDirectories: [], harnesses, inherited: Effect.succeed({}) })
    return { ...live, session }
  })
  return yield* Effect.provideContext(opened, yield* Layer.build(machine))
})

/** {@link make} as a layer. */
export const layerWith = (options: Options): Layer.Layer<Service, StoreError, Services> => Layer.effect(Service, make(options))

export * as Subagents from "./Subagents.ts"
