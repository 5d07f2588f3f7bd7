import type { Entries } from "./Row.ts"

/**
 * A value of the language. Integers are numbers while safe and bigints beyond (a bigint is never a safe integer), so `typeof`
 * tells every kind but the rare {@link Float} apart. Values never change once another can see them.
 */
export type Value = null | boolean | number | bigint | string | Float | List | Obj | Uint8Array

/** The names of kinds in messages. */
export type Kind = "null" | "boolean" | "int" | "number" | "string" | "bytes" | "list" | "object"

/** A Number: finite binary64, never -0. Made by {@link float}. */
export class Float {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

/** A list: the first `length` items of a buffer that several lists may share. */
export class List {
  readonly buffer: Array<Value>
  readonly length: number
  /** Estimated length of the presentation in UTF-8, never more than the true one. */
  readonly size: number
  /** Levels of nesting, 1 for a list of scalars. */
  readonly depth: number

  constructor(buffer: Array<Value>, length: number, size: number, depth: number) {
    this.buffer = buffer
    this.length = length
    this.size = size
    this.depth = depth
  }

  /** The items as an array of their own. */
  toArray(): Array<Value> {
    return this.buffer.length === this.length ? this.buffer.slice() : this.buffer.slice(0, this.length)
  }

  *[Symbol.iterator](): Iterator<Value> {
    for (let at = 0; at < this.length; at++) yield this.buffer[at]!
  }
}

/**
 * An object: layers of entries, a newer one before those it covers, so that a fold that adds keys does not copy what it has.
 * Entries keep no order of their own; {@link sortedKeys} gives the order of the language.
 */
export class Obj {
  #layers: ReadonlyArray<Entries<Value>>
  /** Number of keys. */
  readonly count: number
  readonly size: number
  readonly depth: number

  constructor(layers: ReadonlyArray<Entries<Value>>, count: number, size: number, depth: number) {
    this.#layers = layers
    this.count = count
    this.size = size
    this.depth = depth
  }

  get layers(): ReadonlyArray<Entries<Value>> {
    return this.#layers
  }

  get(key: string): Value | undefined {
    for (const layer of this.#layers) {
      const value = layer.get(key)
      if (value !== undefined) return value
    }
    return undefined
  }

  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  /** All entries together. */
  get entries(): Entries<Value> {
    if (this.#layers.length === 1) return this.#layers[0]!
    const entries = new Map<string, Value>()
    for (const layer of this.#layers.toReversed()) for (const [key, value] of layer) entries.set(key, value)
    this.#layers = [entries]
    return entries
  }
}

export const MIN_INTEGER = -(2n ** 63n)
export const MAX_INTEGER = 2n ** 63n - 1n

/** Size of a value as the limits count it: at most the length of its JSON. */
export const sizeOf = (value: Value): number => {
  switch (typeof value) {
    case "string":
      return value.length + 2
    case "number":
      return value < 10 && value >= 0 ? 1 : 2
    case "bigint":
      return 16
    case "boolean":
      return 4
  }
  if (value === null) return 4
  if (value instanceof Float) return 1
  return value instanceof Uint8Array ? value.length : value.size
}

const depthOf = (value: Value): number => (value instanceof List || value instanceof Obj ? value.depth : 0)

/** A list of these items; the array must not change afterwards. */
export const list = (items: Array<Value>): List => {
  let size = items.length === 0 ? 2 : 1
  let depth = 0
  for (const item of items) {
    size += sizeOf(item) + 1
    depth = Math.max(depth, depthOf(item))
  }
  return new List(items, items.length, size, depth + 1)
}

/** An object of these entries; the map must not change afterwards. */
export const object = (entries: Entries<Value>): Obj => {
  let size = entries.size === 0 ? 2 : 1
  let depth = 0
  for (const [key, item] of entries) {
    size += key.length + 4 + sizeOf(item)
    depth = Math.max(depth, depthOf(item))
  }
  return new Obj([entries], entries.size, size, depth + 1)
}

/** Objects with fewer keys than this are copied when they are merged. */
const SMALL = 32

/** The shallow merge; `right` wins. */
export const merge = (left: Obj, right: Obj): Obj => {
  if (right.count === 0) return left
  if (left.count === 0) return right
  let count = left.count + right.count
  let size = left.size + right.size - 1
  for (const key of right.entries.keys()) {
    const covered = left.get(key)
    if (covered === undefined) continue
    count--
    size -= key.length + 4 + sizeOf(covered)
  }
  const depth = Math.max(left.depth, right.depth)
  const layers: Array<Entries<Value>> = [right.entries, ...(count <= SMALL ? [left.entries] : left.layers)]
  while (layers.length > 1 && (count <= SMALL || layers[0]!.size * 2 >= layers[1]!.size)) {
    const joined = new Map(layers[1])
    for (const [key, value] of layers[0]!) joined.set(key, value)
    layers.splice(0, 2, joined)
  }
  return new Obj(layers, count, size, depth)
}

/** An object from key and value pairs. */
export const record = (entries: Record<string, Value>): Obj => object(new Map(Object.entries(entries)))

/**
 * The concatenation. When `left` reaches to the end of its buffer the items of `right` go behind it in place, so that a fold that
 * appends copies nothing; any other list that shares the buffer ends before them.
 */
export const concat = (left: List, right: List): List => {
  if (right.length === 0) return left
  if (left.length === 0) return right
  const size = left.size + right.size - 1
  const depth = Math.max(left.depth, right.depth)
  const buffer = left.buffer.length === left.length ? left.buffer : left.buffer.slice(0, left.length)
  const count = right.length
  for (let at = 0; at < count; at++) buffer.push(right.buffer[at]!)
  return new List(buffer, left.length + count, size, depth)
}

/** The Number of a finite double; -0 becomes 0. */
export const float = (value: number): Float => new Float(value === 0 ? 0 : value)

/** The Integer of a bigint within 64 bits, in its narrow form. */
export const integer = (value: bigint): number | bigint =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value

export const isInteger = (value: Value): value is number | bigint => typeof value === "number" || typeof value === "bigint"

export const kindOf = (value: Value): Kind => {
  switch (typeof value) {
    case "string":
      return "string"
    case "number":
    case "bigint":
      return "int"
    case "boolean":
      return "boolean"
  }
  if (value === null) return "null"
  if (value instanceof Float) return "number"
  if (value instanceof List) return "list"
  return value instanceof Obj ? "object" : "bytes"
}

/** Compares by Unicode scalar value, which UTF-16 order is not above U+FFFF. */
export const compareText = (left: string, right: string): number => {
  const length = Math.min(left.length, right.length)
  for (let at = 0; at < length; at++) {
    let a = left.charCodeAt(at)
    let b = right.charCodeAt(at)
    if (a === b) continue
    if (a >= 0xd800 && b >= 0xd800) {
      a = a >= 0xe000 ? a - 0x800 : a + 0x2000
      b = b >= 0xe000 ? b - 0x800 : b + 0x2000
    }
    return a - b
  }
  return left.length - right.length
}

/** Keys in the order of the language: by UTF-8 bytes, which is by scalar value. */
export const sortedKeys = (value: Obj): Array<string> => [...value.entries.keys()].sort(compareText)

/** Structural equality with kinds compared exactly: no Integer equals a Number here. */
export const same = (left: Value, right: Value): boolean => {
  if (left === right) return true
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false
  if (left instanceof Float) return right instanceof Float && left.value === right.value
  if (left instanceof List) {
    if (!(right instanceof List) || left.length !== right.length) return false
    for (let at = 0; at < left.length; at++) if (!same(left.buffer[at]!, right.buffer[at]!)) return false
    return true
  }
  if (left instanceof Obj) {
    if (!(right instanceof Obj) || left.count !== right.count) return false
    for (const [key, value] of left.entries) {
      const other = right.get(key)
      if (other === undefined || !same(value, other)) return false
    }
    return true
  }
  if (!(right instanceof Uint8Array) || left.length !== right.length) return false
  return left.every((byte, at) => byte === right[at])
}

export * as Values from "./Value.ts"
