import { stringifyJson, utf8Bytes } from "@acp-kit/protocol/Json"
import type { TurnResult } from "@acp-kit/protocol/TurnResult"
import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import type { Limits } from "./Limits.ts"

const bytes = (value: Json): number => utf8Bytes(stringifyJson(value))

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
  for (const item of result.items) {
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
