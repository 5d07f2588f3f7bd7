import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { Evaluation, GaveUp, type Violation } from "./Evaluation.ts"
import { exact, MAX_INTEGER } from "./Exact.ts"
import { InvalidSchema } from "./InvalidSchema.ts"
import { type Dialect, metaschema } from "./Metaschema.ts"
import { dialectOf, guard, type Resolved, resolve } from "./SchemaGuard.ts"

export type { Violation } from "./Evaluation.ts"

/** A schema ready to check values. */
export interface Validator {
  /** The schema as it was given. */
  readonly schema: unknown
  /** Keywords that look misspelt. */
  readonly warnings: ReadonlyArray<string>
  /**
   * Empty when the value satisfies the schema. `format` is asserted; numbers are compared exactly, bigints and doubles alike, and an
   * integer may have 1,233 digits. At most twenty violations, the most specific last. Never throws, never hangs.
   */
  readonly check: (value: unknown) => ReadonlyArray<Violation>
}

/** Nesting of a value that is checked. */
const MAX_DEPTH = 512

/** A copy of a JSON value whose numbers are exact. */
const plain = (value: unknown, depth: number): unknown => {
  if (depth > MAX_DEPTH) throw new GaveUp(`value is nested deeper than ${MAX_DEPTH} levels`)
  switch (typeof value) {
    case "number":
      if (!Number.isFinite(value)) throw new GaveUp(`value holds ${value}, which is not JSON`)
      return exact(value)
    case "bigint":
      if (value > MAX_INTEGER || value < -MAX_INTEGER) throw new GaveUp("value holds an integer with more digits than are read")
      return exact(value)
    case "string":
    case "boolean":
      return value
    case "object":
      break
    default:
      throw new GaveUp(`value holds a ${typeof value}, which is not JSON`)
  }
  if (value === null) return null
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1))
  const out: Record<string, unknown> = Object.create(null)
  for (const [key, item] of Object.entries(value)) out[key] = plain(item, depth + 1)
  return out
}

const checked = (schema: Resolved, value: unknown): ReadonlyArray<Violation> => {
  try {
    return new Evaluation(schema).check(plain(value, 0))
  } catch (cause) {
    const message = cause instanceof GaveUp ? cause.message : "value asks for more work than a check may do"
    return [{ path: "", keyword: "limit", message }]
  }
}

const metas: { [D in Dialect]?: Resolved } = {}
const meta = (dialect: Dialect): Resolved =>
  (metas[dialect] ??= Result.getOrThrow(Result.flatMap(guard(metaschema[dialect]), (schema) => resolve(schema, dialect))))

/** The deepest thing that the meta-schema finds wrong. */
const mistake = (schema: unknown, dialect: Dialect): Violation | undefined =>
  checked(meta(dialect), schema).reduce<Violation | undefined>(
    (best, each) => (best === undefined || each.path.length > best.path.length ? each : best),
    undefined,
  )

/**
 * Checks a schema against its meta-schema at every depth and readies it: at most 64 levels and 256 kB, references within the document,
 * patterns that match in linear time. Draft 2020-12; `$schema` may name draft 7. Pure; never throws (S60).
 *
 * @example
 * const compiled = compileSchema({ type: "object", required: ["n"], properties: { n: { type: "integer" } } })
 * if (Result.isSuccess(compiled)) compiled.success.check({ n: 1.5 }) // [{ path: "/n", keyword: "type", ... }]
 */
export const compileSchema = (schema: unknown): Result.Result<Validator, InvalidSchema> =>
  Result.gen(function* () {
    const guarded = yield* guard(schema)
    const dialect = yield* dialectOf(schema)
    const found = typeof guarded === "boolean" ? undefined : mistake(guarded, dialect)
    if (found !== undefined) {
      const message = `not a JSON Schema: ${found.path || "/"}: ${found.message}`
      return yield* Result.fail(new InvalidSchema({ reason: "not_a_schema", path: found.path, message }))
    }
    const resolved = yield* resolve(guarded, dialect)
    return { schema, warnings: resolved.warnings, check: (value: unknown) => checked(resolved, value) }
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
