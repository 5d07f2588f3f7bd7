import { compareNumbers, isNumeric } from "../Arithmetic.ts"
import { Failed } from "../Outcome.ts"
import type { Intrinsic } from "../Registry.ts"
import * as Types from "../Types.ts"
import {
  compareText,
  kindOf,
  type List,
  list as listOf,
  MAX_INTEGER,
  MIN_INTEGER,
  integer as narrow,
  Obj,
  type Value,
} from "../Value.ts"
import { define, failed, sliceBounds } from "./Signature.ts"

const { integer, string } = Types
const anyList = Types.list(Types.any)

/** Items a range may have. */
const MAX_RANGE = 65_536

type Compare = (left: Value, right: Value) => number

/** How to order keys that are all strings or all numeric; RL5201 for anything else. */
const comparison = (keys: ReadonlyArray<Value>, name: string): Compare | Failed => {
  const first = keys[0]
  if (first === undefined) return () => 0
  const strings = typeof first === "string"
  for (const key of keys)
    if (strings ? typeof key !== "string" : !isNumeric(key))
      return failed("RL5201", `${name} needs all strings or all numbers, got ${kindOf(first)} and ${kindOf(key)}`)
  return strings
    ? (left, right) => compareText(left as string, right as string)
    : (left, right) => compareNumbers(left as number, right as number)
}

const sortBy = (xs: List, path: string, descending: boolean): Value | Failed => {
  const fields = path.split(".")
  const keyed = xs.toArray().map((item) => {
    let key: Value | undefined = item
    for (const field of fields) key = key instanceof Obj ? key.get(field) : undefined
    return { item, key: key ?? undefined }
  })
  const present = keyed.filter((entry): entry is { item: Value; key: Exclude<Value, null> } => entry.key !== undefined)
  const compare = comparison(
    present.map(({ key }) => key),
    "list.sort_by",
  )
  if (compare instanceof Failed) return compare
  const sorted = present.toSorted((left, right) => (descending ? compare(right.key, left.key) : compare(left.key, right.key)))
  return listOf([...sorted, ...keyed.filter(({ key }) => key === undefined)].map(({ item }) => item))
}

const range = (start: Value, end: Value, step: Value): Value | Failed => {
  const by = BigInt(step as number | bigint)
  if (by === 0n) return failed("RL5214", "the step of list.range must not be zero")
  const from = BigInt(start as number | bigint)
  const to = BigInt(end as number | bigint)
  const span = by > 0n ? to - from : from - to
  const size = by > 0n ? by : -by
  const count = span <= 0n ? 0n : (span + size - 1n) / size
  if (count > BigInt(MAX_RANGE))
    return failed("RL5201", `list.range would have ${count} elements; at most ${MAX_RANGE} are allowed`)
  const items: Array<Value> = []
  for (let at = from; items.length < Number(count) && at >= MIN_INTEGER && at <= MAX_INTEGER; at += by) items.push(narrow(at))
  return listOf(items)
}

export const list: ReadonlyArray<Intrinsic> = [
  define("list.length", "Number of items", { xs: anyList }, integer, ([xs]) => (xs as List).length),
  define("list.sort", "Sorted: all strings or all numbers", { xs: anyList }, anyList, ([xs]) => {
    const items = (xs as List).toArray()
    const compare = comparison(items, "list.sort")
    return compare instanceof Failed ? compare : listOf(items.sort(compare))
  }),
  define(
    "list.sort_by",
    'Sorted by a dotted path; missing and null last; "asc" or "desc"',
    { xs: anyList, path: string, "direction?": string },
    anyList,
    ([xs, path, direction]) => {
      if (direction !== undefined && direction !== "asc" && direction !== "desc")
        return failed("RL5201", 'the direction of list.sort_by is "asc" or "desc"')
      return sortBy(xs as List, path as string, direction === "desc")
    },
  ),
  define(
    "list.slice",
    "Items from start to end; negative counts from the end",
    { xs: anyList, start: integer, "end?": integer },
    anyList,
    ([xs, start, end]) => listOf((xs as List).toArray().slice(...sliceBounds((xs as List).length, start!, end))),
  ),
  define(
    "list.range",
    "Integers from start up to, not including, end",
    { start: integer, end: integer, "step?": integer },
    Types.list(integer),
    ([start, end, step]) => range(start!, end!, step ?? 1),
  ),
]
