import type { PromptError, Turn as ProtocolTurn } from "@acp-kit/protocol/Session"
import type { TurnResult } from "@acp-kit/protocol/TurnResult"
import type { Json } from "@acp-kit/runlet/Host"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { Capture } from "./Capture.ts"
import { type Attachment, type Child, type HandleValue, valueOf } from "./Child.ts"
import { retired } from "./Children.ts"
import type { Quote } from "./ChildWords.ts"
import { LaunchError } from "./LaunchError.ts"
import type { Parent } from "./Parent.ts"
import { release } from "./Release.ts"
import { type OutputSchema, StructuredOutput } from "./StructuredOutput.ts"
import { SubagentError } from "./SubagentError.ts"

/** One turn to be had. */
export interface Request {
  /** What the program gave, and before it the system prompt where this is where it goes (K03). */
  readonly blocks: ReadonlyArray<Json>
  readonly task: string
  readonly output: OutputSchema | undefined
  /** The generation of the value that a success returns. */
  readonly generation: number
  /** The child exists only if this turn succeeds (S156). */
  readonly first: boolean
}

export const unsupportedContent = (message: string): SubagentError =>
  new SubagentError({ code: "UNSUPPORTED_CONTENT", message, retryable: false })

const codes = {
  cancelled: "CANCELLED",
  refusal: "REFUSED",
  max_turn_requests: "TURN_LIMIT",
  error: "TURN_FAILED",
  unknown: "TURN_FAILED",
  too_large: "TURN_FAILED",
} as const

/** What a program learns of a turn that did not succeed (S153). */
const failureOf = (child: Child, quote: Quote, error: PromptError): SubagentError => {
  switch (error._tag) {
    case "AuthRequired":
      return LaunchError.authRequired({ reference: child.harness }, error.methodIds)
    case "ContentRefused":
      return unsupportedContent(error.message)
    case "SessionRetired":
      return retired()
    case "TurnFailed":
      return new SubagentError({
        code: codes[error.reason],
        message: quote(error.message),
        ...(error.reason === "error" ? { brief: "nested agent turn failed" } : {}),
        details: { stopReason: error.result.stopReason ?? "none", text: error.result.text.slice(-2_000) },
      })
    case "TransportClosed":
      return new SubagentError({
        code: "LOST",
        message: LaunchError.exitedWithout("a response", error),
        uncertain: true,
        details: LaunchError.exitDetails(error),
      })
    case "RpcError":
      return new SubagentError({
        code: "TURN_FAILED",
        message: `nested agent turn failed: ${quote(error.message)} (${error.code})`,
        brief: `nested agent turn failed (${error.code})`,
      })
    case "MalformedResult":
      return new SubagentError({ code: "TURN_FAILED", message: `nested agent turn failed: ${quote(error.message)}` })
  }
}

const wasTaken = (error: PromptError): boolean =>
  error._tag !== "AuthRequired" && error._tag !== "ContentRefused" && error._tag !== "SessionRetired"

/** How a prompt that was announced ended. */
type Outcome =
  | { readonly type: "settled"; readonly result: TurnResult }
  /** The child took nothing. */
  | { readonly type: "refused"; readonly error: SubagentError }
  /** It was dispatched, and did not end well. */
  | { readonly type: "failed"; readonly error: SubagentError; readonly how?: "unsettled" }
  /** The caller gave up. */
  | { readonly type: "interrupted"; readonly how: "settled" | "unsettled" | "unsent" }
  /** The child was closed over it. */
  | { readonly type: "closed"; readonly error: SubagentError }

/** Makes waiting interruptible inside work that is not. */
type Restore = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** Sends the prompt and waits for its end, for the end of the child, or for an interruption, whatever comes first; that is cancelled then. */
const dispatch = Effect.fnUntraced(function* (
  child: Child,
  { connection, session }: Attachment,
  blocks: ReadonlyArray<Json>,
  restore: Restore,
): Effect.fn.Return<Outcome> {
  let started: ProtocolTurn | undefined
  const beginning = Effect.tap(session.begin(blocks), (turn) =>
    Effect.sync(() => {
      started = turn
    }),
  )
  const ended = Deferred.await(child.ended)
  const cancelled = Effect.suspend(() => (started === undefined ? Effect.succeed("unsent" as const) : started.cancel))
  const closed = Effect.fnUntraced(function* (error: SubagentError): Effect.fn.Return<Outcome> {
    child.unsettled = (yield* cancelled) === "unsettled"
    return { type: "closed", error }
  })
  const begun = yield* Effect.exit(restore(Effect.raceFirst(beginning, ended)))
  if (Exit.isFailure(begun)) {
    const error = Exit.findErrorOption(begun)
    if (Option.isNone(error)) return { type: "interrupted", how: yield* cancelled }
    if (error.value._tag === "SubagentError") return yield* closed(error.value)
    return { type: "refused", error: failureOf(child, connection.quote, error.value) }
  }
  const end = yield* Effect.exit(restore(Effect.raceFirst(begun.value.result, ended)))
  if (Exit.isSuccess(end)) return { type: "settled", result: end.value }
  const error = Exit.findErrorOption(end)
  if (Option.isNone(error)) return { type: "interrupted", how: yield* cancelled }
  if (error.value._tag === "SubagentError") return yield* closed(error.value)
  const failure = failureOf(child, connection.quote, error.value)
  if (!wasTaken(error.value)) return { type: "refused", error: failure }
  const goesOn = error.value._tag === "TurnFailed" && error.value.reason === "too_large"
  return { type: "failed", error: failure, ...(goesOn ? { how: "unsettled" } : {}) }
})

/** The child is gone: its name and place are free at once, its session and process when this succeeds. */
export const lose = (
  parent: Parent,
  child: Child,
  { message, brief = message }: Pick<SubagentError, "message" | "brief">,
  status: "failed" | "interrupted" = "failed",
  how?: "unsettled",
): Effect.Effect<void> =>
  Effect.uninterruptible(
    Effect.suspend(() => {
      if (!parent.children.retire(child, "failed", retired(), brief)) return Effect.void
      return Effect.andThen(release(parent, child, how), parent.checkpoints.ended(child, status, message))
    }),
  )

const complete = Effect.fnUntraced(function* (
  parent: Parent,
  child: Child,
  attachment: Attachment,
  request: Request,
  result: TurnResult,
) {
  yield* parent.children.alive(child)
  const { log } = attachment.connection
  child.generation = request.generation
  child.output = StructuredOutput.outputOf(result.text, request.output)
  child.updates = Capture.updatesOf(result, child.snapshot, parent.limits)
  child.snapshot = Capture.snapshotText(result.configOptions) ?? child.snapshot
  parent.checkpoints.extend(child, {
    prompt: request.blocks,
    text: result.text,
    tools: result.tools.map((tool) => ({ id: tool.id, title: tool.title ?? "", kind: tool.kind ?? "", status: tool.status })),
    more: {
      acp_session_id: attachment.session.id,
      wire_seq: log.position(child.id),
      ...(result.configOptions === undefined ? {} : { config_options: result.configOptions }),
      ...(result.usage === undefined ? {} : { usage: { used: result.usage.used, size: result.usage.size } }),
    },
  })
  yield* Effect.onError(parent.checkpoints.idle(child), () =>
    lose(parent, child, { message: "the completed turn could not be recorded" }),
  )
  yield* parent.children.alive(child)
  yield* parent.children.move(child, "completed")
  return valueOf(child)
})

/** Work on behalf of a child that the end of the child cuts short. */
export const unlessEnded = <A, R>(child: Child, work: Effect.Effect<A, SubagentError, R>): Effect.Effect<A, SubagentError, R> =>
  Effect.raceFirst(work, Deferred.await(child.ended))

/** Undoes a creation that did not come to a first value: no process, name or place is left (S43, S156). */
export const abandon = (parent: Parent, child: Child, cause: Cause.Cause<SubagentError>): Effect.Effect<void> => {
  const error = Cause.findErrorOption(cause)
  return Option.isSome(error)
    ? lose(parent, child, error.value)
    : lose(parent, child, { message: "nested agent cancelled" }, "interrupted")
}

const withdraw = Effect.fnUntraced(function* (parent: Parent, child: Child, task: string) {
  child.task = task
  yield* parent.checkpoints.withdrawn(child)
  yield* parent.children.move(child, "withdrawn")
})

/** The blocks that go out, where this child takes them (S05, S06); nothing has happened yet. */
export const admit = (
  { connection }: Attachment,
  { blocks, output }: Request,
): Effect.Effect<ReadonlyArray<Json>, SubagentError> => {
  const all = output === undefined ? blocks : [...blocks, StructuredOutput.instructions(output)]
  const admitted = connection.client.admit(all)
  return Result.isFailure(admitted) ? Effect.fail(unsupportedContent(admitted.failure.message)) : Effect.succeed(all)
}

/**
 * One turn of a child that is attached and idle, or just started, under its gate (S11, S150 to S156).
 *
 * What cannot be sent is found before anything is recorded. `Interrupted` is on disk before the prompt goes out, `Idle` before the value is returned.
 * A turn that was dispatched and fails retires the child; where the child took nothing it is again what it was, unless this was its `first` turn:
 * then whoever made it ends it. Interrupted, it cancels the turn and waits until it has settled or the child has been ended.
 */
export const run = Effect.fn("Turn.run")(function* (
  parent: Parent,
  child: Child,
  attachment: Attachment,
  request: Request,
): Effect.fn.Return<HandleValue, SubagentError> {
  const { children, checkpoints } = parent
  const blocks = yield* admit(attachment, request)
  yield* children.alive(child)
  return yield* Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* (): Effect.fn.Return<HandleValue, SubagentError> {
      const before = child.task
      child.task = request.task
      yield* Effect.onError(checkpoints.interrupted(child), () =>
        Effect.sync(() => {
          child.task = before
        }),
      )
      yield* children.alive(child)
      yield* children.move(child, "sent")
      const outcome = yield* dispatch(child, attachment, blocks, restore)
      switch (outcome.type) {
        case "settled":
          return yield* complete(parent, child, attachment, request, outcome.result)
        case "closed":
          return yield* outcome.error
        case "failed":
          yield* lose(parent, child, outcome.error, "failed", outcome.how)
          return yield* outcome.error
        case "refused":
          if (!request.first) yield* withdraw(parent, child, before)
          return yield* outcome.error
        case "interrupted":
          if (outcome.how !== "unsent") {
            const how = outcome.how === "unsettled" ? outcome.how : undefined
            yield* lose(parent, child, { message: "nested agent cancelled" }, "interrupted", how)
          } else if (!request.first) yield* withdraw(parent, child, before)
          return yield* Effect.interrupt
      }
    }),
  )
})

export * as Turn from "./Turn.ts"
