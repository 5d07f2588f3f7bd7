import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { History } from "./History.ts"
import { Ids } from "./Ids.ts"
import type { Blocks, Item, StopReason } from "./Item.ts"
import type { Interface as Provider } from "./ModelProvider.ts"
import { type ConfigOption, OptionRefused, type Selection, SessionOptions } from "./SessionOptions.ts"
import { type SteeringQueue, SteeringQueues } from "./SteeringQueue.ts"
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

/** What a viewer of a session is told, in order. */
export type SessionEvent = TurnEvent | { readonly type: "title"; readonly title: string }

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
  readonly steering: Pick<SteeringQueue, "add" | "revoke" | "replace">
  /** Cancels the running turn, if there is one, and succeeds once it has stopped. */
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
  /** Remembers the title that the first prompt gives. */
  readonly rename: (title: string) => Effect.Effect<void>
  /** Where the events of its turns go, in order and awaited. */
  readonly view: (event: SessionEvent) => Effect.Effect<void>
}

/** A session over a history; `id` and directories are as checked. */
export const make = Effect.fnUntraced(function* (options: Options): Effect.fn.Return<AgentSession, never, Scope.Scope> {
  const { id, cwd, additionalDirectories, history, provider, selection, system, tools, limits, view } = options
  const scope = yield* Effect.scope
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const steering = SteeringQueues.make()
  let working: object | undefined
  let latest: Fiber.Fiber<StopReason, TurnFailed> | undefined

  const begin = Effect.fn("AgentSession.begin")(function* (content: Blocks, after: Effect.Effect<void>) {
    const messageId = yield* Ids.next("m")
    const { model, effort } = yield* Ref.get(selection)
    if (working !== undefined) return yield* new SessionBusy({ id })
    const mine = {}
    working = mine
    steering.open()
    const free = Effect.sync(() => {
      if (working !== mine) return
      working = undefined
      steering.close()
    })
    const titled = history.items().some((item) => item.type === "prompt") ? Effect.void : giveTitle(options, content)
    const emit = (event: TurnEvent) => {
      if (isItem(event, "prompt")) return Effect.andThen(view(event), titled)
      return isItem(event, "stop") ? Effect.andThen(free, view(event)) : view(event)
    }
    const turn: Turn = { provider, model, effort, system, tools, history, steering, limits, emit }
    const work = Effect.andThen(after, TurnLoop.run(turn, { type: "prompt", id: messageId, content }))
    const fiber = Fiber.runIn(fork(Effect.ensuring(work, free), { uninterruptible: true }), scope)
    latest = fiber
    return { messageId, result: resultOf(fiber) }
  })

  return {
    id,
    cwd,
    additionalDirectories,
    history,
    steering,
    begin,
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
    cancel: Effect.suspend(() => (latest ? Fiber.interrupt(latest) : Effect.void)),
    working: Effect.sync(() => working !== undefined),
    idle: Effect.suspend(() => (latest ? Effect.asVoid(Fiber.await(latest)) : Effect.void)),
  }
})

/** Names a session after its first prompt. */
const giveTitle = ({ rename, view }: Options, content: Blocks): Effect.Effect<void> => {
  const title = Titles.titleOf(content)
  return title === undefined ? Effect.void : Effect.andThen(rename(title), view({ type: "title", title }))
}

const isItem = (event: TurnEvent, type: Item["type"]) => event.type === "item" && event.item.type === type

const resultOf = (fiber: Fiber.Fiber<StopReason, TurnFailed>): Effect.Effect<StopReason, TurnFailed> =>
  Effect.flatMap(Fiber.await(fiber), (exit) =>
    Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? Effect.succeed("cancelled" as const) : exit,
  )

export * as AgentSessionMaker from "./AgentSession.ts"
