import { parseJson, stringifyJson } from "@acp-kit/protocol/Json"
import type { TurnResult } from "@acp-kit/protocol/TurnResult"
import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import { isObject } from "./Arguments.ts"
import type { Limits } from "./Limits.ts"

const bytes = (value: Json): number => new TextEncoder().encode(stringifyJson(value)).length

/** The text of content that is nothing else: one text block, or one content entry around it, with no further keys. */
const onlyText = (content: Json | undefined): string | undefined => {
  const entry = Array.isArray(content) && content.length === 1 ? content[0] : content
  if (!isObject(entry)) return undefined
  const keys = Object.keys(entry)
  if (entry.type === "content" && keys.length === 2 && entry.content !== undefined) return onlyText(entry.content)
  return entry.type === "text" && keys.length === 2 && typeof entry.text === "string" ? entry.text : undefined
}

const same = (left: Json, right: Json): boolean => {
  if (left === right) return true
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false
  if (Array.isArray(left) || Array.isArray(right)) {
    return (
      Array.isArray(left) &&
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, at) => same(item, right[at] as Json))
    )
  }
  const a = left as JsonObject
  const b = right as JsonObject
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key] as Json, b[key] as Json))
  )
}

/** Tool content that only repeats `rawOutput` as JSON becomes `[]`; `rawOutput` stays (S72). */
export const withoutCopy = (item: JsonObject): JsonObject => {
  if (item.sessionUpdate !== "tool_call_update" && item.sessionUpdate !== "tool_call") return item
  const text = item.rawOutput === undefined ? undefined : onlyText(item.content)
  const parsed = text === undefined ? undefined : parseJson(text)
  return parsed !== undefined && same(parsed, item.rawOutput as Json) ? { ...item, content: [] } : item
}

/** What a turn returns besides its text (S70). */
export interface Updates extends JsonObject {
  readonly items: ReadonlyArray<JsonObject>
  readonly truncated: boolean
}

/**
 * Makes `updates` of a settled turn, `undefined` where it has none (S70, decision 8). `baseline` is the text of the configuration snapshot that the
 * parent knew before the turn: an unchanged one counts for nothing.
 *
 * The snapshot comes first in the budget and last in the list; of the other items, in order, each that still fits is kept (S71, S74).
 */
export const updatesOf = (
  result: Pick<TurnResult, "items" | "truncated" | "rich" | "configOptions">,
  baseline: string | undefined,
  limits: Pick<Limits.Interface, "updateItems" | "updateBytes">,
): Updates | undefined => {
  const { configOptions } = result
  const changed = configOptions !== undefined && stringifyJson(configOptions) !== baseline
  if (!result.rich && !changed) return undefined
  const snapshot = configOptions === undefined ? undefined : { sessionUpdate: "config_option_update", configOptions }
  const needed = snapshot === undefined ? 0 : bytes(snapshot)
  const kept = snapshot !== undefined && needed <= limits.updateBytes ? [snapshot] : []
  let { truncated } = result
  if (snapshot !== undefined && kept.length === 0) truncated = true
  const items: Array<JsonObject> = []
  let left = limits.updateBytes - (kept.length === 0 ? 0 : needed)
  for (const item of result.items.map(withoutCopy)) {
    const size = bytes(item)
    if (items.length + kept.length >= limits.updateItems || size > left) truncated = true
    else {
      items.push(item)
      left -= size
    }
  }
  return { items: [...items, ...kept], truncated }
}

/** The text of a snapshot, to compare the next one with. */
export const snapshotText = (configOptions: ReadonlyArray<Json> | undefined): string | undefined =>
  configOptions === undefined ? undefined : stringifyJson(configOptions)

export * as Capture from "./Capture.ts"
