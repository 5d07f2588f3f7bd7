import type { Session, SessionView } from "@acp-kit/protocol/Session"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Capture } from "./Capture.ts"
import type { Attachment, Child, Connection } from "./Child.ts"
import { lost } from "./Children.ts"
import type { Profile } from "./Harness.ts"
import { environment, type Inheritance, kitArguments } from "./Inheritance.ts"
import { Launch } from "./Launch.ts"
import { LaunchError } from "./LaunchError.ts"
import type { Parent, Services } from "./Parent.ts"
import { SessionMark } from "./SessionMark.ts"
import { SessionSetup } from "./SessionSetup.ts"
import type { SubagentError } from "./SubagentError.ts"
import { SystemPrompt } from "./SystemPrompt.ts"
import { WireLog } from "./WireLog.ts"

/** What the start of one child is about. */
export interface Request {
  readonly child: Child
  readonly profile: Profile
  /** The id of an explicitly chosen model, aliases resolved (S22). */
  readonly model: string | undefined
  /** The body of its definition; `acp.kit` gets it by argument (K03). */
  readonly systemPrompt: string
  /** Variables of its definition. */
  readonly env: Readonly<Record<string, string>>
  /** Names of those whose values are secret. */
  readonly secrets: ReadonlyArray<string>
  /** The ACP session to attach to again (S104); a new one is opened where absent. */
  readonly resume?: string
}

const sameView = (left: SessionView | undefined, right: SessionView): boolean =>
  left !== undefined &&
  left.tool === right.tool &&
  left.plan === right.plan &&
  left.title === right.title &&
  left.usage?.used === right.usage?.used &&
  left.usage?.size === right.usage?.size

/** Keeps the roster at what the session reports, as long as the child and its process live (S50 to S54). */
export const follow = Effect.fnUntraced(function* (parent: Parent, child: Child, { connection, session }: Attachment) {
  const look = Effect.map(session.view, (view) => {
    if (sameView(child.view, view)) return
    child.view = view
    parent.children.show(child)
  })
  const following = Effect.andThen(
    look,
    Stream.runForEach(session.activity(1), () => look),
  )
  yield* Effect.forkIn(Effect.raceFirst(following, Effect.ignore(Deferred.await(child.ended))), connection.scope)
})

/** A child whose process ends between turns is gone; one in a turn learns it there. */
const watch = Effect.fnUntraced(function* (parent: Parent, connection: Connection) {
  const closed = yield* connection.client.closed
  yield* connection.log.note("exit", {
    ...(closed.exitCode === undefined ? {} : { exitCode: closed.exitCode }),
    ...(closed.signal === undefined ? {} : { signal: closed.signal }),
  })
  for (const child of parent.children.all) {
    const idle = child.state === "idle" || child.state === "fork-reserved"
    if (!idle || child.attachment?.connection !== connection) continue
    child.attachment = undefined
    connection.residents.delete(child.id)
    parent.children.retire(child, "ended", lost(), lost().message)
  }
  yield* connection.stop()
})

const open = Effect.fnUntraced(function* (
  parent: Parent,
  { child, profile, model, resume }: Request,
  connection: Connection,
  stray: ReadonlyArray<string>,
): Effect.fn.Return<Session, SubagentError> {
  const { client, log } = connection
  const options = { cwd: child.cwd, additionalDirectories: parent.options.additionalDirectories }
  const attach = resume !== undefined && !profile.isKit
  if (attach) log.assign(resume, child.id)
  const session = yield* (attach ? client.attach({ ...options, sessionId: resume }) : client.newSession(options)).pipe(
    Effect.mapError((error) => LaunchError.ofStart(profile, error, stray, connection.quote)),
  )
  log.assign(session.id, child.id)
  if (model !== undefined) yield* SessionSetup.selectModel(profile, { connection, session }, model)
  yield* SessionSetup.applyOptions(profile, { connection, session })
  child.sessionId = session.id
  child.snapshot = Capture.snapshotText(yield* session.configOptions)
  return session
})

/** The whole argument list of a child; files that it names live as long as the scope. */
const argumentsOf = Effect.fnUntraced(function* (
  parent: Parent,
  { child, profile, systemPrompt, resume }: Request,
  inherited: Inheritance,
): Effect.fn.Return<ReadonlyArray<string>, SubagentError, Services | Scope.Scope> {
  if (!profile.isKit) return profile.args
  const systemPromptFile = yield* SystemPrompt.file(parent, child, systemPrompt)
  return kitArguments(profile, inherited, {
    root: child.cwd,
    sessionId: resume ?? child.id,
    depth: parent.options.depth + 1,
    resume: resume !== undefined,
    ...(systemPromptFile === undefined ? {} : { systemPromptFile }),
  })
})

const launch = Effect.fnUntraced(function* (parent: Parent, request: Request, log: WireLog, stray: Array<string>) {
  const { child, profile, env, secrets } = request
  const { options, host, roster } = parent
  const inherited = yield* options.inherited
  yield* parent.reaped
  return yield* Launch.launch(
    profile,
    {
      cwd: child.cwd,
      args: yield* argumentsOf(parent, request, inherited),
      env: SessionMark.on(environment(profile, host.env, inherited, env), parent.mark),
      secrets: [...secrets, ...Object.keys(inherited.secrets ?? {})],
      info: { name: "kit", version: host.version },
      observe: log.observe,
      onLine: (line) => Effect.sync(() => roster.log(profile.name, line)),
    },
    stray,
  )
})

const connect = Effect.fnUntraced(function* (
  parent: Parent,
  request: Request,
  stray: Array<string>,
): Effect.fn.Return<Attachment, SubagentError, Services> {
  const { child, profile, resume } = request
  const log = new WireLog(parent.options.session.subagents, child.id, (error) =>
    parent.trouble(profile.name, error, `wire log of ${child.name}: `),
  )
  yield* log.note("start", { harness: profile.reference, resume: resume !== undefined })
  return yield* Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* (): Effect.fn.Return<Attachment, SubagentError, Services> {
      const scope = yield* Scope.fork(parent.processes)
      const launching = restore(Scope.provide(launch(parent, request, log, stray), scope))
      const launched = yield* Effect.onError(launching, () => Scope.close(scope, Exit.void))
      const stop: Connection["stop"] = (how) =>
        Effect.uninterruptible(Effect.andThen(launched.stop(how), Scope.close(scope, Exit.void)))
      const connection: Connection = {
        client: launched.client,
        log,
        quote: launched.quote,
        scope,
        residents: new Set([child.id]),
        stop,
      }
      const session = yield* restore(open(parent, request, connection, stray)).pipe(Effect.onError(() => stop("afterCancel")))
      const attachment = { connection, session }
      child.attachment = attachment
      yield* Effect.forkIn(watch(parent, connection), parent.processes)
      yield* follow(parent, child, attachment)
      return attachment
    }),
  )
})

/**
 * Starts a child's process and opens its session, model and options included, within the one deadline of a start (S162).
 * Whatever fails, and an interruption too, leaves no process. What succeeds is the child's `attachment`.
 */
export const start = Effect.fn("Start.start")(function* (
  parent: Parent,
  request: Request,
): Effect.fn.Return<Attachment, SubagentError, Services> {
  const stray: Array<string> = []
  return yield* connect(parent, request, stray).pipe(
    Effect.timeoutOrElse({
      duration: parent.limits.startupMs,
      orElse: () => Effect.fail(LaunchError.handshakeTimeout(request.profile, parent.limits, stray)),
    }),
  )
})

export * as Start from "./Start.ts"
