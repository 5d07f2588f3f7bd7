import { compareText } from "./Value.ts"

/** A Runlet schema: what the checker infers and what a call converts to. Lengths count Unicode scalar values. */
export type Type =
  | { readonly kind: "any" }
  | { readonly kind: "never" }
  | { readonly kind: "null" }
  | { readonly kind: "boolean" }
  | { readonly kind: "bytes" }
  | IntegerType
  | NumberType
  | StringType
  | ListType
  | ObjectType
  | MapType
  | UnionType

/** Bounds are inclusive. */
export interface IntegerType {
  readonly kind: "integer"
  readonly min?: bigint
  readonly max?: bigint
}
export interface NumberType {
  readonly kind: "number"
  readonly min?: number
  readonly max?: number
}
export interface StringType {
  readonly kind: "string"
  readonly values?: ReadonlyArray<string>
  readonly minLength?: number
  readonly maxLength?: number
}
export interface ListType {
  readonly kind: "list"
  readonly items: Type
  readonly minItems?: number
  readonly maxItems?: number
}
export interface ObjectType {
  readonly kind: "object"
  readonly properties: ReadonlyMap<string, Type>
  readonly required: ReadonlySet<string>
  /** Takes keys it does not know. */
  readonly open: boolean
}
export interface MapType {
  readonly kind: "map"
  readonly values: Type
}
export interface UnionType {
  readonly kind: "union"
  readonly variants: ReadonlyArray<Type>
}

export const any: Type = { kind: "any" }
export const never: Type = { kind: "never" }
export const nothing: Type = { kind: "null" }
export const boolean: Type = { kind: "boolean" }
export const bytes: Type = { kind: "bytes" }
export const integer: Type = { kind: "integer" }
export const number: Type = { kind: "number" }
export const string: Type = { kind: "string" }
export const list = (items: Type): Type => capped({ kind: "list", items })
export const map = (values: Type): Type => capped({ kind: "map", values })

/** A closed object type whose keys are all required, unless said otherwise. */
export const object = (
  properties: ReadonlyMap<string, Type>,
  required: ReadonlySet<string> = new Set(properties.keys()),
  open = false,
): Type => capped({ kind: "object", properties, required, open })

/** Types written out larger than this become Any, so that types built on types stay comparable. */
const MAX_SIZE = 4_096

const sizes = new WeakMap<Type, number>()

const sizeOf = (type: Type): number => {
  const known = sizes.get(type)
  if (known !== undefined) return known
  let size = 1
  if (type.kind === "list") size += sizeOf(type.items)
  else if (type.kind === "map") size += sizeOf(type.values)
  else if (type.kind === "object") for (const property of type.properties.values()) size += sizeOf(property)
  else if (type.kind === "union") for (const variant of type.variants) size += sizeOf(variant)
  sizes.set(type, size)
  return size
}

const capped = (type: Type): Type => (sizeOf(type) > MAX_SIZE ? any : type)

/** More variants than this make Any. */
export const MAX_VARIANTS = 8

/** The union: flat, without Never and duplicates; Any when one is Any or too many remain. */
export const union = (...types: ReadonlyArray<Type>): Type => {
  const variants: Array<Type> = []
  for (const type of types) {
    if (type.kind === "any") return any
    for (const variant of type.kind === "union" ? type.variants : [type]) {
      if (variant.kind === "never") continue
      if (!variants.some((known) => sameType(known, variant))) variants.push(variant)
    }
    if (variants.length > MAX_VARIANTS) return any
  }
  if (variants.length === 0) return never
  return variants.length === 1 ? variants[0]! : capped({ kind: "union", variants })
}

export const sameType = (left: Type, right: Type): boolean => {
  if (left === right) return true
  if (left.kind !== right.kind) return false
  switch (left.kind) {
    case "integer":
    case "number":
      return left.min === (right as typeof left).min && left.max === (right as typeof left).max
    case "string": {
      const other = right as StringType
      return (
        left.minLength === other.minLength &&
        left.maxLength === other.maxLength &&
        left.values?.length === other.values?.length &&
        (left.values ?? []).every((value, at) => value === other.values?.[at])
      )
    }
    case "list": {
      const other = right as ListType
      return left.minItems === other.minItems && left.maxItems === other.maxItems && sameType(left.items, other.items)
    }
    case "map":
      return sameType(left.values, (right as MapType).values)
    case "object": {
      const other = right as ObjectType
      if (
        left.open !== other.open ||
        left.properties.size !== other.properties.size ||
        left.required.size !== other.required.size
      )
        return false
      for (const [key, type] of left.properties) {
        const theirs = other.properties.get(key)
        if (theirs === undefined || !sameType(type, theirs) || left.required.has(key) !== other.required.has(key)) return false
      }
      return true
    }
    case "union": {
      const other = right as UnionType
      return (
        left.variants.length === other.variants.length &&
        left.variants.every((variant) => other.variants.some((theirs) => sameType(variant, theirs)))
      )
    }
    default:
      return true
  }
}

/** The variants of a union, or the type alone. */
export const variants = (type: Type): ReadonlyArray<Type> => (type.kind === "union" ? type.variants : [type])

/** The word for a kind of type in messages. */
export const typeKind = (type: Type): string => {
  switch (type.kind) {
    case "integer":
      return "int"
    case "map":
      return "object"
    default:
      return type.kind
  }
}

/** A type as messages write it. Beyond two levels an object is `object`. */
export const notation = (type: Type, depth = 0): string => {
  switch (type.kind) {
    case "integer":
      return "int"
    case "string":
      return type.values === undefined ? "string" : type.values.map((value) => JSON.stringify(value)).join(" | ")
    case "list":
      return `${notation(type.items, depth)}[]`
    case "map":
      return depth >= 2 ? "object" : `{ [key]: ${notation(type.values, depth + 1)} }`
    case "object": {
      if (depth >= 2 || type.properties.size === 0) return "object"
      const keys = [...type.properties.keys()].sort(compareText)
      return `{ ${keys.map((key) => `${key}${type.required.has(key) ? "" : "?"}: ${notation(type.properties.get(key)!, depth + 1)}`).join(", ")} }`
    }
    case "union":
      return type.variants.map((variant) => notation(variant, depth)).join(" | ")
    default:
      return type.kind
  }
}
