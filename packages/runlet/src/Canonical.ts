import { Float, List, Obj, sortedKeys, type Value } from "./Value.ts"

/** Nesting beyond which no value is presented. */
export const MAX_DEPTH = 256

/** Why a value has no presentation: it holds Bytes, or nests deeper than {@link MAX_DEPTH}, or its text passes the bound. */
export class NotPresentable {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

const escapes: Record<string, string> = {
  '"': '\\"',
  "\\": "\\\\",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\f": "\\f",
  "\r": "\\r",
}

/** A JSON string: controls escaped in lower case, a lone surrogate too, everything else raw. */
export const quote = (text: string): string =>
  `"${text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the controls are what has to be escaped
    /["\\\u0000-\u001f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (char) => escapes[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )}"`

const write = (value: Value, depth: number, out: Array<string>): NotPresentable | undefined => {
  if (typeof value === "string") {
    out.push(quote(value))
    return undefined
  }
  if (value === null || typeof value !== "object") {
    out.push(String(value))
    return undefined
  }
  if (value instanceof Float) {
    out.push(String(value.value))
    return undefined
  }
  if (depth >= MAX_DEPTH) return new NotPresentable(`value is nested deeper than ${MAX_DEPTH} levels`)
  if (value instanceof List) {
    out.push("[")
    for (let at = 0; at < value.length; at++) {
      if (at > 0) out.push(",")
      const problem = write(value.buffer[at]!, depth + 1, out)
      if (problem !== undefined) return problem
    }
    out.push("]")
    return undefined
  }
  if (value instanceof Obj) {
    let first = true
    for (const key of sortedKeys(value)) {
      out.push(first ? "{" : ",", quote(key), ":")
      first = false
      const problem = write(value.get(key)!, depth + 1, out)
      if (problem !== undefined) return problem
    }
    out.push(first ? "{}" : "}")
    return undefined
  }
  return new NotPresentable("bytes have no JSON form")
}

/** Presentation JSON: compact, keys sorted by UTF-8 bytes, Integers in decimal, Numbers as ECMAScript writes them. */
export const present = (value: Value): string | NotPresentable => {
  const out: Array<string> = []
  return write(value, 0, out) ?? out.join("")
}

/** {@link present} of a value that a run returned, which is always presentable. Bytes within come out as `null`. */
export const stringify = (value: Value): string => {
  const text = present(value)
  return typeof text === "string" ? text : "null"
}

export * as Canonical from "./Canonical.ts"
