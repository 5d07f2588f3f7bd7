import type { Json, JsonObject } from "@acp-kit/runlet/Host"

/** Content as the peer sent it: ACP content blocks, raw, in order. */
export type Blocks = ReadonlyArray<JsonObject>

/** Why a turn ended that did not fail. */
export type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled"

/**
 * How a call ended. `cancelled` is one whose turn or session was ended while it worked, `interrupted` one that nobody answered: the effects of either
 * may have happened. A `detached` one goes on in the background, and another result of the same id follows when it has ended.
 */
export type ResultStatus = "completed" | "failed" | "cancelled" | "interrupted" | "detached"

/**
 * One entry of a conversation, in the order in which it happened. Ids are unique within the session and are the message
 * and call ids of the protocol; a `result` carries the id of its `call`, and the `notes` that the model reads beside the output. A `stop`
 * closes the turn; `error` says that it failed.
 * A `selection` says which model and effort later turns have; it may stand anywhere.
 */
export type Item =
  | { readonly type: "prompt"; readonly id: string; readonly content: Blocks }
  | { readonly type: "steer"; readonly id: string; readonly content: Blocks }
  | { readonly type: "thought"; readonly id: string; readonly text: string }
  | { readonly type: "answer"; readonly id: string; readonly text: string }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly input: JsonObject }
  | {
      readonly type: "result"
      readonly id: string
      readonly status: ResultStatus
      readonly output: Json
      readonly notes?: ReadonlyArray<string>
    }
  | { readonly type: "stop"; readonly reason: StopReason | "error"; readonly message?: string }
  | { readonly type: "selection"; readonly model: string; readonly effort: string }

/** The calls that have no result yet, in order. A history is valid for a model request when there are none. */
export const unanswered = (items: ReadonlyArray<Item>): ReadonlyArray<Item & { readonly type: "call" }> =>
  withoutResult(items, () => true)

const withoutResult = (items: ReadonlyArray<Item>, counts: (status: ResultStatus) => boolean) => {
  const answered = new Set(items.flatMap((item) => (item.type === "result" && counts(item.status) ? [item.id] : [])))
  return items.filter((item) => item.type === "call").filter((call) => !answered.has(call.id))
}

const types = new Set<unknown>(["prompt", "steer", "thought", "answer", "call", "result", "stop", "selection"])

/** The item in a record of a transcript; `undefined` where it is of a kind that this version does not know. */
export const read = (record: Json): Item | undefined =>
  typeof record === "object" && record !== null && "type" in record && types.has(record.type)
    ? (record as unknown as Item)
    : undefined

/**
 * What a history needs so that the next turn can follow, after what worked on it is gone: results for its open calls, those in the background
 * among them, and a stop.
 */
export const mend = (items: ReadonlyArray<Item>, resultOf: (id: string) => Result): ReadonlyArray<Item> => {
  const results = withoutResult(items, (status) => status !== "detached").map((call) => resultOf(call.id))
  const last = items.findLast((item) => item.type !== "selection")
  const stopped = last === undefined || last.type === "stop"
  return stopped && results.length === 0 ? [] : [...results, { type: "stop", reason: "cancelled" }]
}

/** What a branch starts with: everything up to the end of the last turn that ended, and what was chosen since. */
export const completed = (items: ReadonlyArray<Item>): ReadonlyArray<Item> => {
  const end = 1 + items.findLastIndex((item) => item.type === "stop")
  return items.filter((item, index) => index < end || item.type === "selection")
}

type Result = Item & { readonly type: "result" }

/** What a call reports whose turn or session was ended while it worked (S151). */
export const cancelledResult = (id: string): Result => ({
  type: "result",
  id,
  status: "cancelled",
  output: { code: "CANCELLED", message: "the call was cancelled; its effects may have happened" },
})

/** What a call reports that was never answered. */
export const interruptedResult = (id: string): Result => ({
  type: "result",
  id,
  status: "interrupted",
  output: { code: "INTERRUPTED", message: "the call was interrupted; its effects may have happened" },
})

/** The text blocks joined by line feeds; other kinds of content are left out. */
export const textOf = (content: Blocks): string =>
  content.flatMap((block) => (block.type === "text" && typeof block.text === "string" ? [block.text] : [])).join("\n")

export * as Items from "./Item.ts"
