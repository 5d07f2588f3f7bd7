/** A JSON value whose integers are exact: those beyond 2^53 are bigints, on the wire they are plain digits. */
export type Json = null | boolean | number | bigint | string | ReadonlyArray<Json> | JsonObject

export interface JsonObject {
  readonly [key: string]: Json
}

/** Whether a value is a JSON object (no array, not null). */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const longDigits = /\d{16}/
const integer = /^-?\d+$/

const exact = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === "number" && !Number.isSafeInteger(value) && context?.source !== undefined && integer.test(context.source)
    ? BigInt(context.source)
    : value

/**
 * Parses one JSON text. Integers that a double cannot hold come out as bigints, `__proto__` is a key like any other.
 * Succeeds with `undefined` where the text is not JSON.
 */
export const parseJson = (text: string): Json | undefined => {
  try {
    return longDigits.test(text) ? JSON.parse(text, exact as (key: string, value: unknown) => unknown) : JSON.parse(text)
  } catch {
    return undefined
  }
}

const isEscaped = (text: string, at: number): boolean => {
  let from = at
  while (text.charCodeAt(from - 1) === 0x5c) from--
  return (at - from) % 2 === 1
}

/** Whether arrays and objects of a JSON text stand in each other more than `levels` deep. */
export const nestsDeeper = (text: string, levels: number): boolean => {
  if (text.length <= 2 * levels) return false
  let open = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      do at = text.indexOf('"', at + 1)
      while (at !== -1 && isEscaped(text, at))
      if (at === -1) return false
    } else if (code === 0x5b || code === 0x7b) {
      open += 1
      if (open > levels) return true
    } else if (code === 0x5d || code === 0x7d) open -= 1
  }
  return false
}

const scalar = (value: Exclude<Json, ReadonlyArray<Json> | JsonObject>): string => {
  if (typeof value !== "number") return typeof value === "bigint" ? value.toString() : JSON.stringify(value)
  if (Object.is(value, -0)) return "-0"
  if (value === Infinity) return "1e999"
  return value === -Infinity ? "-1e999" : JSON.stringify(value)
}

/** The compact text that {@link parseJson} gives back as the same value, however deep it is. */
export const stringifyJson = (root: Json): string => {
  if (typeof root !== "object" || root === null) return scalar(root)
  let out = ""
  const stack: Array<{
    readonly keys: ReadonlyArray<string> | undefined
    readonly of: ReadonlyArray<Json> | JsonObject
    at: number
  }> = []
  const open = (value: Json): void => {
    if (typeof value !== "object" || value === null) {
      out += scalar(value)
      return
    }
    const list = Array.isArray(value)
    out += list ? "[" : "{"
    stack.push({
      keys: list ? undefined : Object.keys(value).filter((key) => (value as JsonObject)[key] !== undefined),
      of: value,
      at: 0,
    })
  }
  open(root)
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const { keys, of, at } = top
    if (at === (keys ?? (of as ReadonlyArray<Json>)).length) {
      out += keys === undefined ? "]" : "}"
      stack.pop()
      continue
    }
    top.at += 1
    if (at > 0) out += ","
    if (keys === undefined) open((of as ReadonlyArray<Json>)[at] as Json)
    else {
      const key = keys[at] as string
      out += `${JSON.stringify(key)}:`
      open((of as JsonObject)[key] as Json)
    }
  }
  return out
}

/** Whether two values are the same JSON; the order of keys does not count, 1 and 1.0 are one number. */
export const equalJson = (left: Json, right: Json): boolean => {
  const pairs: Array<readonly [Json, Json]> = [[left, right]]
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [a, b] = pair
    if (a === b) continue
    if (Array.isArray(a) && Array.isArray(b)) {
      if (a.length !== b.length) return false
      for (let at = 0; at < a.length; at++) pairs.push([a[at], b[at]])
    } else if (isJsonObject(a) && isJsonObject(b)) {
      const keys = Object.keys(a)
      if (keys.length !== Object.keys(b).length) return false
      for (const key of keys) {
        if (!Object.hasOwn(b, key)) return false
        pairs.push([a[key] as Json, b[key] as Json])
      }
    } else return false
  }
  return true
}

const encoder = new TextEncoder()

/** Bytes of a text in UTF-8. */
export const utf8Bytes = (text: string): number => encoder.encode(text).length
