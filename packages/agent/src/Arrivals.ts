import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { Ids } from "./Ids.ts"
import type { Blocks, Item } from "./Item.ts"

const messages = {
  not_running: "the session is not running a prompt that takes guidance",
  already_delivered: "the message was delivered already",
  unknown_message_id: "no such message is pending",
}

/** The guidance cannot be taken, revoked or replaced; nothing changed. */
export class SteeringRefused extends Schema.TaggedError<SteeringRefused>()("SteeringRefused", {
  reason: Schema.Literals(["not_running", "already_delivered", "unknown_message_id"]),
  messageId: Schema.optionalKey(Schema.String),
}) {
  override get message() {
    return messages[this.reason]
  }
}

/** Guidance for the running turn, as a client gives it. */
export interface Steering {
  /** Accepts a message for the running turn and succeeds with its id. */
  readonly add: (content: Blocks) => Effect.Effect<string, SteeringRefused>
  /** Takes a message back that was not delivered yet. */
  readonly revoke: (messageId: string) => Effect.Effect<void, SteeringRefused>
  /** Exchanges the content of a message that was not delivered yet; it keeps its place and its id. */
  readonly replace: (messageId: string, content: Blocks) => Effect.Effect<void, SteeringRefused>
}

/** What reaches one session while a turn works, guidance and results of calls in the background, in order. */
export interface Arrivals {
  readonly steering: Steering
  /** A turn begins and takes what arrives from now on. */
  readonly open: () => void
  /** The turn has ended: guidance that it did not take is dropped, a result waits for the next turn. */
  readonly close: () => void
  /** Adds a result. */
  readonly deliver: (item: Item & { readonly type: "result" }) => void
  /** Everything that waits; it counts as delivered. */
  readonly take: () => ReadonlyArray<Item>
  /** The same, and where nothing waits no more guidance is accepted. */
  readonly finish: () => ReadonlyArray<Item>
  /** Succeeds at the next arrival. */
  readonly next: Effect.Effect<void>
}

type Arrival = Item & { readonly type: "steer" | "result" }

export const make = (): Arrivals => {
  let accepting = false
  let waiting: ReadonlyArray<Arrival> = []
  const delivered = new Set<string>()
  let next = Deferred.makeUnsafe<void>()

  const add = (item: Arrival) => {
    waiting = [...waiting, item]
    const awaited = next
    next = Deferred.makeUnsafe()
    Deferred.doneUnsafe(awaited, Exit.void)
  }

  const take = () => {
    const taken = waiting
    waiting = []
    for (const { id } of taken) delivered.add(id)
    return taken
  }

  const change = (messageId: string, changed: (place: number) => ReadonlyArray<Arrival>) =>
    Effect.suspend(() => {
      const place = waiting.findIndex(({ type, id }) => type === "steer" && id === messageId)
      if (place === -1) {
        const reason = delivered.has(messageId) ? "already_delivered" : "unknown_message_id"
        return Effect.fail(new SteeringRefused({ reason, messageId }))
      }
      waiting = changed(place)
      return Effect.void
    })

  return {
    steering: {
      add: Effect.fn("Steering.add")(function* (content: Blocks) {
        const id = yield* Ids.next("m")
        if (!accepting) return yield* new SteeringRefused({ reason: "not_running" })
        add({ type: "steer", id, content })
        return id
      }),
      revoke: (messageId) => change(messageId, (place) => waiting.filter((_, index) => index !== place)),
      replace: (messageId, content) =>
        change(messageId, (place) => waiting.with(place, { type: "steer", id: messageId, content })),
    },
    open: () => {
      accepting = true
    },
    close: () => {
      accepting = false
      waiting = waiting.filter(({ type }) => type === "result")
    },
    deliver: add,
    take,
    finish: () => {
      if (waiting.length === 0) accepting = false
      return take()
    },
    next: Effect.suspend(() => Deferred.await(next)),
  }
}

export * as Arrival from "./Arrivals.ts"
