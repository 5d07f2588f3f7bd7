import { isObject, type Json, type JsonObject } from "./Json.ts"

/**
 * One change to a conversation state.
 *
 * - `["set", path, value]` puts a value at a path of member names.
 * - `["drop", path]` takes the member away.
 * - `["cut", path, length, items]` keeps the first `length` elements of an array and puts `items` behind them.
 */
export type Change =
  | readonly ["set", ReadonlyArray<string>, Json]
  | readonly ["drop", ReadonlyArray<string>]
  | readonly ["cut", ReadonlyArray<string>, number, ReadonlyArray<Json>]

const depthLimit = 6

/** Whether two values are the same JSON; shared references cost nothing. */
export const equal = (a: Json | undefined, b: Json | undefined): boolean => {
  if (a === b) return true
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || a === undefined || b === undefined)
    return false
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((value, index) => equal(value, b[index]))
  if (Array.isArray(b)) return false
  const left = a as JsonObject
  const right = b as JsonObject
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length && keys.every((key) => Object.hasOwn(right, key) && equal(left[key], right[key]))
  )
}

/** The changes that turn `before` into `after`; none where they are the same. What an array gained at its end costs that much and no more. */
export const diff = (before: JsonObject, after: JsonObject): ReadonlyArray<Change> => {
  const changes: Array<Change> = []
  compare(before, after, [], changes)
  return changes
}

const compare = (before: JsonObject, after: JsonObject, path: ReadonlyArray<string>, changes: Array<Change>): void => {
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(after, key) || after[key] === undefined) changes.push(["drop", [...path, key]])
  }
  for (const key of Object.keys(after)) {
    const old = Object.hasOwn(before, key) ? before[key] : undefined
    const now = after[key]
    if (now === undefined || now === old) continue
    const at = [...path, key]
    if (Array.isArray(old) && Array.isArray(now)) compareArrays(old, now, at, changes)
    else if (isObject(old) && isObject(now) && at.length < depthLimit) compare(old, now, at, changes)
    else if (!equal(old, now)) changes.push(["set", at, now])
  }
}

const compareArrays = (
  before: ReadonlyArray<Json>,
  after: ReadonlyArray<Json>,
  path: ReadonlyArray<string>,
  changes: Array<Change>,
): void => {
  const shorter = Math.min(before.length, after.length)
  let same = 0
  while (same < shorter && equal(before[same], after[same])) same++
  if (same === before.length && same === after.length) return
  changes.push(["cut", path, same, after.slice(same)])
}

type Mutable = { [key: string]: Json }

/** Makes a change to a state that nobody else holds. False, and nothing done, where the value is no change that this version knows. */
export const apply = (state: JsonObject, change: Json): boolean => {
  if (!Array.isArray(change)) return false
  const [op, path, third, fourth] = change as ReadonlyArray<Json>
  if (!Array.isArray(path) || path.length === 0 || !path.every((key) => typeof key === "string")) return false
  const parent = reach(state as Mutable, path.slice(0, -1))
  const key = path[path.length - 1] as string
  if (op === "set" && third !== undefined) put(parent, key, third)
  else if (op === "drop") delete parent[key]
  else if (op === "cut" && isLength(third) && Array.isArray(fourth)) {
    const old = Object.hasOwn(parent, key) ? parent[key] : undefined
    const array: Array<Json> = Array.isArray(old) ? old : []
    if (array.length > third) array.length = third
    for (const item of fourth) array.push(item)
    if (array !== old) put(parent, key, array)
  } else return false
  return true
}

const isLength = (value: Json | undefined): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const reach = (state: Mutable, path: ReadonlyArray<string>): Mutable => {
  let at = state
  for (const key of path) {
    const next = Object.hasOwn(at, key) ? at[key] : undefined
    if (isObject(next)) at = next as Mutable
    else {
      const made: Mutable = {}
      put(at, key, made)
      at = made
    }
  }
  return at
}

/** Also right for `__proto__`. */
const put = (object: Mutable, key: string, value: Json): void => {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}

export * as ContextDelta from "./ContextDelta.ts"
