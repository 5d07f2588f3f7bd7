import { format } from "@cfworker/json-schema"
import { type Exact, isMultiple, same, textOf } from "./Exact.ts"
import { GaveUp as SearchGaveUp } from "./Regexp.ts"
import { isSchema, type Resolved, type SchemaNode, safeFormats, targetOf } from "./SchemaGuard.ts"

/** One way in which a value misses its schema. */
export interface Violation {
  /** JSON pointer into the value, `""` for the whole. */
  readonly path: string
  /** The keyword that failed; `limit` when the check was given up because value or schema ask for too much work. */
  readonly keyword: string
  readonly message: string
}

/** A check was given up. */
export class GaveUp {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

/** Work of one check: `APPLICATION` for each schema applied to a value, one for each step of a pattern. */
const MAX_WORK = 20_000_000
const APPLICATION = 10
/** What a format may cost on a text of length n, some of which take quadratic time: `n ** 2 / FORMAT`. */
const FORMAT = 200
/** Violations kept of one place, what is in it included. */
const MAX_VIOLATIONS = 20
/** Characters of a schema's own values in a message. */
const SHOWN = 200

/** Where in the value a schema is applied; written out only when something is wrong there. */
interface Place {
  readonly up: Place | undefined
  readonly key: string | number
}

/** The properties or items that a schema has looked at, as `unevaluatedProperties` and `unevaluatedItems` ask. */
type Seen = Set<string | number>

type Violations = ReadonlyArray<Violation>
type Say = (keyword: string, message: string) => void
type JsonRecord = { readonly [key: string]: unknown }

const none: Violations = []

const append = (out: Array<Violation>, violations: Violations): void => {
  for (const each of violations) if (out.length < MAX_VIOLATIONS) out.push(each)
}

const pointerOf = (place: Place | undefined): string => {
  const parts: Array<string> = []
  for (let at = place; at !== undefined; at = at.up) parts.push(String(at.key).replace(/~/g, "~0").replace(/\//g, "~1"))
  return parts.length === 0 ? "" : `/${parts.reverse().join("/")}`
}

const kindOf = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  return typeof value === "bigint" ? "number" : typeof value
}

const isKind = (value: unknown, kind: string): boolean =>
  kind === "integer" ? typeof value === "bigint" || Number.isInteger(value) : kindOf(value) === kind

const texts = new WeakMap<object, string>()

/** A value of a schema as messages show it; large ones are written once. */
const shown = (value: unknown): string => {
  const known = typeof value === "object" && value !== null ? texts.get(value) : undefined
  if (known !== undefined) return known
  const whole = textOf(value)
  const text = whole.length > SHOWN ? `${whole.slice(0, SHOWN)}…` : whole
  if (typeof value === "object" && value !== null) texts.set(value, text)
  return text
}

/** The entries of a part of a schema whose keys the value has too. */
const common = <A>(part: { readonly [key: string]: A } | undefined, keys: ReadonlyArray<string>) => {
  const found: Array<readonly [key: string, applied: A]> = []
  if (part === undefined) return found
  for (const key of keys) {
    const applied = part[key]
    if (applied !== undefined) found.push([key, applied])
  }
  return found
}

const scalarLength = (text: string): number => {
  let length = text.length
  for (let at = 1; at < text.length; at++)
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) {
      length--
      at++
    }
  return length
}

/** One check of one value against one schema, numbers compared exactly. */
export class Evaluation {
  readonly #schema: Resolved
  #left = MAX_WORK

  constructor(schema: Resolved) {
    this.#schema = schema
  }

  /** What is wrong, the most specific last; throws {@link GaveUp}. Numbers of the value have to be exact. */
  check(value: unknown): Violations {
    return this.#apply(this.#schema.schema, value, undefined, undefined)
  }

  #spend(work: number): void {
    this.#left -= work
    if (this.#left < 0) throw new GaveUp("value and schema ask for more work than a check may do")
  }

  #matches(pattern: string, text: string): boolean {
    const found = this.#schema.patterns.get(pattern)!.test(text, (steps) => this.#spend(steps))
    if (found instanceof SearchGaveUp) throw new GaveUp(found.message)
    return found
  }

  #apply(schema: SchemaNode | boolean, value: unknown, place: Place | undefined, outer: Seen | undefined): Violations {
    if (schema === true) return none
    if (schema === false) return [{ path: pointerOf(place), keyword: "false", message: "False boolean schema." }]
    this.#spend(APPLICATION)
    const own: Seen | undefined = this.#schema.unevaluated ? new Set() : undefined
    const out: Array<Violation> = []
    const say: Say = (keyword, message) => {
      if (out.length >= MAX_VIOLATIONS) return
      const path = pointerOf(place)
      this.#spend(path.length)
      out.push({ path, keyword, message })
    }
    if (schema.$ref !== undefined) {
      append(out, this.#apply(targetOf(schema, this.#schema.lookup)!, value, place, own))
      if (this.#schema.dialect === "7") return out
    }
    if (schema.type !== undefined) {
      const kinds = Array.isArray(schema.type) ? schema.type : [schema.type]
      if (!kinds.some((kind) => isKind(value, kind)))
        say("type", `Instance type "${kindOf(value)}" is invalid. Expected "${kinds.join('", "')}".`)
    }
    if (schema.const !== undefined && !same(value, schema.const)) say("const", `Instance does not match ${shown(schema.const)}.`)
    this.#spend((schema.enum?.length ?? 0) + (schema.required?.length ?? 0))
    if (schema.enum !== undefined && !schema.enum.some((each) => same(value, each)))
      say("enum", `Instance does not match any of ${shown(schema.enum)}.`)
    this.#combine(schema, value, place, own, out, say)
    if (typeof value === "string") this.#text(schema, value, say)
    else if (typeof value === "number" || typeof value === "bigint") numeric(schema, value, say)
    else if (Array.isArray(value)) this.#list(schema, value, place, own, out, say)
    else if (typeof value === "object" && value !== null) this.#object(schema, value as JsonRecord, place, own, out, say)
    if (out.length === 0 && outer !== undefined && own !== undefined) for (const key of own) outer.add(key)
    return out
  }

  #combine(
    schema: SchemaNode,
    value: unknown,
    place: Place | undefined,
    own: Seen | undefined,
    out: Array<Violation>,
    say: Say,
  ): void {
    if (schema.not !== undefined && this.#apply(schema.not, value, place, undefined).length === 0)
      say("not", 'Instance matched "not" schema.')
    for (const each of schema.allOf ?? []) append(out, this.#apply(each, value, place, own))
    if (schema.anyOf !== undefined) {
      const results = schema.anyOf.map((each) => this.#apply(each, value, place, own))
      if (!results.some((result) => result.length === 0)) {
        say("anyOf", "Instance does not match any subschemas.")
        append(out, results.flat())
      }
    }
    if (schema.oneOf !== undefined) {
      const results = schema.oneOf.map((each) => this.#apply(each, value, place, own))
      const matching = results.filter((result) => result.length === 0).length
      if (matching !== 1) {
        say("oneOf", `Instance does not match exactly one subschema (${matching} matches).`)
        append(out, results.flat())
      }
    }
    if (schema.if !== undefined) {
      const branch = this.#apply(schema.if, value, place, own).length === 0 ? schema.then : schema.else
      if (branch !== undefined) append(out, this.#apply(branch, value, place, own))
    }
  }

  #text(schema: SchemaNode, value: string, say: Say): void {
    if (schema.minLength !== undefined || schema.maxLength !== undefined) {
      const length = scalarLength(value)
      if (schema.minLength !== undefined && length < schema.minLength)
        say("minLength", `String is too short (${length} < ${schema.minLength}).`)
      if (schema.maxLength !== undefined && length > schema.maxLength)
        say("maxLength", `String is too long (${length} > ${schema.maxLength}).`)
    }
    if (schema.pattern !== undefined && !this.#matches(schema.pattern, value))
      say("pattern", `String does not match pattern \`${schema.pattern}\`.`)
    if (schema.format === undefined || !safeFormats.has(schema.format)) return
    this.#spend(value.length ** 2 / FORMAT)
    if (format[schema.format]?.(value) === false) say("format", `String does not match format "${schema.format}".`)
  }

  /** Applies a schema to the items from `first` on, up to the first that misses it. */
  #items(
    schemaOf: (at: number) => SchemaNode | boolean,
    value: ReadonlyArray<unknown>,
    first: number,
    end: number,
    place: Place | undefined,
    own: Seen | undefined,
  ): Violations {
    for (let at = first; at < end; at++) {
      const violations = this.#apply(schemaOf(at), value[at], { up: place, key: at }, undefined)
      if (violations.length > 0) return violations
      own?.add(at)
    }
    return none
  }

  #list(
    schema: SchemaNode,
    value: ReadonlyArray<unknown>,
    place: Place | undefined,
    own: Seen | undefined,
    out: Array<Violation>,
    say: Say,
  ): void {
    const { length } = value
    if (schema.maxItems !== undefined && length > schema.maxItems)
      say("maxItems", `Array has too many items (${length} > ${schema.maxItems}).`)
    if (schema.minItems !== undefined && length < schema.minItems)
      say("minItems", `Array has too few items (${length} < ${schema.minItems}).`)
    const { items } = schema
    const tuple = items !== undefined && !isSchema(items)
    const first = schema.prefixItems ?? (tuple ? items : [])
    const rest = tuple ? schema.additionalItems : items
    const prefix = Math.min(first.length, length)
    append(
      out,
      this.#items((at) => first[at]!, value, 0, prefix, place, own),
    )
    if (rest !== undefined)
      append(
        out,
        this.#items(() => rest, value, prefix, length, place, own),
      )
    if (schema.contains !== undefined) {
      const found = value.map((item, at) => this.#apply(schema.contains!, item, { up: place, key: at }, undefined).length === 0)
      const matching = found.filter(Boolean).length
      for (const [at, matched] of found.entries()) if (matched) own?.add(at)
      const { maxContains, minContains = 1 } = schema
      if (matching < minContains)
        say("contains", `Array must contain at least ${minContains} items matching schema. Only ${matching} items were found.`)
      if (maxContains !== undefined && matching > maxContains)
        say("maxContains", `Array may contain at most ${maxContains} items matching schema. ${matching} items were found.`)
    }
    const { unevaluatedItems } = schema
    if (unevaluatedItems !== undefined)
      append(
        out,
        this.#items((at) => (own!.has(at) ? true : unevaluatedItems), value, 0, length, place, own),
      )
    if (schema.uniqueItems === true) this.#unique(value, say)
  }

  #unique(value: ReadonlyArray<unknown>, say: Say): void {
    const known = new Map<string, number>()
    for (const [at, item] of value.entries()) {
      const text = textOf(item)
      this.#spend(text.length)
      const before = known.get(text)
      if (before !== undefined) {
        say("uniqueItems", `Duplicate items at indexes ${before} and ${at}.`)
        return
      }
      known.set(text, at)
    }
  }

  #object(
    schema: SchemaNode,
    value: JsonRecord,
    place: Place | undefined,
    own: Seen | undefined,
    out: Array<Violation>,
    say: Say,
  ): void {
    const keys = Object.keys(value)
    this.#spend(keys.length)
    const has = (key: string) => Object.hasOwn(value, key)
    const lacking = (keyword: string, because: string, required: ReadonlyArray<string>) => {
      for (const key of required) if (!has(key)) say(keyword, `Instance ${because} "${key}".`)
    }
    lacking("required", "does not have required property", schema.required ?? [])
    if (schema.minProperties !== undefined && keys.length < schema.minProperties)
      say("minProperties", `Instance does not have at least ${schema.minProperties} properties.`)
    if (schema.maxProperties !== undefined && keys.length > schema.maxProperties)
      say("maxProperties", `Instance has more than ${schema.maxProperties} properties.`)
    for (const [key, required] of common(schema.dependentRequired, keys)) {
      this.#spend(required.length)
      lacking("dependentRequired", `has "${key}" but does not have`, required)
    }
    for (const [key, dependent] of [...common(schema.dependencies, keys), ...common(schema.dependentSchemas, keys)]) {
      if (isSchema(dependent)) append(out, this.#apply(dependent, value, place, own))
      else lacking("dependencies", `has "${key}" but does not have`, dependent)
    }
    if (schema.propertyNames !== undefined)
      for (const key of keys) append(out, this.#apply(schema.propertyNames, key, { up: place, key }, undefined))

    const property = (key: string, applied: SchemaNode | boolean, keyword: string) => {
      const violations = this.#apply(applied, value[key], { up: place, key }, undefined)
      if (applied === false) say(keyword, `Property "${key}" is not allowed.`)
      else append(out, violations)
      own?.add(key)
    }
    const known = new Set<string>()
    for (const [key, applied] of common(schema.properties, keys)) {
      known.add(key)
      property(key, applied, "properties")
    }
    for (const [pattern, applied] of Object.entries(schema.patternProperties ?? {}))
      for (const key of keys) {
        this.#spend(APPLICATION)
        if (!this.#matches(pattern, key)) continue
        known.add(key)
        property(key, applied, "patternProperties")
      }
    if (schema.additionalProperties !== undefined)
      for (const key of keys) if (!known.has(key)) property(key, schema.additionalProperties, "additionalProperties")
    if (schema.unevaluatedProperties !== undefined)
      for (const key of keys) if (!own!.has(key)) property(key, schema.unevaluatedProperties, "unevaluatedProperties")
  }
}

const numeric = (schema: SchemaNode, value: Exact, say: Say): void => {
  const { exclusiveMaximum, exclusiveMinimum, maximum, minimum, multipleOf } = schema
  if (minimum !== undefined && value < minimum) say("minimum", `${value} is less than ${minimum}.`)
  if (maximum !== undefined && value > maximum) say("maximum", `${value} is greater than ${maximum}.`)
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    say("exclusiveMinimum", `${value} is not greater than ${exclusiveMinimum}.`)
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    say("exclusiveMaximum", `${value} is not less than ${exclusiveMaximum}.`)
  if (multipleOf !== undefined && !isMultiple(value, multipleOf))
    say("multipleOf", `${value} is not a multiple of ${multipleOf}.`)
}
