import type { ProtocolError } from "@acp-kit/protocol/ProtocolError"
import type { Json } from "@acp-kit/runlet/Host"
import { make as makeId } from "@acp-kit/store/AgentId"
import { SessionStore } from "@acp-kit/store/SessionStore"
import type { LoadedAgent } from "@acp-kit/store/SubagentStore"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { Arguments, type Held } from "../Arguments.ts"
import { Capture } from "../Capture.ts"
import type { Attachment, Child, HandleValue } from "../Child.ts"
import { retired } from "../Children.ts"
import type { Quote } from "../ChildWords.ts"
import { Harness } from "../Harness.ts"
import { kit } from "../HarnessReference.ts"
import { LaunchError } from "../LaunchError.ts"
import { Limits } from "../Limits.ts"
import { ModelPolicy } from "../ModelPolicy.ts"
import type { Parent, Services } from "../Parent.ts"
import { PromptContent } from "../PromptContent.ts"
import { Reconnect } from "../Reconnect.ts"
import { SessionSetup } from "../SessionSetup.ts"
import { Start } from "../Start.ts"
import { StructuredOutput } from "../StructuredOutput.ts"
import { SubagentError } from "../SubagentError.ts"
import { Task } from "../Task.ts"
import { TranscriptCopy } from "../TranscriptCopy.ts"
import { Turn } from "../Turn.ts"
import { checkGeneration } from "./Prompt.ts"
import { tooDeep } from "./Subagent.ts"

const keys = ["subagent", "prompt", "name", "output_schema"]

type ForkError =
  | ProtocolError.CallError
  | ProtocolError.CapabilityMissing
  | ProtocolError.SessionRetired
  | ProtocolError.DeadlineExceeded

const unsupported = (source: Child): SubagentError =>
  new SubagentError({
    code: "FORK_UNSUPPORTED",
    message: `ACP harness ${JSON.stringify(source.harness)} does not advertise session/fork; transcript fallback is only available for Kit`,
    retryable: false,
  })

const timedOut = (method: string, limits: Limits.Interface): SubagentError =>
  new SubagentError({
    code: "FORK_TIMEOUT",
    message: `ACP harness did not answer ${method} within ${Limits.seconds(limits.forkMs)}`,
    uncertain: true,
  })

const forkFailure = (source: Child, quote: Quote, limits: Limits.Interface, error: ForkError): SubagentError => {
  switch (error._tag) {
    case "CapabilityMissing":
      return unsupported(source)
    case "DeadlineExceeded":
      return timedOut(error.method, limits)
    case "AuthRequired":
      return LaunchError.authRequired({ reference: source.harness }, error.methodIds)
    case "SessionRetired":
      return retired()
    case "TransportClosed":
      return new SubagentError({
        code: "LOST",
        message: LaunchError.exitedWithout("a fork response", error),
        uncertain: true,
        details: LaunchError.exitDetails(error),
      })
    default:
      return new SubagentError({ code: "FORK_FAILED", message: `session/fork failed: ${quote(error.message)}` })
  }
}

const admit = Effect.fnUntraced(function* (parent: Parent, source: Child, name: string | undefined, held: Held, task: string) {
  const identity = {
    id: yield* makeId,
    harness: source.harness,
    ...(source.vendor === undefined ? {} : { vendor: source.vendor }),
    cwd: source.cwd,
    created: yield* Clock.currentTimeMillis,
    ...(source.model === undefined ? {} : { model: source.model }),
    ...(source.agent === undefined ? {} : { agent: source.agent }),
  }
  const branch = yield* Effect.fromResult(parent.children.admit(identity, name, task))
  branch.generation = held.generation
  return branch
})

/** What the source was launched with; its branch has the same. */
const launchOf = (parent: Parent, source: Child): Effect.Effect<LoadedAgent, SubagentError> =>
  Effect.mapError(
    parent.options.session.subagents.load(source.id),
    (error) =>
      new SubagentError({ code: "STORAGE", message: `could not read what the source was launched with: ${error.message}` }),
  )

/** A copy of the completed transcript and a process of its own, for an `acp.kit` that does not fork (S131). */
const branchByCopy = Effect.fnUntraced(function* (
  parent: Parent,
  source: Child,
  branch: Child,
): Effect.fn.Return<Attachment, SubagentError, Services> {
  const request = yield* Reconnect.requestFor(parent, source)
  const store = SessionStore.layerWith({ home: parent.host.kitHome })
  const options = { from: source.sessionId ?? source.id, to: branch.id, cwd: source.cwd }
  yield* TranscriptCopy.copy({ ...options, additionalDirectories: parent.options.additionalDirectories }).pipe(
    Effect.mapError((error) => new SubagentError({ code: "FORK_FAILED", message: `transcript clone failed: ${error.message}` })),
    Effect.provide(store),
    Effect.uninterruptible,
  )
  const discard = Effect.ignore(
    Effect.provide(
      Effect.flatMap(SessionStore.Service, (sessions) => sessions.delete(branch.id)),
      store,
    ),
  )
  return yield* Effect.onError(Start.start(parent, { ...request, child: branch, resume: branch.id }), () => discard)
})

const branchNative = Effect.fnUntraced(function* (
  parent: Parent,
  source: Child,
  branch: Child,
  { connection, session }: Attachment,
): Effect.fn.Return<Attachment, SubagentError> {
  const profile = Harness.resolve(parent.options.harnesses, source.harness)
  const meta =
    source.harness === kit ? { meta: { "kit.subagent.parent_id": branch.id, "kit.subagent.parent_name": branch.name } } : {}
  connection.log.forking(session.id, branch.id)
  return yield* Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const forked = yield* restore(
        session.fork({ cwd: source.cwd, additionalDirectories: parent.options.additionalDirectories, ...meta }),
      ).pipe(
        Effect.mapError((error) => forkFailure(source, connection.quote, parent.limits, error)),
        Effect.ensuring(Effect.sync(() => connection.log.forking(session.id, undefined))),
      )
      connection.log.assign(forked.id, branch.id)
      connection.residents.add(branch.id)
      const attachment = { connection, session: forked }
      branch.attachment = attachment
      branch.sessionId = forked.id
      yield* Start.follow(parent, branch, attachment)
      const model =
        source.model === undefined || Result.isFailure(profile)
          ? undefined
          : ModelPolicy.resolve(profile.success.policy, source.harness, source.model)
      if (model !== undefined && Result.isSuccess(model) && Result.isSuccess(profile)) {
        const selecting = SessionSetup.selectModel(profile.success, attachment, model.success, " for forked session")
        yield* restore(
          Effect.timeoutOrElse(selecting, {
            duration: parent.limits.forkMs,
            orElse: () => Effect.fail(timedOut("session/set_config_option", parent.limits)),
          }),
        )
      }
      branch.snapshot = Capture.snapshotText(yield* forked.configOptions) ?? source.snapshot
      return attachment
    }),
  )
})

/** What a fork is about, once its arguments have been read. */
interface Call {
  readonly held: Held
  readonly name: string | undefined
  readonly request: Turn.Request
}

/** Makes the branch while the source is reserved; the source is free again when this ends, however it ends. `made` is told of the branch at once. */
const reserve = (
  parent: Parent,
  source: Child,
  { held, name, request }: Call,
  made: (branch: Child) => void,
): Effect.Effect<readonly [Child, Attachment], SubagentError, Services> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const { children, checkpoints } = parent
      yield* restore(children.alive(source))
      yield* checkGeneration(source, held)
      const attachment = yield* restore(Reconnect.attached(parent, source))
      const native = attachment.connection.client.capabilities.fork
      if (!native && source.harness !== kit) return yield* unsupported(source)
      yield* Turn.admit(attachment, request)
      const launched = yield* restore(launchOf(parent, source))
      const branch = yield* admit(parent, source, name, held, request.task)
      made(branch)
      yield* children.move(source, "reserved")
      const branching = native ? branchNative(parent, source, branch, attachment) : branchByCopy(parent, source, branch)
      const making = Effect.andThen(checkpoints.create(branch, launched.meta.spec, launched.prompt), branching)
      const forked = yield* restore(Turn.unlessEnded(source, Turn.unlessEnded(branch, making))).pipe(
        Effect.ensuring(children.move(source, "released")),
      )
      return [branch, forked] as const
    }),
  )

/**
 * `fork({subagent, prompt, name?, output_schema?})` (S12): branches the completed context into a child of its own and gives that its first turn.
 * The source is reserved until the branch exists, never advances, and works on while the branch does.
 */
export const fork = Effect.fn("Subagents.fork")(function* (
  parent: Parent,
  input: Json,
): Effect.fn.Return<HandleValue, SubagentError, Services> {
  const given = yield* Effect.fromResult(Arguments.read("fork", input, keys))
  const held = yield* Effect.fromResult(Arguments.held(given))
  const blocks = yield* Effect.fromResult(PromptContent.read(given.prompt, parent.limits.lineBytes))
  const name = Arguments.name(given)
  const output = yield* StructuredOutput.read(given.output_schema)
  if (parent.options.depth >= parent.limits.depth) return yield* tooDeep(parent.limits.depth)
  const source = yield* Effect.fromResult(parent.children.find(held.id))
  const task = Task.summary(blocks, parent.limits.taskCharacters)
  const request = { blocks, task, output, generation: held.generation + 1, first: true }
  let made: Child | undefined
  const branching = reserve(parent, source, { held, name, request }, (branch) => {
    made = branch
  })
  return yield* Semaphore.withPermit(source.gate, branching).pipe(
    Effect.flatMap(([branch, attachment]) => Semaphore.withPermit(branch.gate, Turn.run(parent, branch, attachment, request))),
    Effect.onError((cause) => (made === undefined ? Effect.void : Turn.abandon(parent, made, cause))),
  )
})
