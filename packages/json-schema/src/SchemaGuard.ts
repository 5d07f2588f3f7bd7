import { dereference } from "@cfworker/json-schema"
import * as Result from "effect/Result"
import { type Exact, exact, MAX_INTEGER } from "./Exact.ts"
import { InvalidSchema, type InvalidSchemaReason } from "./InvalidSchema.ts"
import { type Dialect, keywords } from "./Metaschema.ts"
import * as Pattern from "./Pattern.ts"
import type { Regexp } from "./Regexp.ts"

/** Bounds of a schema: nesting of its JSON, and length of its compact JSON in UTF-16 units. */
export const SchemaLimits = { depth: 64, size: 256 * 1024 } as const

/** A schema object as an own copy: null-prototype objects whose numbers are exact. Types hold once the meta-schema has accepted it. */
export interface SchemaNode {
  readonly $schema?: string
  readonly $ref?: string
  readonly __absolute_ref__?: string
  readonly type?: string | ReadonlyArray<string>
  readonly const?: unknown
  readonly enum?: ReadonlyArray<unknown>
  readonly not?: SchemaNode | boolean
  readonly allOf?: ReadonlyArray<SchemaNode | boolean>
  readonly anyOf?: ReadonlyArray<SchemaNode | boolean>
  readonly oneOf?: ReadonlyArray<SchemaNode | boolean>
  readonly if?: SchemaNode | boolean
  readonly then?: SchemaNode | boolean
  readonly else?: SchemaNode | boolean
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: Exact
  readonly maxLength?: Exact
  readonly minimum?: Exact
  readonly maximum?: Exact
  readonly exclusiveMinimum?: Exact
  readonly exclusiveMaximum?: Exact
  readonly multipleOf?: Exact
  readonly required?: ReadonlyArray<string>
  readonly properties?: { readonly [key: string]: SchemaNode | boolean }
  readonly patternProperties?: { readonly [pattern: string]: SchemaNode | boolean }
  readonly additionalProperties?: SchemaNode | boolean
  readonly unevaluatedProperties?: SchemaNode | boolean
  readonly propertyNames?: SchemaNode | boolean
  readonly minProperties?: Exact
  readonly maxProperties?: Exact
  readonly dependentRequired?: { readonly [key: string]: ReadonlyArray<string> }
  readonly dependentSchemas?: { readonly [key: string]: SchemaNode | boolean }
  readonly dependencies?: { readonly [key: string]: SchemaNode | boolean | ReadonlyArray<string> }
  readonly prefixItems?: ReadonlyArray<SchemaNode | boolean>
  readonly items?: SchemaNode | boolean | ReadonlyArray<SchemaNode | boolean>
  readonly additionalItems?: SchemaNode | boolean
  readonly unevaluatedItems?: SchemaNode | boolean
  readonly contains?: SchemaNode | boolean
  readonly minContains?: Exact
  readonly maxContains?: Exact
  readonly minItems?: Exact
  readonly maxItems?: Exact
  readonly uniqueItems?: boolean
  readonly [key: string]: unknown
}

/** Schemas by what a `$ref` to them resolves to. */
type Lookup = { readonly [uri: string]: SchemaNode | boolean }

/** A schema ready to be applied. */
export interface Resolved {
  readonly schema: SchemaNode | boolean
  readonly dialect: Dialect
  readonly lookup: Lookup
  /** Each `pattern` and each key of `patternProperties`. */
  readonly patterns: ReadonlyMap<string, Regexp>
  /** Some part asks which properties or items others have looked at. */
  readonly unevaluated: boolean
  /** Keywords that look misspelt. */
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
const copy = (value: unknown, path: string, depth: number, count: { size: number }): unknown => {
  if (depth > SchemaLimits.depth) throw new Refusal("too_deep", path, `schema is nested deeper than ${SchemaLimits.depth} levels`)
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
      if (value > MAX_INTEGER || value < -MAX_INTEGER)
        throw new Refusal("too_large", path, "schema holds an integer with more digits than are read")
      count.size += String(value).length
      break
    case "object":
      break
    default:
      throw new Refusal("not_a_schema", path, `schema holds a ${typeof value}, which is not JSON`)
  }
  if (count.size > SchemaLimits.size) throw new Refusal("too_large", "", `schema is larger than ${SchemaLimits.size / 1024} kB`)
  if (typeof value === "bigint" || typeof value === "number") return exact(value)
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

/** The formats of the standard; what the validator knows besides is left out, for it may take exponential time. */
export const safeFormats: ReadonlySet<string> = new Set(
  "date time date-time duration uri uri-reference uri-template email hostname ipv4 ipv6 regex uuid json-pointer relative-json-pointer".split(
    " ",
  ),
)

const isNode = (value: unknown): value is SchemaNode => typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether what stands where a schema or a list may stand is a schema. */
export const isSchema = <A>(value: A): value is A & (SchemaNode | boolean) => typeof value === "boolean" || isNode(value)

const children = function* (schema: SchemaNode): Generator<readonly [path: string, schema: unknown]> {
  for (const key of childMaps) {
    const map = schema[key]
    if (isNode(map)) for (const name of Object.keys(map)) yield [`${pointer("", key)}${pointer("", name)}`, map[name]]
  }
  for (const key of childSchemas) if (isNode(schema[key])) yield [pointer("", key), schema[key]]
  for (const key of childLists) {
    const list: unknown = schema[key]
    if (Array.isArray(list)) for (const [index, item] of list.entries()) yield [`${pointer("", key)}/${index}`, item]
  }
}

/** What a `$ref` leads to. */
export const targetOf = (schema: SchemaNode, lookup: Lookup) => lookup[schema.__absolute_ref__ ?? schema.$ref ?? ""]

const steps = function* (schema: SchemaNode, lookup: Lookup): Generator<unknown> {
  if (typeof schema.$ref === "string") yield targetOf(schema, lookup)
  for (const key of inPlace) if (Array.isArray(schema[key])) yield* schema[key]
  for (const key of inPlaceSingle) yield schema[key]
  for (const key of ["dependentSchemas", "dependencies"] as const) {
    const map = schema[key]
    if (isNode(map)) yield* Object.values(map)
  }
}

const visit = (root: SchemaNode, lookup: Lookup, onSchema: (schema: SchemaNode, path: string) => void): void => {
  const seen = new Set<SchemaNode>()
  const walk = (value: unknown, path: string): void => {
    if (!isNode(value) || seen.has(value)) return
    seen.add(value)
    onSchema(value, path)
    for (const [step, child] of children(value)) walk(child, path + step)
    if (typeof value.$ref === "string") walk(targetOf(value, lookup), path)
  }
  walk(root, "")
}

const refuseCycles = (root: SchemaNode, lookup: Lookup): void => {
  const state = new Map<SchemaNode, "open" | "done">()
  const enter = (schema: SchemaNode, path: string): void => {
    state.set(schema, "open")
    for (const next of steps(schema, lookup)) {
      if (!isNode(next)) continue
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
  const named = isNode(schema) ? schema.$schema : undefined
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

/** A copy of a schema within {@link SchemaLimits}, before anything is validated with it. Never throws. */
export const guard = (input: unknown): Result.Result<SchemaNode | boolean, InvalidSchema> => {
  if (typeof input === "boolean") return Result.succeed(input)
  try {
    if (!isNode(input)) throw new Refusal("not_a_schema", "", "a JSON Schema is an object or a boolean")
    return Result.succeed(copy(input, "", 0, { size: 0 }) as SchemaNode)
  } catch (cause) {
    return Result.fail(refusal(cause))
  }
}

const refuseReferences = (node: SchemaNode, path: string, lookup: Lookup): void => {
  if (typeof node.$ref === "string" && targetOf(node, lookup) === undefined) {
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
}

/** References and patterns of a copy that the meta-schema has accepted. */
export const resolve = (schema: SchemaNode | boolean, dialect: Dialect): Result.Result<Resolved, InvalidSchema> => {
  const patterns = new Map<string, Regexp>()
  const warnings: Array<string> = []
  if (typeof schema === "boolean")
    return Result.succeed({ schema, dialect, lookup: Object.create(null), patterns, warnings, unevaluated: false })
  try {
    const lookup = dereference(schema as never) as Lookup
    let unevaluated = false
    const pattern = (source: string, path: string): void => {
      const compiled = patterns.get(source) ?? Pattern.compile(source)
      if (typeof compiled === "string") throw new Refusal("pattern", path, compiled)
      patterns.set(source, compiled)
    }
    visit(schema, lookup, (node, path) => {
      refuseReferences(node, path, lookup)
      for (const key of isNode(node.patternProperties) ? Object.keys(node.patternProperties) : [])
        pattern(key, pointer(path, "patternProperties"))
      if (typeof node.pattern === "string") pattern(node.pattern, pointer(path, "pattern"))
      if (node.unevaluatedProperties !== undefined || node.unevaluatedItems !== undefined) unevaluated = true
      for (const key of Object.keys(node)) {
        if (keywords.has(key)) continue
        const suggestion = nearest(key)
        if (suggestion !== undefined)
          warnings.push(`unknown keyword \`${key}\` at \`${path || "/"}\`; did you mean \`${suggestion}\`?`)
      }
    })
    refuseCycles(schema, lookup)
    return Result.succeed({ schema, dialect, lookup, patterns, warnings, unevaluated })
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
