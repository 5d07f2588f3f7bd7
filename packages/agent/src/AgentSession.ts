import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { Arrivals, Steering } from "./Arrivals.ts"
import type { BackgroundCalls } from "./BackgroundCalls.ts"
import type { ChildCard } from "./ChildCards.ts"
import type { History } from "./History.ts"
import { Ids } from "./Ids.ts"
import { type Blocks, type Item, Items, type StopReason } from "./Item.ts"
import type { Interface as Provider } from "./ModelProvider.ts"
import { type ConfigOption, OptionRefused, type Selection, SessionOptions } from "./SessionOptions.ts"
import { Titles } from "./Title.ts"
import { type Limits, type Tool, type Turn, type TurnEvent, type TurnFailed, TurnLoop } from "./TurnLoop.ts"

/** A turn is running already; nothing was taken. */
export class SessionBusy extends Schema.TaggedError<SessionBusy>()("SessionBusy", { id: Schema.String }) {
  override get message() {
    return "session is already running a prompt"
  }
}

/** A turn that was accepted. */
export interface AcceptedTurn {
  /** The id of the prompt in the history. */
  readonly messageId: string
  /** How it ended; waiting is all it does. */
  readonly result: Effect.Effect<StopReason, TurnFailed>
}

/** What a viewer of a session is told, in order. The end of a turn is a `stopped`, which names the calls that go on in the background. */
export type SessionEvent =
  | TurnEvent
  | ChildCard
  | { readonly type: "title"; readonly title: string }
  /** Something that concerns the session and no turn of it. */
  | { readonly type: "notice"; readonly severity: "info" | "warning" | "error"; readonly title: string }
  /** `woken` names the call in the background whose end began this turn, which no prompt did. */
  | { readonly type: "started"; readonly woken?: string | undefined }
  | {
      readonly type: "stopped"
      readonly stop: Item & { readonly type: "stop" }
      readonly background: ReadonlyArray<string>
      readonly woken?: string | undefined
    }

/** One conversation. Its turns belong to the scope that made it: closing that cancels the one that runs. */
export interface AgentSession {
  readonly id: string
  /** Absolute path. */
  readonly cwd: string
  readonly additionalDirectories: ReadonlyArray<string>
  readonly history: History
  readonly options: Effect.Effect<ReadonlyArray<ConfigOption>>
  /** Sets one option, from the next turn on; succeeds with the whole list (S93). */
  readonly setOption: (id: string, value: unknown) => Effect.Effect<ReadonlyArray<ConfigOption>, OptionRefused>
  /**
   * Accepts a prompt at once or refuses it; the turn itself starts when `after` succeeds. Its events go to the view of the session.
   * Interrupting the caller does not cancel the turn.
   */
  readonly begin: (content: Blocks, after: Effect.Effect<void>) => Effect.Effect<AcceptedTurn, SessionBusy>
  /** Guidance for the running turn. */
  readonly steering: Steering
  /** Starts a turn of its own for results that wait, unless one runs (it will take them). */
  readonly wake: Effect.Effect<void>
  /** What goes on, or can go on, beyond its turn. */
  readonly background: Pick<BackgroundCalls, "detach" | "stop">
  /** Cancels the running turn, if there is one, and succeeds once it has stopped. A structured session stops its background calls too. */
  readonly cancel: Effect.Effect<void>
  /** A turn was accepted and has not stopped yet. */
  readonly working: Effect.Effect<boolean>
  /** Succeeds once no turn is running. */
  readonly idle: Effect.Effect<void>
}

export interface Options {
  readonly id: string
  readonly cwd: string
  readonly additionalDirectories: ReadonlyArray<string>
  readonly history: History
  readonly provider: Provider
  /** What is chosen now; a turn takes it when it begins. */
  readonly selection: Ref.Ref<Selection>
  readonly system: string
  readonly tools: ReadonlyArray<Tool>
  readonly limits: Limits
  readonly arrivals: Arrivals
  readonly background: BackgroundCalls
  /** A turn ends only when its background calls have ended. */
  readonly structured: boolean
  /** Remembers the title that the first prompt gives. */
  readonly rename: (title: string) => Effect.Effect<void>
  /** Where the events of its turns go, in order and awaited. */
  readonly view: (event: SessionEvent) => Effect.Effect<void>
}

/** A session over a history; `id` and directories are as checked. */
export const make = Effect.fnUntraced(function* (options: Options): Effect.fn.Return<AgentSession, never, Scope.Scope> {
  const { id, cwd, additionalDirectories, history, provider, selection, system, tools, limits } = options
  const { arrivals, background, structured, view } = options
  const scope = yield* Effect.scope
  yield* Effect.addFinalizer(() => Effect.ignore(closeHistory(options)))
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  let working: object | undefined
  let latest: Fiber.Fiber<StopReason, TurnFailed> | undefined

  /** Starts a turn; nothing may come between the caller's look at `working` and this. */
  const start = (opening: ReadonlyArray<Item>, after: Effect.Effect<void>, { model, effort }: Selection) => {
    const mine = {}
    working = mine
    arrivals.open()
    const free = Effect.sync(() => {
      if (working !== mine) return
      working = undefined
      arrivals.close()
    })
    const woken = opening.flatMap((item) => (item.type === "result" ? [item.id] : []))[0]
    const titled = history.items().some(entitles) ? Effect.void : giveTitle(options, opening)
    const emit = (event: TurnEvent) => {
      if (event.type !== "item") return view(event)
      if (event.item.type === "prompt") return Effect.andThen(view(event), Effect.andThen(view({ type: "started" }), titled))
      if (event.item.type !== "stop") return view(event)
      return Effect.andThen(free, view({ type: "stopped", stop: event.item, background: background.running(), woken }))
    }
    const arriving = { take: Effect.sync(arrivals.take), finish: structured ? finishAll : Effect.sync(arrivals.finish) }
    const turn: Turn = { provider, model, effort, system, tools, history, arriving, limits, emit }
    const awake = opening.some((item) => item.type === "prompt") ? Effect.void : view({ type: "started", woken })
    const work = Effect.andThen(after, Effect.andThen(awake, TurnLoop.run(turn, opening)))
    latest = Fiber.runIn(fork(Effect.ensuring(work, free), { uninterruptible: true }), scope)
    return latest
  }

  const finishAll: Effect.Effect<ReadonlyArray<Item>> = Effect.suspend(() => {
    const busy = background.running().length > 0
    const arrived = busy ? arrivals.take() : arrivals.finish()
    return arrived.length > 0 || !busy ? Effect.succeed(arrived) : Effect.andThen(arrivals.next, finishAll)
  })

  return {
    id,
    cwd,
    additionalDirectories,
    history,
    background,
    steering: arrivals.steering,
    begin: Effect.fn("AgentSession.begin")(function* (content, after) {
      const messageId = yield* Ids.next("m")
      const chosen = yield* Ref.get(selection)
      if (working !== undefined) return yield* new SessionBusy({ id })
      const fiber = start([{ type: "prompt", id: messageId, content }], after, chosen)
      return { messageId, result: resultOf(fiber) }
    }),
    wake: Effect.map(Ref.get(selection), (chosen) => {
      const results = working === undefined ? arrivals.take() : []
      if (results.length > 0) start(results, Effect.void, chosen)
    }),
    options: Effect.map(Ref.get(selection), (chosen) => SessionOptions.list(provider, chosen)),
    setOption: Effect.fn("AgentSession.setOption")(function* (option, value) {
      const chosen = yield* SessionOptions.set(provider, yield* Ref.get(selection), option, value)
      yield* Effect.mapError(
        history.append({ type: "selection", ...chosen }),
        (error) => new OptionRefused({ message: error.message }),
      )
      yield* Ref.set(selection, chosen)
      return SessionOptions.list(provider, chosen)
    }),
    cancel: Effect.suspend(() =>
      Effect.andThen(latest ? Fiber.interrupt(latest) : Effect.void, structured ? background.stopAll : Effect.void),
    ),
    working: Effect.sync(() => working !== undefined),
    idle: Effect.suspend(() => (latest ? Effect.asVoid(Fiber.await(latest)) : Effect.void)),
  }
})

/** Records what the end of the session leaves unanswered: results that wait, and those of calls in the background, which ended with it. */
const closeHistory = Effect.fnUntraced(function* ({ history, arrivals, view }: Options) {
  const record = (item: Item) =>
    Effect.andThen(history.append(item), item.type === "result" ? view({ type: "item", item }) : Effect.void)
  yield* Effect.forEach(arrivals.take(), record, { discard: true })
  yield* Effect.forEach(Items.mend(history.items(), Items.cancelledResult), record, { discard: true })
})

/** A prompt with text in it, after which a session can be called. */
const entitles = (item: Item): boolean => item.type === "prompt" && Titles.titleOf(item.content) !== undefined

/** Names a session after its first prompt that has text. */
const giveTitle = ({ rename, view }: Options, opening: ReadonlyArray<Item>): Effect.Effect<void> => {
  const title = opening.flatMap((item) => (item.type === "prompt" ? [Titles.titleOf(item.content)] : []))[0]
  return title === undefined ? Effect.void : Effect.andThen(rename(title), view({ type: "title", title }))
}

const resultOf = (fiber: Fiber.Fiber<StopReason, TurnFailed>): Effect.Effect<StopReason, TurnFailed> =>
  Effect.flatMap(Fiber.await(fiber), (exit) =>
    Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? Effect.succeed("cancelled" as const) : exit,
  )

export * as AgentSessionMaker from "./AgentSession.ts"
