import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { History, HistoryUnavailable } from "./History.ts"
import { cancelledResult, type Item, interruptedResult, type StopReason, unanswered } from "./Item.ts"
import { type Effort, type Interface as Provider, ProviderError, type ToolSpec } from "./ModelProvider.ts"
import { type Delta, Replies, type Reply } from "./Reply.ts"

/** The turn ended without an answer: the model failed, or the history could not be recorded. */
export class TurnFailed extends Schema.TaggedError<TurnFailed>()("TurnFailed", { message: Schema.String }) {}

/** What a call came to. */
export interface Outcome {
  /** `detached`: the work goes on, and its result arrives later. */
  readonly status: "completed" | "failed" | "detached"
  readonly output: Json
  /** What the model is told beside the output, such as how its program was repaired. */
  readonly notes?: ReadonlyArray<string>
}

/** A tool that the model may call. A failure of the work is an outcome; interruption stops the work. */
export interface Tool {
  readonly spec: ToolSpec
  readonly run: (id: string, input: JsonObject) => Effect.Effect<Outcome>
}

/**
 * What a turn tells its viewer, in order. `delta` comes while the model streams and repeats as a recorded `item` with the same
 * id; `superseded` takes back the deltas of an attempt that is tried again.
 */
export type TurnEvent =
  | Delta
  | { readonly type: "superseded"; readonly items: ReadonlyArray<Item> }
  | { readonly type: "item"; readonly item: Item }

/** What arrives while a turn works: guidance, and results of calls in the background. */
export interface Arriving {
  /** What is waiting, in order; it counts as delivered. */
  readonly take: Effect.Effect<ReadonlyArray<Item>>
  /** What the turn still has to answer before it may end. */
  readonly finish: Effect.Effect<ReadonlyArray<Item>>
}

export interface Limits {
  /** Model requests of one turn; one more and it stops with `max_turn_requests`. */
  readonly requests: number
  /** How often one request is tried again after a retryable failure. */
  readonly retries: number
  /** Milliseconds before the first retry; doubled for each further one. */
  readonly backoffMs: number
}

export const defaultLimits: Limits = { requests: 500, retries: 3, backoffMs: 500 }

export interface Turn {
  readonly provider: Provider
  readonly model: string
  readonly effort: Effort
  readonly system: string
  readonly tools: ReadonlyArray<Tool>
  readonly history: History
  readonly arriving: Arriving
  readonly limits: Limits
  /** Awaited: a slow viewer slows the turn. */
  readonly emit: (event: TurnEvent) => Effect.Effect<void>
}

/**
 * One turn: records what opens it, a prompt or a result that woke the session, then asks the model and answers its calls until it calls no more. Interruption cancels it.
 * However it ends, the opening is recorded, every call has its result, and the last item is its `stop`: the history is valid for the
 * next turn. The viewer is told of the stop also where it cannot be recorded.
 */
export const run = (turn: Turn, opening: ReadonlyArray<Item>): Effect.Effect<StopReason, TurnFailed> =>
  recordAll(turn, opening).pipe(
    Effect.andThen(Effect.interruptible(requests(turn))),
    Effect.exit,
    Effect.tap((exit) => settle(turn, exit)),
    Effect.flatten,
    Effect.mapError((error) => new TurnFailed({ message: error.message })),
    Effect.uninterruptible,
  )

const requests = Effect.fnUntraced(function* (turn: Turn): Effect.fn.Return<StopReason, ProviderError | HistoryUnavailable> {
  for (let request = 0; request < turn.limits.requests; request++) {
    yield* recordAll(turn, yield* turn.arriving.take)
    const reply = yield* ask(turn)
    const calls = Replies.callsOf(reply)
    if (reply.reason !== "stop") return reply.reason
    if (calls.length > 0) {
      yield* Effect.forEach(calls, (call) => answer(turn, call), { concurrency: "unbounded", discard: true })
      continue
    }
    const late = yield* turn.arriving.finish
    if (late.length === 0) return "end_turn"
    yield* recordAll(turn, late)
  }
  return "max_turn_requests"
})

/** One response, recorded however the stream ends; a failed attempt that is tried again leaves nothing. */
const ask = Effect.fnUntraced(function* (turn: Turn): Effect.fn.Return<Reply, ProviderError | HistoryUnavailable> {
  for (let attempt = 0; ; attempt++) {
    let reply = Replies.empty
    const again = (error: unknown): error is ProviderError =>
      error instanceof ProviderError && error.retryable && attempt < turn.limits.retries
    const superseded = yield* modelStream(turn, attempt).pipe(
      Stream.runForEach((part) =>
        Effect.flatMap(Replies.add(reply, part), ([next, delta]) => {
          reply = next
          return delta ? turn.emit(delta) : Effect.void
        }),
      ),
      Effect.onExit((exit) => (Option.exists(Exit.findErrorOption(exit), again) ? Effect.void : recordAll(turn, reply.items))),
      Effect.as(false),
      Effect.catchIf(again, () => Effect.succeed(true)),
    )
    if (!superseded) return reply
    yield* turn.emit({ type: "superseded", items: reply.items })
    yield* Effect.sleep(turn.limits.backoffMs * 2 ** attempt)
  }
})

const modelStream = ({ provider, model, effort, system, tools, history }: Turn, attempt: number) =>
  provider.stream({ items: history.items(), system, tools: tools.map((tool) => tool.spec), model, effort, attempt })

const answer = Effect.fnUntraced(function* (turn: Turn, { id, name, input }: Item & { readonly type: "call" }) {
  const tool = turn.tools.find((tool) => tool.spec.name === name)
  const outcome = tool ? yield* tool.run(id, input) : unknownTool(name)
  yield* record(turn, { type: "result", id, ...outcome })
})

const unknownTool = (name: string): Outcome => ({
  status: "failed",
  output: { code: "UNKNOWN_TOOL", message: `there is no tool named ${JSON.stringify(name)}` },
})

const settle = Effect.fnUntraced(function* (turn: Turn, exit: Exit.Exit<StopReason, ProviderError | HistoryUnavailable>) {
  const stop = stopOf(exit)
  const resultOf = stop.reason === "cancelled" ? cancelledResult : interruptedResult
  const open = unanswered(turn.history.items()).map((call) => resultOf(call.id))
  yield* recordAll(turn, open).pipe(
    Effect.andThen(turn.history.append(stop)),
    Effect.onExit((recorded) => turn.emit({ type: "item", item: Exit.isFailure(exit) ? stop : told(stop, recorded) })),
  )
})

/** The end of a turn that went well, as its viewer learns it: an error where it cannot be recorded. */
const told = (stop: Stop, recorded: Exit.Exit<void, HistoryUnavailable>): Stop => {
  const error = Option.getOrUndefined(Exit.findErrorOption(recorded))
  return error === undefined ? stop : { type: "stop", reason: "error", message: error.message }
}

type Stop = Item & { readonly type: "stop" }

const stopOf = (exit: Exit.Exit<StopReason, ProviderError | HistoryUnavailable>): Stop => {
  if (Exit.isSuccess(exit)) return { type: "stop", reason: exit.value }
  if (Cause.hasInterruptsOnly(exit.cause)) return { type: "stop", reason: "cancelled" }
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  return { type: "stop", reason: "error", message: error?.message ?? "internal error" }
}

const record = (turn: Turn, item: Item) =>
  Effect.uninterruptible(Effect.andThen(turn.history.append(item), turn.emit({ type: "item", item })))

const recordAll = (turn: Turn, items: ReadonlyArray<Item>) =>
  Effect.forEach(items, (item) => record(turn, item), { discard: true })

export * as TurnLoop from "./TurnLoop.ts"
