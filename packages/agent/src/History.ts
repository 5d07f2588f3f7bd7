import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Item } from "./Item.ts"

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
  /** Succeeds once the item is recorded (on disk, where the session persists). */
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

export * as Histories from "./History.ts"
