import * as Data from "effect/Data"
import { isJsonObject, type Json, type JsonObject, stringifyJson } from "./Json.ts"
import { tooLarge } from "./MessageSize.ts"

/** One tool call as the updates of one turn left it. */
export interface ToolCall {
  readonly id: string
  readonly title: string | undefined
  readonly kind: string | undefined
  /** `pending`, `in_progress`, `completed`, `failed`, `cancelled` or what the agent said. Never goes back from one of the last three. */
  readonly status: string
  /** The agent never ended it. */
  readonly open: boolean
}

/** The agent's last report of its context (S75): tokens held and the window. Cost is cumulative over the session. */
export interface Usage {
  readonly used: number
  readonly size: number
  readonly cost: { readonly amount: number; readonly currency: string } | undefined
}

/** A settled turn. Updates that arrive later belong to no turn. */
export interface TurnResult {
  /** As the agent sent it; `undefined` where a v2 agent gave none, which is normal completion. */
  readonly stopReason: string | undefined
  /** The agent's text: chunks appended, whole messages replaced by message id, messages in order of first sight (S112). */
  readonly text: string
  /**
   * Captured updates as they arrived, within `limits.items` and `limits.itemBytes`: non-text message content, tool calls and their
   * updates, terminals, plans, usage, session info, commands, notices, compaction. Configuration is in `configOptions` instead.
   * Not thoughts, user echoes, modes (S73).
   */
  readonly items: ReadonlyArray<JsonObject>
  /** Something did not fit. */
  readonly truncated: boolean
  /** Something other than usage, session info and commands was captured or left out (decision 8). */
  readonly rich: boolean
  /** Neither text nor a rich item: some agents end a turn like this when their model failed. */
  readonly empty: boolean
  /** Updates of kinds that nobody here knows, within the same bounds; kept, no part of what a turn returns. */
  readonly unknown: ReadonlyArray<JsonObject>
  /** The latest whole configuration snapshot, as it arrived (S74). */
  readonly configOptions: ReadonlyArray<Json> | undefined
  readonly tools: ReadonlyArray<ToolCall>
  readonly usage: Usage | undefined
  /** The raw answer to `session/prompt`. */
  readonly answer: Json
  /** v2: the raw `state_update` that settled the turn. */
  readonly idle: JsonObject | undefined
}

/** Why a turn that was sent did not succeed (S153). `unknown` is a stop reason that we do not know, `too_large` an answer beyond `limits.answerBytes`. */
export type TurnFailure = "cancelled" | "refusal" | "max_turn_requests" | "error" | "unknown" | "too_large"

const words: Record<Exclude<TurnFailure, "unknown" | "too_large">, string> = {
  cancelled: "nested agent cancelled",
  refusal: "nested agent refused the prompt",
  max_turn_requests: "nested agent reached its turn-request limit",
  error: "nested agent turn failed",
}

const shownCharacters = 64
const authRequired = -32000

/** What stands where a stop reason should, as JSON of at most 64 characters, and that it is no text where it is none. */
const unknownWords = ({ answer, idle }: TurnResult): string => {
  const from = idle ?? answer
  const reason = isJsonObject(from) ? from.stopReason : undefined
  const shown = stringifyJson(reason ?? null).slice(0, shownCharacters)
  return typeof reason === "string"
    ? `nested agent returned an unknown stop reason: ${shown}`
    : `nested agent returned a stop reason that is no string: ${shown}`
}

/** What the agent says of its error, beside the stop reason or in the last notice of one; of a login that is missing nothing (S123). */
const errorWords = ({ idle, items }: TurnResult): string => {
  const { error } = idle ?? {}
  if (isJsonObject(error)) return error.code !== authRequired && typeof error.message === "string" ? error.message : ""
  const notice = items.findLast(({ sessionUpdate, severity }) => sessionUpdate === "notice" && severity === "error")
  return typeof notice?.title === "string" ? notice.title : ""
}

/** The turn did not end well. `result` holds all it brought, `limit` the bytes that were allowed where it was `too_large`. */
export class TurnFailed extends Data.TaggedError("TurnFailed")<{
  readonly reason: TurnFailure
  readonly result: TurnResult
  readonly limit: number
}> {
  override get message() {
    if (this.reason === "too_large") return tooLarge("the agent's answer", this.limit)
    if (this.reason === "unknown") return unknownWords(this.result)
    const why = this.reason === "error" ? errorWords(this.result) : ""
    return why === "" ? words[this.reason] : `${words[this.reason]}: ${why}`
  }
}

/** What a stop reason means (S153): `undefined` for success. A missing one is success on v2 only. */
export const failureOf = (stopReason: string | undefined): TurnFailure | undefined => {
  switch (stopReason) {
    case undefined:
    case "end_turn":
    case "max_tokens":
      return undefined
    case "cancelled":
    case "refusal":
    case "max_turn_requests":
      return stopReason
    case "error":
    case "_error":
      return "error"
    default:
      return "unknown"
  }
}

export * as Turns from "./TurnResult.ts"
