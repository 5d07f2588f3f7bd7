import { Validator as Cfworker, format, type OutputUnit, type Schema, validate } from "@cfworker/json-schema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { InvalidSchema } from "./InvalidSchema.ts"
import { type Dialect, metaschema } from "./Metaschema.ts"
import type { Cost } from "./Pattern.ts"
import { type Regexp, GaveUp as SearchGaveUp } from "./Regexp.ts"
import { dialectOf, guard, resolve, safeFormats } from "./SchemaGuard.ts"

/** One way in which a value misses its schema. */
export interface Violation {
  /** JSON pointer into the value, `""` for the whole. */
  readonly path: string
  /** The keyword that failed; `limit` when the check was given up because value or schema ask for too much work. */
  readonly keyword: string
  readonly message: string
}

/** A schema ready to check values. */
export interface Validator {
  /** The schema as it was given. */
  readonly schema: unknown
  /** Keywords that look misspelt. */
  readonly warnings: ReadonlyArray<string>
  /** Empty when the value satisfies the schema. `format` is asserted, bigints count as numbers. Never throws, never hangs. */
  readonly check: (value: unknown) => ReadonlyArray<Violation>
}

/**
 * Bounds of one check: `$ref` steps (16 for each node of the value and `freeReferences` besides, never more than `references`), nesting
 * of the value, schema nodes times value nodes; under `uniqueItems` the items, and the items times the nodes in them; and the squared
 * lengths of the strings under `format`, added up.
 */
export const CheckLimits = {
  references: 200_000,
  freeReferences: 10_000,
  depth: 512,
  work: 50_000_000,
  uniqueItems: 4_096,
  uniqueWork: 16_777_216,
  formatWork: 4_294_967_296,
} as const

class GaveUp {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

interface Count {
  nodes: number
  /** Steps that matching property names may take. */
  keys: number
  readonly keyCost: Cost
  readonly unique: boolean
}

/** Copies a value with bigints as numbers, counting what checking it may cost. */
const plain = (value: unknown, depth: number, count: Count): unknown => {
  if (depth > CheckLimits.depth) throw new GaveUp(`value is nested deeper than ${CheckLimits.depth} levels`)
  count.nodes++
  if (typeof value === "bigint") return Number(value)
  if (typeof value !== "object" || value === null) {
    if (value === undefined || typeof value === "function" || typeof value === "symbol")
      throw new GaveUp(`value holds a ${typeof value}, which is not JSON`)
    if (typeof value === "number" && !Number.isFinite(value)) throw new GaveUp(`value holds ${value}, which is not JSON`)
    return value
  }
  if (Array.isArray(value)) {
    if (count.unique && value.length > CheckLimits.uniqueItems)
      throw new GaveUp(`\`uniqueItems\` is checked on lists of at most ${CheckLimits.uniqueItems} items`)
    const before = count.nodes
    const items = value.map((item) => plain(item, depth + 1, count))
    if (count.unique && items.length * (count.nodes - before) > CheckLimits.uniqueWork)
      throw new GaveUp("`uniqueItems` is not checked on lists this large")
    return items
  }
  const out: Record<string, unknown> = Object.create(null)
  const { branches, degree } = count.keyCost
  for (const [key, item] of Object.entries(value)) {
    count.keys += branches * (key.length + 1) ** degree
    out[key] = plain(item, depth + 1, count)
  }
  return out
}

/**
 * For the time of one check the validator knows patterns as formats, for it would run them on an engine that backtracks; and its own
 * formats, some of which take quadratic time, share a budget.
 */
const withFormats = <A>(patterns: ReadonlyMap<string, Regexp>, check: () => A): A => {
  const own = new Map<string, (text: string) => boolean>()
  let spent = 0
  for (const name of safeFormats) {
    const matches = format[name]
    if (matches === undefined) continue
    own.set(name, matches)
    format[name] = (text) => {
      spent += text.length ** 2
      if (spent > CheckLimits.formatWork) throw new GaveUp("value holds more text under `format` than a check may read")
      return matches(text)
    }
  }
  for (const [name, regexp] of patterns)
    format[name] = (text) => {
      const found = regexp.test(text)
      if (found instanceof SearchGaveUp) throw new GaveUp(found.message)
      return found
    }
  try {
    return check()
  } finally {
    for (const name of patterns.keys()) delete format[name]
    for (const [name, matches] of own) format[name] = matches
  }
}

const violation = (unit: OutputUnit): Violation => {
  const path = location(unit.instanceLocation)
  const pattern = unit.keyword === "format" ? /^String does not match format "pattern:(.*)"\.$/s.exec(unit.error)?.[1] : undefined
  return pattern === undefined
    ? { path, keyword: unit.keyword, message: unit.error }
    : { path, keyword: "pattern", message: `String does not match pattern \`${pattern}\`.` }
}

const metas: { [D in Dialect]?: Cfworker } = {}
const meta = (dialect: Dialect): Cfworker => (metas[dialect] ??= new Cfworker(metaschema[dialect], dialect, false))

const location = (instance: string) => {
  const pointer = instance.replace(/^#/, "")
  try {
    return decodeURIComponent(pointer)
  } catch {
    return pointer
  }
}

const budgeted = (lookup: Record<string, Schema | boolean>, nodes: number): Record<string, Schema | boolean> => {
  let left = Math.min(CheckLimits.references, CheckLimits.freeReferences + 16 * nodes)
  return new Proxy(lookup, {
    get: (target, key) => {
      if (left-- <= 0) throw new GaveUp("schema follows too many references for this value")
      return target[key as string]
    },
  })
}

/**
 * Checks a schema against its meta-schema at every depth and readies it: at most 64 levels and 256 kB, references within the document,
 * patterns with a bounded matching time. Draft 2020-12; `$schema` may name draft 7. Pure; never throws (S60).
 *
 * @example
 * const compiled = compileSchema({ type: "object", required: ["n"], properties: { n: { type: "integer" } } })
 * if (Result.isSuccess(compiled)) compiled.success.check({ n: 1.5 }) // [{ path: "/n", keyword: "type", ... }]
 */
export const compileSchema = (schema: unknown): Result.Result<Validator, InvalidSchema> =>
  Result.gen(function* () {
    const guarded = yield* guard(schema)
    const dialect = yield* dialectOf(schema)
    if (typeof guarded.schema !== "boolean") {
      const errors = meta(dialect).validate(guarded.schema).errors
      const worst = errors.reduce<(typeof errors)[number] | undefined>(
        (best, error) => (best === undefined || error.instanceLocation.length > best.instanceLocation.length ? error : best),
        undefined,
      )
      if (worst !== undefined)
        return yield* Result.fail(
          new InvalidSchema({
            reason: "not_a_schema",
            path: location(worst.instanceLocation),
            message: `not a JSON Schema: ${location(worst.instanceLocation) || "/"}: ${worst.error}`,
          }),
        )
    }
    const { schema: own, keyCost, lookup, nodes, patterns, unique, warnings } = yield* resolve(guarded)
    const check = (value: unknown): ReadonlyArray<Violation> => {
      try {
        const count: Count = { nodes: 0, keys: 0, keyCost, unique }
        const instance = plain(value, 0, count)
        if (count.nodes * nodes > CheckLimits.work || count.keys > CheckLimits.work)
          throw new GaveUp("value and schema are too large to be checked against each other")
        return withFormats(patterns, () => validate(instance, own, dialect, budgeted(lookup, count.nodes), true)).errors.map(
          violation,
        )
      } catch (cause) {
        const message = cause instanceof GaveUp ? cause.message : "value asks for more work than a check may do"
        return [{ path: "", keyword: "limit", message }]
      }
    }
    return { schema, warnings, check }
  })

/** What users of the service see; {@link compileSchema} as an effect. */
export interface Interface {
  readonly compile: (schema: unknown) => Effect.Effect<Validator, InvalidSchema>
}

/** Schemas from users and models, behind one service so that the validator can be exchanged. */
export class Service extends Context.Service<Service, Interface>()("@acp-kit/json-schema/JsonSchemas") {}

export const layer: Layer.Layer<Service> = Layer.succeed(Service, {
  compile: (schema) => Effect.fromResult(compileSchema(schema)),
})

export * as JsonSchemas from "./JsonSchemas.ts"
