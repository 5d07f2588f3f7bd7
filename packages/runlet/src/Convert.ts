import { format, widen } from "./Arithmetic.ts"
import { Failed } from "./Outcome.ts"
import { scalarLength } from "./Text.ts"
import { type Type, typeKind } from "./Types.ts"
import { Float, float, isInteger, kindOf, List, list, Obj, object, type Value } from "./Value.ts"

/** Whether a value satisfies a type as it is: an Integer does not satisfy Number. */
export const accepts = (type: Type, value: Value): boolean => {
  switch (type.kind) {
    case "any":
      return true
    case "never":
      return false
    case "null":
      return value === null
    case "boolean":
      return typeof value === "boolean"
    case "bytes":
      return value instanceof Uint8Array
    case "integer":
      return isInteger(value) && !(type.min !== undefined && value < type.min) && !(type.max !== undefined && value > type.max)
    case "number":
      return (
        value instanceof Float &&
        !(type.min !== undefined && value.value < type.min) &&
        !(type.max !== undefined && value.value > type.max)
      )
    case "string": {
      if (typeof value !== "string") return false
      if (type.values !== undefined && !type.values.includes(value)) return false
      if (type.minLength === undefined && type.maxLength === undefined) return true
      const length = scalarLength(value)
      return length >= (type.minLength ?? 0) && length <= (type.maxLength ?? Number.POSITIVE_INFINITY)
    }
    case "list": {
      if (!(value instanceof List)) return false
      if (value.length < (type.minItems ?? 0) || value.length > (type.maxItems ?? Number.POSITIVE_INFINITY)) return false
      if (type.items.kind === "any") return true
      for (let at = 0; at < value.length; at++) if (!accepts(type.items, value.buffer[at]!)) return false
      return true
    }
    case "map":
      if (!(value instanceof Obj)) return false
      for (const item of value.entries.values()) if (!accepts(type.values, item)) return false
      return true
    case "object": {
      if (!(value instanceof Obj)) return false
      for (const key of type.required) if (!value.has(key)) return false
      for (const [key, item] of value.entries) {
        const property = type.properties.get(key)
        if (property === undefined ? !type.open : !accepts(property, item)) return false
      }
      return true
    }
    case "union":
      return type.variants.some((variant) => accepts(variant, value))
  }
}

const refuse = (message: string) => new Failed("RL5208", message, undefined)

const unsafe = (type: Type, value: Value) =>
  refuse(`${kindOf(value)} value cannot be safely converted to the expected ${typeKind(type)} schema`)

const toObject = (type: Type & { kind: "object" }, value: Obj): Value | Failed => {
  const missing = [...type.required].filter((key) => !value.has(key))
  if (missing.length > 0)
    return refuse(
      `missing required ${missing.length === 1 ? "property" : "properties"} ${missing.map((key) => `\`${key}\``).join(", ")}`,
    )
  const entries = new Map<string, Value>()
  for (const [key, item] of value.entries) {
    const property = type.properties.get(key)
    if (property === undefined) {
      if (!type.open) return refuse(`unknown property \`${key}\``)
      entries.set(key, item)
    } else if (item === null && !type.required.has(key) && !accepts(property, null)) {
    } else {
      const converted = convert(property, item)
      if (converted instanceof Failed) return refuse(`property \`${key}\`: ${converted.message}`)
      entries.set(key, converted)
    }
  }
  return object(entries)
}

const attempt = (type: Type, value: Value): Value | Failed => {
  switch (type.kind) {
    case "number": {
      if (!isInteger(value)) return unsafe(type, value)
      const double = widen(value)
      return double instanceof Failed ? double : float(double)
    }
    case "string":
      if (value === null || value instanceof Uint8Array || typeof value === "string") return unsafe(type, value)
      return format(value)
    case "list": {
      if (!(value instanceof List)) return unsafe(type, value)
      const items: Array<Value> = []
      for (const item of value) {
        const converted = convert(type.items, item)
        if (converted instanceof Failed) return converted
        items.push(converted)
      }
      return list(items)
    }
    case "map": {
      if (!(value instanceof Obj)) return unsafe(type, value)
      const entries = new Map<string, Value>()
      for (const [key, item] of value.entries) {
        const converted = convert(type.values, item)
        if (converted instanceof Failed) return refuse(`property \`${key}\`: ${converted.message}`)
        entries.set(key, converted)
      }
      return object(entries)
    }
    case "object":
      return value instanceof Obj ? toObject(type, value) : unsafe(type, value)
    case "union": {
      const results = type.variants.map((variant) => convert(variant, value)).filter((result) => !(result instanceof Failed))
      return results.length === 1 ? results[0]! : refuse("ambiguous or invalid union conversion")
    }
    default:
      return unsafe(type, value)
  }
}

/** The value as the type wants it, or RL5208. A value the type accepts is returned as it is; what conversion made is checked again. */
export const convert = (type: Type, value: Value): Value | Failed => {
  if (accepts(type, value)) return value
  const converted = attempt(type, value)
  if (converted instanceof Failed || accepts(type, converted)) return converted
  return refuse(`${kindOf(converted)} value is outside what the expected ${typeKind(type)} schema allows`)
}

/** Exact 1, structural 2, formatting or widening 3; undefined when no value of `from` could ever be converted. */
export const rank = (from: Type, to: Type): 1 | 2 | 3 | undefined => {
  if (from.kind === "any" || from.kind === "never" || to.kind === "any") return 1
  if (from.kind === "union") return best(from.variants.map((variant) => rank(variant, to)))
  if (to.kind === "union") return best(to.variants.map((variant) => rank(from, variant)))
  if (from.kind === "list" && to.kind === "list") return rank(from.items, to.items)
  if (from.kind === "map" && to.kind === "map") return rank(from.values, to.values)
  if (from.kind === "map" && to.kind === "object") {
    const ranks = [...to.properties.values()].map((property) => rank(from.values, property))
    return ranks.includes(undefined) ? undefined : structural(ranks)
  }
  if (from.kind === "object" && to.kind === "map") {
    const ranks = [...from.properties.values()].map((property) => rank(property, to.values))
    return ranks.includes(undefined) ? undefined : structural(ranks)
  }
  if (from.kind === "object" && to.kind === "object") {
    const ranks: Array<1 | 2 | 3 | undefined> = []
    for (const key of to.required) if (!from.properties.has(key) && !from.open) return undefined
    for (const [key, property] of from.properties) {
      const target = to.properties.get(key)
      if (target === undefined) {
        if (!to.open) return undefined
        continue
      }
      ranks.push(optional(property, target, !to.required.has(key)))
    }
    return ranks.includes(undefined) ? undefined : structural(ranks)
  }
  if (from.kind === to.kind) return 1
  if (from.kind === "integer" && to.kind === "number") return 3
  if (to.kind === "string" && from.kind !== "null" && from.kind !== "bytes") return 3
  return undefined
}

const best = (ranks: ReadonlyArray<1 | 2 | 3 | undefined>) =>
  ranks.reduce<1 | 2 | 3 | undefined>(
    (least, each) => (each === undefined ? least : least === undefined || each < least ? each : least),
    undefined,
  )

const structural = (ranks: ReadonlyArray<1 | 2 | 3 | undefined>): 2 | 3 => (ranks.includes(3) ? 3 : 2)

/** An optional property also takes Null, which removes it. */
const optional = (from: Type, to: Type, isOptional: boolean) => {
  if (isOptional && from.kind === "null") return 2
  if (isOptional && from.kind === "union") {
    const rest = from.variants.filter((variant) => variant.kind !== "null")
    return best(rest.map((variant) => rank(variant, to)))
  }
  return rank(from, to)
}
