import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Ids } from "./Ids.ts"
import type { Blocks, Item } from "./Item.ts"
import type { Steering } from "./TurnLoop.ts"

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

type Pending = Item & { readonly type: "steer" }

/** Guidance for the running turn of one session: accepted here, taken by the turn. */
export interface SteeringQueue extends Steering {
  /** A turn begins and takes guidance from now on. */
  readonly open: () => void
  /** The turn has ended; what it did not take is dropped. */
  readonly close: () => void
  /** Accepts a message for the running turn and succeeds with its id. */
  readonly add: (content: Blocks) => Effect.Effect<string, SteeringRefused>
  /** Takes a message back that was not delivered yet. */
  readonly revoke: (messageId: string) => Effect.Effect<void, SteeringRefused>
  /** Exchanges the content of a message that was not delivered yet; it keeps its place and its id. */
  readonly replace: (messageId: string, content: Blocks) => Effect.Effect<void, SteeringRefused>
}

export const make = (): SteeringQueue => {
  let accepting = false
  let pending: ReadonlyArray<Pending> = []
  const delivered = new Set<string>()

  const take = () => {
    const taken = pending
    pending = []
    for (const { id } of taken) delivered.add(id)
    return taken
  }

  const change = (messageId: string, changed: (place: number) => ReadonlyArray<Pending>) =>
    Effect.suspend(() => {
      const place = pending.findIndex(({ id }) => id === messageId)
      if (place === -1) {
        const reason = delivered.has(messageId) ? "already_delivered" : "unknown_message_id"
        return Effect.fail(new SteeringRefused({ reason, messageId }))
      }
      pending = changed(place)
      return Effect.void
    })

  return {
    open: () => {
      accepting = true
    },
    close: () => {
      accepting = false
      pending = []
    },
    take: Effect.sync(take),
    finish: Effect.sync(() => {
      if (pending.length === 0) accepting = false
      return take()
    }),
    add: Effect.fn("SteeringQueue.add")(function* (content: Blocks) {
      const id = yield* Ids.next("m")
      if (!accepting) return yield* new SteeringRefused({ reason: "not_running" })
      pending = [...pending, { type: "steer", id, content }]
      return id
    }),
    revoke: (messageId) => change(messageId, (place) => pending.filter((_, index) => index !== place)),
    replace: (messageId, content) => change(messageId, (place) => pending.with(place, { type: "steer", id: messageId, content })),
  }
}

export * as SteeringQueues from "./SteeringQueue.ts"
