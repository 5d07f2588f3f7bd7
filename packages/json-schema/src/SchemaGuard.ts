import { dereference, type Schema } from "@cfworker/json-schema"
import * as Result from "effect/Result"
import { InvalidSchema, type InvalidSchemaReason } from "./InvalidSchema.ts"
import { type Dialect, keywords } from "./Metaschema.ts"
import * as Pattern from "./Pattern.ts"
import type { Regexp } from "./Regexp.ts"

/** Bounds of a schema: nesting of its JSON, and length of its compact JSON in UTF-16 units. */
export const SchemaLimits = { depth: 64, size: 256 * 1024 } as const

/** A schema that passed every check short of the meta-schema, as an own copy. */
export interface Guarded {
  readonly schema: Schema | boolean
  readonly lookup: Record<string, Schema | boolean>
  readonly nodes: number
  readonly unique: boolean
  /** The `pattern`s of the schema, which stand in it as formats of these names. */
  readonly patterns: ReadonlyMap<string, Regexp>
  /** The dearest key of `patternProperties`. */
  readonly keyCost: Pattern.Cost
  readonly warnings: ReadonlyArray<string>
}

class Refusal {
  readonly reason: InvalidSchemaReason
  readonly path: string
  readonly message: string
  constructor(reason: InvalidSchemaReason, path: string, message: string) {
    this.reason = reason
    this.path = path
    this.message = message
  }
}

const pointer = (path: string, key: string | number) => `${path}/${String(key).replace(/~/g, "~0").replace(/\//g, "~1")}`

/** Copies JSON into null-prototype objects, counting as it goes; refuses what is not JSON. */
const copy = (value: unknown, path: string, depth: number, count: { nodes: number; size: number }): unknown => {
  if (depth > SchemaLimits.depth) throw new Refusal("too_deep", path, `schema is nested deeper than ${SchemaLimits.depth} levels`)
  count.nodes++
  switch (typeof value) {
    case "string":
      count.size += value.length + 2
      break
    case "boolean":
      count.size += 5
      break
    case "number":
    case "bigint":
      if (typeof value === "number" && !Number.isFinite(value))
        throw new Refusal("not_a_schema", path, "schema holds a number that JSON has not")
      count.size += String(value).length
      break
    case "object":
      break
    default:
      throw new Refusal("not_a_schema", path, `schema holds a ${typeof value}, which is not JSON`)
  }
  if (count.size > SchemaLimits.size) throw new Refusal("too_large", "", `schema is larger than ${SchemaLimits.size / 1024} kB`)
  if (typeof value === "bigint") return Number(value)
  if (value === null || typeof value !== "object") return value
  count.size += 2
  if (Array.isArray(value)) return value.map((item, index) => copy(item, pointer(path, index), depth + 1, count))
  const out: Record<string, unknown> = Object.create(null)
  for (const [key, item] of Object.entries(value)) {
    count.size += key.length + 4
    out[key] = copy(item, pointer(path, key), depth + 1, count)
  }
  return out
}

const inPlace = ["allOf", "anyOf", "oneOf"] as const
const inPlaceSingle = ["not", "if", "then", "else"] as const
const childMaps = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"] as const
const childSchemas = [
  ...inPlaceSingle,
  "items",
  "additionalItems",
  "contains",
  "additionalProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "propertyNames",
  "contentSchema",
] as const
const childLists = [...inPlace, "prefixItems", "items"] as const

/** The name under which a `pattern` is known to the validator while it runs. */
export const patternFormat = (pattern: string): string => `pattern:${pattern}`

/** The formats of the standard; what the validator knows besides is left out, for it may take exponential time. */
export const safeFormats: ReadonlySet<string> = new Set(
  "date time date-time duration uri uri-reference uri-template email hostname ipv4 ipv6 regex uuid json-pointer relative-json-pointer".split(
    " ",
  ),
)

const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null && !Array.isArray(value)

const children = function* (schema: Schema): Generator<readonly [path: string, schema: unknown]> {
  for (const key of childMaps) {
    const map = schema[key]
    if (isSchema(map)) for (const name of Object.keys(map)) yield [`${pointer("", key)}${pointer("", name)}`, map[name]]
  }
  for (const key of childSchemas) if (isSchema(schema[key])) yield [pointer("", key), schema[key]]
  for (const key of childLists) {
    const list: unknown = schema[key]
    if (Array.isArray(list)) for (const [index, item] of list.entries()) yield [`${pointer("", key)}/${index}`, item]
  }
}

const target = (schema: Schema, lookup: Guarded["lookup"]) => lookup[schema.__absolute_ref__ ?? schema.$ref ?? ""]

const steps = function* (schema: Schema, lookup: Guarded["lookup"]): Generator<unknown> {
  if (typeof schema.$ref === "string") yield target(schema, lookup)
  for (const key of inPlace) if (Array.isArray(schema[key])) yield* schema[key]
  for (const key of inPlaceSingle) yield schema[key]
  for (const key of ["dependentSchemas", "dependencies"] as const) {
    const map = schema[key]
    if (isSchema(map)) yield* Object.values(map)
  }
}

const visit = (root: Schema, lookup: Guarded["lookup"], onSchema: (schema: Schema, path: string) => void): void => {
  const seen = new Set<Schema>()
  const walk = (value: unknown, path: string): void => {
    if (!isSchema(value) || seen.has(value)) return
    seen.add(value)
    onSchema(value, path)
    for (const [step, child] of children(value)) walk(child, path + step)
    if (typeof value.$ref === "string") walk(target(value, lookup), path)
  }
  walk(root, "")
}

const refuseCycles = (root: Schema, lookup: Guarded["lookup"]): void => {
  const state = new Map<Schema, "open" | "done">()
  const enter = (schema: Schema, path: string): void => {
    state.set(schema, "open")
    for (const next of steps(schema, lookup)) {
      if (!isSchema(next)) continue
      const known = state.get(next)
      if (known === "open") throw new Refusal("cyclic_ref", path, `\`$ref\` reaches itself without descending into the value`)
      if (known === undefined) enter(next, path)
    }
    state.set(schema, "done")
  }
  visit(root, lookup, (schema, path) => {
    if (!state.has(schema)) enter(schema, path)
  })
}

const nearest = (word: string): string | undefined => {
  const lower = word.toLowerCase()
  for (const keyword of keywords) {
    if (keyword.toLowerCase() === lower) return keyword
    if (Math.abs(keyword.length - word.length) <= 1 && word.length > 3) {
      let start = 0
      while (start < word.length && keyword[start] === word[start]) start++
      let end = 0
      while (end < word.length - start && keyword[keyword.length - 1 - end] === word[word.length - 1 - end]) end++
      if (word.length - start - end <= 1 && keyword.length - start - end <= 1) return keyword
      const swapped = word.slice(0, start) + (word[start + 1] ?? "") + (word[start] ?? "") + word.slice(start + 2)
      if (swapped === keyword) return keyword
    }
  }
  return undefined
}

/** The dialect that `$schema` names; draft 2019-09 is read as 2020-12, which it differs from only in array forms. */
export const dialectOf = (schema: unknown): Result.Result<Dialect, InvalidSchema> => {
  const named = isSchema(schema) ? schema.$schema : undefined
  if (typeof named !== "string") return Result.succeed("2020-12")
  const uri = named.replace(/#$/, "").replace(/^http:/, "https:")
  if (uri === "https://json-schema.org/draft/2020-12/schema" || uri === "https://json-schema.org/draft/2019-09/schema")
    return Result.succeed("2020-12")
  if (uri === "https://json-schema.org/draft-07/schema" || uri === "https://json-schema.org/draft-06/schema")
    return Result.succeed("7")
  return Result.fail(
    new InvalidSchema({ reason: "dialect", path: "/$schema", message: `unknown JSON Schema dialect \`${named}\`` }),
  )
}

const nothingSpecial = { unique: false, patterns: new Map<string, Regexp>(), keyCost: { branches: 1, degree: 0 }, warnings: [] }

/** Size, depth, references and patterns of a schema, before anything is validated with it. Never throws. */
export const guard = (input: unknown): Result.Result<Guarded, InvalidSchema> => {
  if (typeof input === "boolean")
    return Result.succeed({ schema: input, lookup: Object.create(null), nodes: 1, ...nothingSpecial })
  try {
    if (!isSchema(input)) throw new Refusal("not_a_schema", "", "a JSON Schema is an object or a boolean")
    const count = { nodes: 0, size: 0 }
    const schema = copy(input, "", 0, count) as Schema
    return Result.succeed({ schema, lookup: Object.create(null), nodes: count.nodes, ...nothingSpecial })
  } catch (cause) {
    return Result.fail(refusal(cause))
  }
}

/** References and patterns of a copy that the meta-schema has accepted. */
export const resolve = (guarded: Guarded): Result.Result<Guarded, InvalidSchema> => {
  const { schema } = guarded
  if (typeof schema === "boolean") return Result.succeed(guarded)
  try {
    const lookup = dereference(schema)
    const warnings: Array<string> = []
    const patterns = new Map<string, Regexp>()
    let keyCost: Pattern.Cost = { branches: 0, degree: 0 }
    let unique = false
    visit(schema, lookup, (node, path) => {
      if (typeof node.$ref === "string" && target(node, lookup) === undefined) {
        const remote = /^[a-z][a-z0-9+.-]*:/i.test(node.$ref)
        throw new Refusal(
          remote ? "remote_ref" : "unresolved_ref",
          pointer(path, "$ref"),
          remote
            ? `\`$ref\` to \`${node.$ref}\` leaves the document; put the schema under \`$defs\``
            : `\`$ref\` to \`${node.$ref}\` leads nowhere`,
        )
      }
      for (const key of ["$dynamicRef", "$recursiveRef"])
        if (node[key] !== undefined)
          throw new Refusal("unresolved_ref", pointer(path, key), `\`${key}\` is not supported; use \`$ref\``)
      for (const key of isSchema(node.patternProperties) ? Object.keys(node.patternProperties) : []) {
        const cost = Pattern.backtracking(key)
        if (typeof cost === "string") throw new Refusal("pattern", pointer(path, "patternProperties"), cost)
        keyCost = { branches: keyCost.branches + cost.branches, degree: Math.max(keyCost.degree, cost.degree) }
      }
      if (typeof node.pattern === "string") {
        const compiled = patterns.get(patternFormat(node.pattern)) ?? Pattern.compile(node.pattern)
        if (typeof compiled === "string") throw new Refusal("pattern", pointer(path, "pattern"), compiled)
        patterns.set(patternFormat(node.pattern), compiled)
        node.allOf = [...(node.allOf ?? []), { format: patternFormat(node.pattern) }]
        delete node.pattern
      }
      if (!safeFormats.has(String(node.format)) && !patterns.has(String(node.format))) delete node.format
      if (node.uniqueItems === true) unique = true
      for (const key of Object.keys(node)) {
        if (keywords.has(key)) continue
        const suggestion = nearest(key)
        if (suggestion !== undefined)
          warnings.push(`unknown keyword \`${key}\` at \`${path || "/"}\`; did you mean \`${suggestion}\`?`)
      }
    })
    refuseCycles(schema, lookup)
    return Result.succeed({ ...guarded, lookup, unique, patterns, keyCost, warnings })
  } catch (cause) {
    return Result.fail(refusal(cause))
  }
}

const refusal = (cause: unknown): InvalidSchema =>
  cause instanceof Refusal
    ? new InvalidSchema({ reason: cause.reason, path: cause.path, message: cause.message })
    : new InvalidSchema({
        reason: "unresolved_ref",
        path: "",
        message: cause instanceof Error ? cause.message : "schema cannot be resolved",
      })
