/** A JSON value whose integers are exact: those beyond 2^53 are bigints, in a file they are plain digits. */
export type Json = null | boolean | number | bigint | string | ReadonlyArray<Json> | JsonObject

export interface JsonObject {
  readonly [key: string]: Json
}

/** True for what `{}` encloses, false for arrays, null and the rest. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isDigit = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  return code >= 48 && code <= 57
}

/** Whether sixteen digits stand in a row: only such a text can hold an integer beyond 2^53. Looks at every sixteenth character first. */
const hasLongDigits = (text: string): boolean => {
  for (let at = 15; at < text.length; at += 16) {
    if (!isDigit(text, at)) continue
    let from = at
    while (from > 0 && isDigit(text, from - 1)) from--
    let to = at + 1
    while (to < text.length && isDigit(text, to)) to++
    if (to - from >= 16) return true
    at = Math.max(at, to - 1)
  }
  return false
}

const exact = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === "number" && !Number.isSafeInteger(value) && context?.source !== undefined && /^-?\d+$/.test(context.source)
    ? BigInt(context.source)
    : value

/** The value of a JSON text, integers exact; `undefined` where the text is not JSON. */
export const parse = (text: string): Json | undefined => {
  try {
    return hasLongDigits(text) ? JSON.parse(text, exact) : JSON.parse(text)
  } catch {
    return undefined
  }
}

const rawJSON = (JSON as unknown as { readonly rawJSON: (text: string) => unknown }).rawJSON

const digits = (_key: string, value: unknown): unknown => (typeof value === "bigint" ? rawJSON(value.toString()) : value)

const loneSurrogate = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g

/** Every line reader agrees on this text: no raw U+2028 or U+2029, no half of a surrogate pair. */
const harmless = (text: string): string => {
  let safe = text
  if (safe.includes("\\ud")) {
    let before: string
    do {
      before = safe
      safe = safe.replace(loneSurrogate, "$1\ufffd")
    } while (safe !== before)
  }
  if (safe.includes("\u2028")) safe = safe.replaceAll("\u2028", "\\u2028")
  if (safe.includes("\u2029")) safe = safe.replaceAll("\u2029", "\\u2029")
  return safe
}

/** One line of JSON text. Half surrogates become U+FFFD; `undefined` members are left out; bigints are written as digits. */
export const stringify = (value: Json): string => harmless(JSON.stringify(value, hasBigInt(value) ? digits : undefined))

/** The same over several lines, two spaces per level, for files that people read. */
export const stringifyPretty = (value: Json): string => harmless(JSON.stringify(value, hasBigInt(value) ? digits : undefined, 2))

const hasBigInt = (value: Json): boolean => {
  if (typeof value === "bigint") return true
  if (typeof value !== "object" || value === null) return false
  if (Array.isArray(value)) return value.some(hasBigInt)
  for (const key in value) if (hasBigInt((value as JsonObject)[key] as Json)) return true
  return false
}
