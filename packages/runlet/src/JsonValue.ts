import type { Json, JsonObject } from "./Host.ts"
import type { Type } from "./Types.ts"
import { Float, float, integer, List, list, MAX_INTEGER, MIN_INTEGER, Obj, object, type Value } from "./Value.ts"

/** Why something is no value of the language: not JSON, too deep, or a number without a kind. */
export class NotJson {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

const MAX_DEPTH = 512
const MAX_PARTS = 100_000_000

const wants = (type: Type | undefined, kind: "integer" | "number"): boolean => {
  if (type === undefined) return false
  return type.kind === "union" ? type.variants.some((variant) => variant.kind === kind) : type.kind === kind
}

const under = (type: Type | undefined, test: (type: Type) => Type | undefined): Type | undefined => {
  if (type === undefined || type.kind !== "union") return type === undefined ? undefined : test(type)
  for (const variant of type.variants) {
    const found = test(variant)
    if (found !== undefined) return found
  }
  return undefined
}

const itemType = (type: Type | undefined) => under(type, (each) => (each.kind === "list" ? each.items : undefined))

const propertyType = (type: Type | undefined, key: string) =>
  under(type, (each) => (each.kind === "object" ? each.properties.get(key) : each.kind === "map" ? each.values : undefined))

/** What is no JSON although it is an object: a Date, a Map, a Promise and the like, whose content is nowhere to be seen. */
const isOpaque = (json: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(json)
  return prototype !== null && prototype !== Object.prototype && Object.keys(json).length === 0
}

/** Reads JSON of at most so many parts. */
class JsonReader {
  #left: number
  constructor(parts: number) {
    this.#left = parts
  }

  read(json: unknown, type: Type | undefined, depth: number): Value | NotJson {
    if (this.#left-- <= 0) return new NotJson("value is larger than any may be")
    switch (typeof json) {
      case "string":
      case "boolean":
        return json
      case "number":
        if (!Number.isFinite(json)) return new NotJson(`${json} is not a JSON number`)
        if (wants(type, "number") && !(wants(type, "integer") && Number.isSafeInteger(json))) return float(json)
        return Number.isSafeInteger(json) ? json || 0 : float(json)
      case "bigint":
        if (wants(type, "number") && !wants(type, "integer") && BigInt(Number(json)) === json) return float(Number(json))
        return json < MIN_INTEGER || json > MAX_INTEGER
          ? new NotJson(`${json} is outside the signed 64-bit range`)
          : integer(json)
      case "object":
        break
      default:
        return new NotJson(`a ${typeof json} is not a JSON value`)
    }
    if (json === null) return null
    if (json instanceof Uint8Array) return json.slice()
    if (depth > MAX_DEPTH) return new NotJson(`value is nested deeper than ${MAX_DEPTH} levels`)
    if (Array.isArray(json)) return this.#list(json, itemType(type), depth)
    if (isOpaque(json)) return new NotJson(`a ${json.constructor?.name ?? "strange object"} is not a JSON value`)
    const entries = new Map<string, Value>()
    for (const [key, each] of Object.entries(json)) {
      const item = this.read(each, propertyType(type, key), depth + 1)
      if (item instanceof NotJson) return item
      entries.set(key, item)
    }
    return object(entries)
  }

  #list(json: ReadonlyArray<unknown>, type: Type | undefined, depth: number): Value | NotJson {
    const items: Array<Value> = []
    for (const each of json) {
      const item = this.read(each, type, depth + 1)
      if (item instanceof NotJson) return item
      items.push(item)
    }
    return list(items)
  }
}

/**
 * A JSON value from the host as a value of the language. A JavaScript number is an Integer when it is a safe integer, unless the type
 * asks for Number; bigints are Integers. A `Uint8Array` becomes Bytes. What has more than `parts` scalars, lists and objects is refused.
 */
export const fromJson = (json: unknown, type?: Type, parts = MAX_PARTS): Value | NotJson =>
  new JsonReader(parts).read(json, type, 0)

/** Plain JSON: Integers as numbers, or bigints beyond 2^53; a Number keeps its numeric value (2.0 becomes 2). Bytes have no JSON. */
export const toJson = (value: Value): Json | NotJson => {
  if (value === null || typeof value !== "object") return value
  if (value instanceof Float) return value.value
  if (value instanceof List) {
    const out: Array<Json> = []
    for (const item of value) {
      const json = toJson(item)
      if (json instanceof NotJson) return json
      out.push(json)
    }
    return out
  }
  if (value instanceof Obj) {
    const out: Record<string, Json> = {}
    for (const [key, item] of value.entries) {
      const json = toJson(item)
      if (json instanceof NotJson) return json
      if (key === "__proto__")
        Object.defineProperty(out, key, { value: json, enumerable: true, configurable: true, writable: true })
      else out[key] = json
    }
    return out as JsonObject
  }
  return new NotJson("bytes have no JSON form")
}
