import type { Json } from "@acp-kit/runlet/Host"
import type { SessionWriter } from "@acp-kit/store/SessionStore"
import type { StoreError } from "@acp-kit/store/StoreError"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Item, Items } from "./Item.ts"

/** The item is not recorded; nothing that depends on it may happen. */
export class HistoryUnavailable extends Schema.TaggedError<HistoryUnavailable>()("HistoryUnavailable", {
  reason: Schema.String,
}) {
  override get message() {
    return `the conversation cannot be recorded: ${this.reason}`
  }
}

/** The conversation of one session. It only grows. */
export interface History {
  /** Everything recorded so far, in order. */
  readonly items: () => ReadonlyArray<Item>
  /** Succeeds once the item is recorded, where the session persists so that the death of the process loses nothing of it. */
  readonly append: (item: Item) => Effect.Effect<void, HistoryUnavailable>
}

/** A history for the lifetime of the process. */
export const memory = (initial: ReadonlyArray<Item> = []): History => {
  const items = [...initial]
  return {
    items: () => items,
    append: (item) =>
      Effect.sync(() => {
        items.push(item)
      }),
  }
}

/**
 * The history in the transcript of a session, `records` being what stands there. What a crash left unfinished is finished here: open calls
 * get their interrupted result, the turn its stop.
 */
export const stored = Effect.fnUntraced(function* (
  session: SessionWriter,
  records: ReadonlyArray<Json>,
): Effect.fn.Return<History, StoreError> {
  const items = records.flatMap((record) => Items.read(record) ?? [])
  const append = (item: Item) =>
    Effect.tap(session.appendItem(item as unknown as Json), () =>
      Effect.sync(() => {
        items.push(item)
      }),
    )
  yield* Effect.forEach(Items.mend(items, Items.interruptedResult), append, { discard: true })
  return {
    items: () => items,
    append: (item) =>
      append(item).pipe(
        Effect.mapError((error) => new HistoryUnavailable({ reason: error.message })),
        Effect.flatMap(({ where }) =>
          where === "held"
            ? Effect.fail(new HistoryUnavailable({ reason: "the disk is full; it waits in memory until there is space again" }))
            : Effect.void,
        ),
      ),
  }
})

export * as Histories from "./History.ts"
