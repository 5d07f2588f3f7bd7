import { Validator as Reference, type Schema } from "@cfworker/json-schema"
import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { compileSchema } from "../src/JsonSchemas.ts"
import { compileRegexp, GaveUp, PatternError } from "../src/Regexp.ts"

const CASES = process.env.KIT_TEST_LONG === "1" ? 10_000 : 1_500

/** The same numbers from the same seed. */
const dice = (seed: number) => {
  let state = (seed * 2_654_435_761 + 7) >>> 0
  const below = (bound: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) % bound
  }
  return { below, pick: <A>(from: ReadonlyArray<A>) => from[below(from.length)]! }
}

type Dice = ReturnType<typeof dice>

const atoms = [
  "a",
  "b",
  "c",
  ".",
  "[ab]",
  "[^a]",
  "\\w",
  "\\d",
  "\\s",
  "[a-c]",
  "\\b",
  "^",
  "$",
  "é",
  "😀",
  "\\u{61}",
  "[\\w-]",
  "-",
  "\\B",
  "[^]",
]

/** Repeating what may be empty is where engines differ: ECMAScript alone refuses an empty round. */
const maybeEmpty = (atom: string) =>
  atom.startsWith("(") && emptyOn.some((each) => new RegExp(`(?:${atom})`, "uy").exec(each)?.[0] === "")

const emptyOn = ["", "a", "b", "1", " ", "-", "é", "\n"]

const pattern = (random: Dice, depth: number, look: boolean): string => {
  const parts = Array.from({ length: 1 + random.below(3) }, () => {
    const atom =
      depth > 0 && random.below(3) === 0
        ? `(${random.pick(look ? ["", "?:", "?=", "?!", "?<=", "?<!"] : ["", "?:"])}${pattern(random, depth - 1, look)})`
        : random.pick(atoms)
    const bare = /^(?:\\[bB]|[\^$]|\(\?<?[=!])/.test(atom) || maybeEmpty(atom)
    return bare ? atom : atom + random.pick(["", "", "", "*", "+", "?", "*?", "+?", "{2}", "{1,2}", "??"])
  })
  const sequence = parts.join("")
  return random.below(4) === 0 ? `${sequence}|${random.pick(atoms)}` : sequence
}

/** V8 finds `\B` inside a character beyond the basic plane; there these are left out. */
const wholePairs = /(?:\Bé?)|$/u.exec("b😀😀")?.index !== 2
const asNative = (subject: string) => (wholePairs ? subject : subject.replaceAll("😀", "é"))

const text = (random: Dice) =>
  Array.from({ length: random.below(8) }, () => random.pick(["a", "b", "c", "1", " ", "-", "é", "😀", "\n"])).join("")

describe("the engine against the runtime's own, on patterns both take", () => {
  it("finds the same first match", () => {
    let compared = 0
    for (let seed = 0; seed < CASES; seed++) {
      const random = dice(seed)
      const source = pattern(random, 2, false)
      const own = compileRegexp(source, "ecma")
      if (own instanceof PatternError) throw new Error(`${source}: ${own.message}`)
      const native = new RegExp(source, "u")
      for (let count = 0; count < 4; count++) {
        const subject = asNative(text(random))
        const found = own.first(subject)
        if (found instanceof GaveUp) throw found
        const expected = native.exec(subject)
        expect(found === undefined ? null : [found.start, found.text], `/${source}/ on ${JSON.stringify(subject)}`).toEqual(
          expected === null ? null : [expected.index, expected[0]],
        )
        compared++
      }
    }
    expect(compared).toBe(CASES * 4)
  })

  it("agrees with it on whether anything matches, look-around included", () => {
    for (let seed = 0; seed < CASES; seed++) {
      const random = dice(seed + 1_000_000)
      const source = pattern(random, 2, true)
      const own = compileRegexp(source, "ecma")
      if (own instanceof PatternError) throw new Error(`${source}: ${own.message}`)
      const native = new RegExp(source, "u")
      for (let count = 0; count < 4; count++) {
        const subject = asNative(text(random))
        expect(own.test(subject), `/${source}/ on ${JSON.stringify(subject)}`).toBe(native.test(subject))
      }
    }
  })
})

const keywords =
  "type enum const properties required items prefixItems anyOf allOf oneOf not if then else pattern format minimum maxLength uniqueItems additionalProperties patternProperties propertyNames contains $ref $defs $id $anchor dependentSchemas unevaluatedProperties minItems x".split(
    " ",
  )

const json = (random: Dice, depth: number): unknown => {
  const roll = random.below(depth > 0 ? 10 : 6)
  if (roll < 6)
    return random.pick([
      null,
      true,
      false,
      0,
      1.5,
      -1,
      "string",
      "integer",
      "object",
      "#",
      "#/$defs/a",
      "#a",
      "^a+$",
      "(",
      "date",
      "https://x.org/y",
      9007199254740993n,
    ])
  if (roll === 6) return Array.from({ length: random.below(4) }, () => json(random, depth - 1))
  return Object.fromEntries(
    Array.from({ length: random.below(5) }, () => [
      random.pick(roll === 7 ? ["a", "b", "__proto__", "constructor"] : keywords),
      json(random, depth - 1),
    ]),
  )
}

it("no schema and no value makes compiling or checking throw", () => {
  let accepted = 0
  for (let seed = 0; seed < CASES * 4; seed++) {
    const random = dice(seed)
    const compiled = compileSchema(json(random, 4))
    if (Result.isFailure(compiled)) {
      expect(compiled.failure.message.length).toBeGreaterThan(0)
      continue
    }
    accepted++
    for (let count = 0; count < 3; count++)
      for (const violation of compiled.success.check(json(random, 3))) expect(violation.message.length).toBeGreaterThan(0)
  }
  expect(accepted).toBeGreaterThan(50)
})

const scalars = [null, true, false, 0, 1, 2, 3, 1.5, -1, "", "a", "b", "ab", "é😀", "2024-01-01"]

const instance = (random: Dice, depth: number): unknown => {
  const roll = random.below(depth > 0 ? 8 : 4)
  if (roll < 4) return random.pick(scalars)
  if (roll < 6) return Array.from({ length: random.below(4) }, () => instance(random, depth - 1))
  return Object.fromEntries(
    Array.from({ length: random.below(4) }, () => [random.pick(["a", "b", "ab", "__proto__"]), instance(random, depth - 1)]),
  )
}

/** A schema of a dialect, of every keyword both validators know. */
const schemaOf = (random: Dice, dialect: "2020-12" | "7", depth: number): unknown => {
  if (random.below(12) === 0) return random.below(3) > 0
  const sub = () => (depth > 0 ? schemaOf(random, dialect, depth - 1) : random.pick([true, {}, { type: "string" }, false]))
  const subs = () => Array.from({ length: 1 + random.below(3) }, sub)
  const map = () => Object.fromEntries(["a", "b", "ab"].filter(() => random.below(2) === 0).map((key) => [key, sub()]))
  const count = () => random.below(4)
  const number = () => random.pick([-1, 0, 1, 1.5, 2, 3])
  const keywords: { readonly [keyword: string]: () => unknown } = {
    type: () => random.pick(["string", "integer", "number", "object", "array", "null", ["string", "null"], ["integer", "array"]]),
    const: () => instance(random, 2),
    enum: () => Array.from({ length: 1 + random.below(4) }, () => instance(random, 1)),
    not: sub,
    allOf: subs,
    anyOf: subs,
    oneOf: subs,
    if: sub,
    then: sub,
    else: sub,
    properties: map,
    patternProperties: () => ({ [random.pick(["^a", "b$", "."])]: sub() }),
    additionalProperties: sub,
    propertyNames: () => random.pick([{ maxLength: 1 }, { pattern: "a" }, { enum: ["a", "b"] }]),
    required: () => random.pick([["a"], ["a", "b"], []]),
    minProperties: count,
    maxProperties: count,
    dependentRequired: () => ({ a: ["b"] }),
    dependentSchemas: () => ({ a: sub() }),
    dependencies: () => random.pick([{ a: ["b"] }, { b: sub() }]),
    items: () => (dialect === "7" && random.below(2) === 0 ? subs() : sub()),
    contains: sub,
    minItems: count,
    maxItems: count,
    uniqueItems: () => true,
    minimum: number,
    maximum: number,
    exclusiveMinimum: number,
    exclusiveMaximum: number,
    multipleOf: () => random.pick([0.5, 1, 2, 0.1]),
    minLength: count,
    maxLength: count,
    pattern: () => random.pick(["^a", "b", "^.$"]),
    format: () => random.pick(["date", "email", "uri", "none"]),
    ...(depth > 1 ? { $ref: () => random.pick(["#/$defs/x", "#y"]) } : {}),
    ...(dialect === "7"
      ? { additionalItems: sub }
      : { prefixItems: subs, minContains: () => 1 + random.below(2), maxContains: count }),
  }
  const picked = Array.from({ length: random.below(5) }, () => random.pick(Object.keys(keywords)))
  return Object.fromEntries(picked.map((keyword) => [keyword, keywords[keyword]!()]))
}

it("accepts what another validator accepts, and refuses what it refuses", () => {
  let accepted = 0
  let refused = 0
  for (let seed = 0; seed < CASES; seed++) {
    const random = dice(seed + 5_000_000)
    const dialect = random.pick(["2020-12", "7"] as const)
    const body = schemaOf(random, dialect, 3)
    const $schema = dialect === "7" ? "http://json-schema.org/draft-07/schema#" : "https://json-schema.org/draft/2020-12/schema"
    const schema = {
      $schema,
      allOf: [body],
      $defs: { x: { type: ["string", "integer", "array"], minLength: 1 }, y: { $anchor: "y", maxProperties: 1, minimum: 1 } },
    }
    const own = compileSchema(schema)
    if (Result.isFailure(own)) {
      expect(own.failure.reason, JSON.stringify(schema)).toBe("cyclic_ref")
      continue
    }
    const reference = new Reference(structuredClone(schema) as Schema, dialect)
    for (let count = 0; count < 6; count++) {
      const value = instance(random, 3)
      const expected = reference.validate(value).valid
      expect(own.success.check(value).length === 0, `${JSON.stringify(schema)} on ${JSON.stringify(value)}`).toBe(expected)
      if (expected) accepted++
      else refused++
    }
  }
  expect(Math.min(accepted, refused)).toBeGreaterThan(CASES / 2)
})

describe("what the other validator does not follow: properties and items that others have looked at", () => {
  const holds = (schema: object, value: unknown) => {
    const compiled = compileSchema(schema)
    if (Result.isFailure(compiled)) throw new Error(compiled.failure.message)
    return compiled.success.check(value).length === 0
  }

  it("counts what holds in branches, references and conditions", () => {
    const schema = {
      $defs: { b: { properties: { b: { type: "string" } } } },
      properties: { a: true },
      anyOf: [{ properties: { c: { const: 1 } }, required: ["c"] }, { properties: { d: true }, required: ["d"] }, true],
      $ref: "#/$defs/b",
      if: { properties: { kind: { const: "x" } }, required: ["kind"] },
      then: { properties: { x: true } },
      unevaluatedProperties: false,
    }
    expect(holds(schema, { a: 1, b: "s", c: 1, d: 1, kind: "x", x: 1 })).toBe(true)
    expect(holds(schema, { a: 1, c: 2 })).toBe(false)
    expect(holds(schema, { x: 1 })).toBe(false)
    expect(holds({ not: { properties: { a: true } }, unevaluatedProperties: false }, { a: 1 })).toBe(false)
    expect(holds({ unevaluatedProperties: { type: "integer" }, properties: { a: true } }, { a: "s", b: 1 })).toBe(true)
  })

  it("does not look into its siblings", () => {
    expect(holds({ properties: { a: true }, allOf: [{ unevaluatedProperties: false }] }, { a: 1 })).toBe(false)
    expect(holds({ allOf: [{ properties: { a: true } }], unevaluatedProperties: false }, { a: 1 })).toBe(true)
  })

  it("counts items by place and by `contains`", () => {
    const schema = { prefixItems: [true], contains: { type: "string" }, unevaluatedItems: false }
    expect(holds(schema, [1, "a", "b"])).toBe(true)
    expect(holds(schema, [1, "a", 2])).toBe(false)
    expect(holds({ anyOf: [{ items: { type: "integer" } }, true], unevaluatedItems: false }, [1, 2])).toBe(true)
    expect(holds({ anyOf: [{ items: { type: "integer" } }, true], unevaluatedItems: false }, [1, "a"])).toBe(false)
  })
})
