import type { Computed } from "./Arithmetic.ts"
import { Failed } from "./Outcome.ts"
import { Row } from "./Row.ts"
import { scalarAt, scalarLength } from "./Text.ts"
import { isInteger, kindOf, List, list, Obj, object, sortedKeys, type Value } from "./Value.ts"

const fail = (code: string, message: string) => new Failed(code, message, undefined)

/** `x.f`, which is `x["f"]`. */
export const member = (target: Value, key: string): Computed => {
  if (!(target instanceof Obj)) return fail("RL5203", `NOT_INDEXABLE: a ${kindOf(target)} value has no property \`${key}\``)
  const value = target.get(key)
  return value === undefined ? fail("RL5206", `KEY_NOT_FOUND: \`${key}\``) : value
}

/** `x[i]`: negative positions count from the end, strings by scalar values. */
export const index = (target: Value, key: Value): Computed => {
  if (target instanceof Obj && typeof key === "string") return member(target, key)
  const length =
    target instanceof List || target instanceof Uint8Array
      ? target.length
      : typeof target === "string"
        ? scalarLength(target)
        : undefined
  if (length === undefined || !isInteger(key))
    return fail("RL5203", `NOT_INDEXABLE: a ${kindOf(target)} value cannot be indexed by a ${kindOf(key)} value`)
  const at = Number(key) < 0 ? Number(key) + length : Number(key)
  if (at < 0 || at >= length) return fail("RL5205", `INDEX_OUT_OF_BOUNDS: ${key} in a ${kindOf(target)} of length ${length}`)
  if (target instanceof List) return target.buffer[at]!
  return typeof target === "string" ? scalarAt(target, at) : (target as Uint8Array)[at]!
}

const pair = ["key", "value"]

/** What a loop walks: the items of a list, or `{ key, value }` records in key order. */
export const iterate = (collection: Value): List | Failed => {
  if (collection instanceof List) return collection
  if (!(collection instanceof Obj))
    return fail("RL5204", `a ${kindOf(collection)} value cannot be iterated; use a list or an object`)
  return list(sortedKeys(collection).map((key) => object(new Row<Value>(pair, [key, collection.get(key)!]))))
}
