import { stringifyJson } from "@acp-kit/protocol/Json"
import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import { fromJson, NotJson } from "@acp-kit/runlet/JsonValue"

const holds = (json: Json): boolean => !(fromJson(json) instanceof NotJson)

const isObject = (json: Json | undefined): json is JsonObject => typeof json === "object" && json !== null && !Array.isArray(json)

const fitting = (updates: JsonObject): JsonObject =>
  Array.isArray(updates.items) ? { ...updates, items: updates.items.filter(holds), truncated: true } : updates

const text = (json: Json): Json => (holds(json) ? json : stringifyJson(json))

/**
 * What a verb gives as a value that a program can hold: the language has integers of 64 bits, 512 levels and no infinite numbers, and a child
 * may say what it likes. An `output` that is none becomes its JSON text (S61), captured items that are none are left out (S71), of a list each
 * row is looked at, and anything else becomes its JSON text. What can be held is given back as it is.
 */
export const toValue = (json: Json): Json => {
  if (holds(json)) return json
  if (Array.isArray(json)) return json.map(toValue)
  if (!isObject(json) || json.id === undefined) return text(json)
  const { output, updates } = json
  return {
    ...json,
    ...(output === undefined ? {} : { output: text(output) }),
    ...(isObject(updates) ? { updates: fitting(updates) } : {}),
  }
}

export * as LanguageValue from "./LanguageValue.ts"
