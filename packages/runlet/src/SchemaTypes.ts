import type { JsonObject, JsonSchema } from "./Host.ts"
import type { Type } from "./Types.ts"
import * as Types from "./Types.ts"
import { integer as narrow } from "./Value.ts"

/** A JSON Schema read as a Runlet type; `exact` when the type says everything the schema says. */
export interface Reading {
  readonly type: Type
  readonly exact: boolean
}

const MAX_REFERENCES = 8

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)

const annotations: ReadonlySet<string> = new Set(
  "title description default examples deprecated readOnly writeOnly $comment $schema $id $defs definitions format type".split(
    " ",
  ),
)

interface Reader {
  readonly root: JsonObject
  references: number
  exact: boolean
}

const knows = (reader: Reader, schema: JsonObject, ...keywords: ReadonlyArray<string>) => {
  for (const key of Object.keys(schema)) if (!annotations.has(key) && !keywords.includes(key)) reader.exact = false
}

const whole = (value: unknown): bigint | undefined =>
  typeof value === "bigint" ? value : typeof value === "number" && Number.isInteger(value) ? BigInt(value) : undefined

const double = (value: unknown): number | undefined => {
  if (typeof value === "bigint") return BigInt(Number(value)) === value ? Number(value) : undefined
  return typeof value === "number" ? value : undefined
}

const count = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined

const resolve = (reader: Reader, ref: string): unknown => {
  if (ref === "#") return reader.root
  if (!ref.startsWith("#/")) return undefined
  let at: unknown = reader.root
  for (const part of ref.slice(2).split("/")) {
    const key = decodeURIComponent(part).replace(/~1/g, "/").replace(/~0/g, "~")
    at = Array.isArray(at) ? at[Number(key)] : isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }
  return at
}

const unionOf = (reader: Reader, types: ReadonlyArray<Type>): Type => {
  const type = Types.union(...types)
  if (types.length === 0 || (type.kind === "any" && !types.some((each) => each.kind === "any"))) reader.exact = false
  return type
}

const unknown = (reader: Reader): Type => {
  reader.exact = false
  return Types.any
}

const ofKind = (reader: Reader, kind: string, schema: JsonObject): Type => {
  switch (kind) {
    case "null":
    case "boolean":
    case "bytes":
      knows(reader, schema)
      return { kind }
    case "integer": {
      knows(reader, schema, "minimum", "maximum")
      const min = whole(schema.minimum)
      const max = whole(schema.maximum)
      if ((schema.minimum !== undefined && min === undefined) || (schema.maximum !== undefined && max === undefined))
        reader.exact = false
      return { kind, ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) }
    }
    case "number": {
      knows(reader, schema, "minimum", "maximum")
      const min = double(schema.minimum)
      const max = double(schema.maximum)
      if ((schema.minimum !== undefined && min === undefined) || (schema.maximum !== undefined && max === undefined))
        reader.exact = false
      return { kind, ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) }
    }
    case "string": {
      knows(reader, schema, "minLength", "maxLength")
      const minLength = count(schema.minLength)
      const maxLength = count(schema.maxLength)
      return { kind, ...(minLength === undefined ? {} : { minLength }), ...(maxLength === undefined ? {} : { maxLength }) }
    }
    case "array": {
      knows(reader, schema, "items", "minItems", "maxItems")
      const items = schema.items === undefined ? Types.any : read(reader, schema.items)
      const minItems = count(schema.minItems)
      const maxItems = count(schema.maxItems)
      return {
        kind: "list",
        items,
        ...(minItems === undefined ? {} : { minItems }),
        ...(maxItems === undefined ? {} : { maxItems }),
      }
    }
    case "object": {
      knows(reader, schema, "properties", "required", "additionalProperties")
      const extra = schema.additionalProperties
      if (schema.properties === undefined && schema.required === undefined && isObject(extra))
        return Types.map(read(reader, extra))
      if (isObject(extra)) reader.exact = false
      const properties = new Map<string, Type>()
      if (isObject(schema.properties))
        for (const [key, value] of Object.entries(schema.properties)) properties.set(key, read(reader, value))
      const required = new Set(Array.isArray(schema.required) ? schema.required.filter((key) => typeof key === "string") : [])
      for (const key of required) if (!properties.has(key)) properties.set(key, Types.any)
      return { kind: "object", properties, required, open: extra !== false }
    }
    default:
      return unknown(reader)
  }
}

const read = (reader: Reader, schema: unknown): Type => {
  if (schema === true) return Types.any
  if (schema === false) return Types.never
  if (!isObject(schema)) return unknown(reader)
  if (typeof schema.$ref === "string") {
    knows(reader, schema, "$ref")
    if (reader.references >= MAX_REFERENCES) return unknown(reader)
    reader.references++
    const type = read(reader, resolve(reader, schema.$ref))
    reader.references--
    return type
  }
  if (schema.nullable === true) {
    const { nullable: _, ...rest } = schema
    return Types.union(read(reader, rest), Types.nothing)
  }
  if (Array.isArray(schema.enum) || schema.const !== undefined) {
    knows(reader, schema, "enum", "const")
    const values = Array.isArray(schema.enum) ? schema.enum : [schema.const]
    if (values.length > 0 && values.every((value) => typeof value === "string"))
      return { kind: "string", values: values as ReadonlyArray<string> }
    return unknown(reader)
  }
  const choices = schema.anyOf ?? schema.oneOf
  if (Array.isArray(choices)) {
    knows(reader, schema, "anyOf", "oneOf")
    if (schema.oneOf !== undefined) reader.exact = false
    if (schema.type !== undefined) return unknown(reader)
    return unionOf(
      reader,
      choices.map((choice) => read(reader, choice)),
    )
  }
  if (Array.isArray(schema.type))
    return unionOf(
      reader,
      schema.type.map((kind) => ofKind(reader, String(kind), schema)),
    )
  if (typeof schema.type === "string") return ofKind(reader, schema.type, schema)
  if (schema.type !== undefined) return unknown(reader)
  if (isObject(schema.properties)) return ofKind(reader, "object", schema)
  knows(reader, schema)
  return Types.any
}

/**
 * Reads a JSON Schema: `type` words with their bounds, lists, objects, maps (an object of nothing but a schema-valued
 * `additionalProperties`), unions, enums of strings, local references (inlined eight deep). What has no counterpart becomes Any and
 * `exact` is false: the schema itself has to be checked beside the type. So it is with what is no schema at all. Never throws.
 */
export const readSchema = (schema: JsonSchema): Reading => {
  if (typeof schema === "boolean") return { type: schema ? Types.any : Types.never, exact: true }
  const reader: Reader = { root: schema, references: 0, exact: true }
  try {
    const type = read(reader, schema)
    return { type, exact: reader.exact }
  } catch {
    return { type: Types.any, exact: false }
  }
}

const bounded = (entries: Record<string, JsonObject[string] | undefined>): JsonObject =>
  Object.fromEntries(Object.entries(entries).filter((entry): entry is [string, JsonObject[string]] => entry[1] !== undefined))

/** The JSON Schema of a type, the inverse of {@link readSchema} for exact readings. */
export const writeSchema = (type: Type): JsonSchema => {
  switch (type.kind) {
    case "any":
      return true
    case "never":
      return false
    case "integer":
      return bounded({
        type: "integer",
        minimum: type.min === undefined ? undefined : narrow(type.min),
        maximum: type.max === undefined ? undefined : narrow(type.max),
      })
    case "number":
      return bounded({ type: "number", minimum: type.min, maximum: type.max })
    case "string":
      return type.values === undefined
        ? bounded({ type: "string", minLength: type.minLength, maxLength: type.maxLength })
        : { type: "string", enum: type.values }
    case "list":
      return bounded({ type: "array", items: writeSchema(type.items), minItems: type.minItems, maxItems: type.maxItems })
    case "map":
      return { type: "object", additionalProperties: writeSchema(type.values) }
    case "object":
      return {
        type: "object",
        properties: Object.fromEntries([...type.properties].map(([key, value]) => [key, writeSchema(value)])),
        ...(type.required.size > 0 ? { required: [...type.required] } : {}),
        additionalProperties: type.open,
      }
    case "union":
      return { anyOf: type.variants.map(writeSchema) }
    default:
      return { type: type.kind }
  }
}
