import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { InvalidSchema } from "../src/InvalidSchema.ts"
import { compileSchema, JsonSchemas, type Validator } from "../src/JsonSchemas.ts"

const compiled = (schema: unknown): Validator => {
  const result = compileSchema(schema)
  if (Result.isFailure(result)) throw new Error(`${result.failure.reason} ${result.failure.path}: ${result.failure.message}`)
  return result.success
}

const refused = (schema: unknown): InvalidSchema => {
  const result = compileSchema(schema)
  if (Result.isSuccess(result)) throw new Error("the schema was accepted")
  return result.failure
}

const nested = (levels: number, leaf: unknown): unknown => {
  let value = leaf
  for (let level = 0; level < levels; level++) value = { items: value }
  return value
}

describe("checking values", () => {
  it("S60 accepts an object schema and both booleans", () => {
    expect(compiled(true).check({ any: [1] })).toEqual([])
    expect(compiled(false).check(null)).toHaveLength(1)
    expect(compiled({ type: "object", required: ["n"] }).check({ n: 1 })).toEqual([])
  })

  it("names the place and the keyword of a violation", () => {
    const validator = compiled({ properties: { list: { items: { type: "integer" } } } })
    const violations = validator.check({ list: [1, 2.5] })
    expect(violations.at(-1)).toMatchObject({ path: "/list/1", keyword: "type" })
  })

  it("counts a bigint as an integer", () => {
    const validator = compiled({ type: "integer", minimum: 0 })
    expect(validator.check(9007199254740993n)).toEqual([])
    expect(validator.check(-9007199254740993n)).toHaveLength(1)
  })

  it("tells integers apart that one double would stand for, in every keyword", () => {
    const [below, at, above] = [9007199254740992n, 9007199254740993n, 9007199254740994n]
    const holds = (schema: unknown, value: unknown) => compiled(schema).check(value).length === 0
    for (const wrap of [(n: unknown) => n, (n: unknown) => [{ n }]]) {
      expect(holds({ const: wrap(at) }, wrap(at))).toBe(true)
      expect(holds({ const: wrap(at) }, wrap(below))).toBe(false)
      expect(holds({ enum: [wrap(1), wrap(at)] }, wrap(at))).toBe(true)
      expect(holds({ enum: [wrap(below), wrap(above)] }, wrap(at))).toBe(false)
      expect(holds({ uniqueItems: true }, [wrap(below), wrap(at)])).toBe(true)
      expect(holds({ uniqueItems: true }, [wrap(at), wrap(at)])).toBe(false)
    }
    expect([below, at, above].map((n) => holds({ maximum: at }, n))).toEqual([true, true, false])
    expect([below, at, above].map((n) => holds({ minimum: at }, n))).toEqual([false, true, true])
    expect([below, at, above].map((n) => holds({ exclusiveMaximum: at }, n))).toEqual([true, false, false])
    expect([below, at, above].map((n) => holds({ exclusiveMinimum: at }, n))).toEqual([false, false, true])
    expect([below, at, above].map((n) => holds({ multipleOf: 3 }, n))).toEqual([false, true, false])
    expect([below, at, above].map((n) => holds({ multipleOf: at }, n))).toEqual([false, true, false])
    expect(holds({ multipleOf: 0.1 }, 0.3)).toBe(true)
    expect(holds({ multipleOf: 1e-7 }, 12.00000011)).toBe(false)
    expect(holds({ type: "integer" }, at)).toBe(true)
    expect(holds({ type: ["string", "number"] }, at)).toBe(true)
  })

  it("takes a number for the same however it is written", () => {
    const holds = (schema: unknown, value: unknown) => compiled(schema).check(value).length === 0
    expect(holds({ const: 10n ** 20n }, 1e20)).toBe(true)
    expect(holds({ const: 1e20 }, 10n ** 20n)).toBe(true)
    expect(holds({ enum: [5n] }, 5)).toBe(true)
    expect(holds({ const: 0 }, -0)).toBe(true)
    expect(holds({ uniqueItems: true }, [0, -0])).toBe(false)
    expect(holds({ uniqueItems: true }, [2 ** 60, 2n ** 60n])).toBe(false)
    expect(holds({ maxLength: 3n, minimum: -1n }, "abc")).toBe(true)
  })

  it("names exact numbers in its messages", () => {
    expect(compiled({ maximum: 9007199254740993n }).check(9007199254740995n)).toMatchObject([
      { message: "9007199254740995 is greater than 9007199254740993." },
    ])
    expect(compiled({ const: 9007199254740993n }).check(1)).toMatchObject([
      { message: "Instance does not match 9007199254740993." },
    ])
  })

  it("reads integers of a thousand digits and refuses longer ones", () => {
    expect(compiled({ type: "integer" }).check(10n ** 1000n)).toEqual([])
    expect(compiled({ type: "integer" }).check(10n ** 2000n)).toMatchObject([{ keyword: "limit" }])
    expect(refused({ maximum: 10n ** 2000n })).toMatchObject({ reason: "too_large", path: "/maximum" })
  })

  it("treats `__proto__` as an ordinary key", () => {
    const validator = compiled(JSON.parse('{"properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}'))
    expect(validator.check(JSON.parse('{"__proto__":"x"}'))).toEqual([])
    expect(validator.check(JSON.parse('{"__proto__":1}'))).not.toEqual([])
    expect(validator.check({})).not.toEqual([])
  })

  it("asserts formats", () => {
    expect(compiled({ format: "date" }).check("2024-02-30")).toHaveLength(1)
  })

  it("follows local references, anchors and recursion through the value", () => {
    const tree = compiled({
      $ref: "#/$defs/node",
      $defs: { node: { type: "object", properties: { next: { $ref: "#node" } }, $anchor: "node", additionalProperties: false } },
    })
    expect(tree.check({ next: { next: {} } })).toEqual([])
    expect(tree.check({ next: { other: {} } })).not.toEqual([])
  })

  it("reads draft 7 when `$schema` names it", () => {
    const schema = { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }], additionalItems: false }
    expect(compiled(schema).check(["a"])).toEqual([])
    expect(compiled(schema).check(["a", "b"])).not.toEqual([])
  })
})

describe("refusing schemas", () => {
  it("S60 refuses what is neither object nor boolean", () => {
    for (const schema of [null, 1, "string", [], undefined]) expect(refused(schema).reason).toBe("not_a_schema")
  })

  it("finds a mistake at every depth through the meta-schema", () => {
    expect(refused({ type: "strnig" })).toMatchObject({ reason: "not_a_schema", path: "/type" })
    expect(refused({ required: "a" })).toMatchObject({ path: "/required" })
    expect(refused({ properties: { a: { anyOf: [{ type: "objct" }] } } }).path).toBe("/properties/a/anyOf/0/type")
  })

  it("bounds depth and size", () => {
    expect(refused(nested(65, true)).reason).toBe("too_deep")
    expect(Result.isSuccess(compileSchema(nested(63, true)))).toBe(true)
    expect(refused({ description: "x".repeat(256 * 1024) }).reason).toBe("too_large")
  })

  it("refuses references that leave the document or lead nowhere, by place", () => {
    expect(refused({ properties: { a: { $ref: "https://example.org/a.json" } } })).toMatchObject({
      reason: "remote_ref",
      path: "/properties/a/$ref",
    })
    expect(refused({ $ref: "#/$defs/none" })).toMatchObject({ reason: "unresolved_ref", path: "/$ref" })
    expect(refused({ $schema: "https://example.org/own" }).reason).toBe("dialect")
  })

  it("refuses a reference that reaches itself without descending", () => {
    expect(refused({ $ref: "#" }).reason).toBe("cyclic_ref")
    expect(
      refused({ $defs: { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { not: { $ref: "#/$defs/a" } } }, $ref: "#/$defs/a" }).reason,
    ).toBe("cyclic_ref")
  })

  it("refuses patterns that are no regular expression", () => {
    expect(refused({ pattern: "(" })).toMatchObject({ reason: "pattern", path: "/pattern" })
    expect(refused({ pattern: "(a)\\1" }).reason).toBe("pattern")
    expect(refused({ patternProperties: { "[": true } }).reason).toBe("pattern")
  })

  it("warns of misspelt keywords and suggests the nearest", () => {
    expect(compiled({ requird: ["a"] }).warnings).toEqual(["unknown keyword `requird` at `/`; did you mean `required`?"])
    expect(compiled({ additionalproperties: false }).warnings).toHaveLength(1)
    expect(compiled({ "x-order": 1, title: "t" }).warnings).toEqual([])
  })
})

describe("bounded work", () => {
  it("matches hostile patterns in linear time", () => {
    const validator = compiled({ pattern: "^(a+)+$", minLength: 1 })
    expect(validator.check(`${"a".repeat(50_000)}b`)).toMatchObject([{ keyword: "pattern" }])
    expect(validator.check("aaa")).toEqual([])
    expect(compiled({ pattern: "^(?!.*\\s$).+$", format: "date" }).check("2024-01-01")).toEqual([])
    expect(compiled({ pattern: "^(?!.*\\s$).+$" }).check("x ")).not.toEqual([])
  })

  it("matches hostile property patterns in linear time, and bounds what patterns may take together", () => {
    const hostile = compiled({ patternProperties: { "^(a+)+$": { type: "integer" } }, additionalProperties: false })
    expect(hostile.check({ ["a".repeat(50_000)]: 1 })).toEqual([])
    expect(hostile.check({ [`${"a".repeat(50_000)}b`]: 1 })).toMatchObject([{ path: "", keyword: "additionalProperties" }])
    const dear = compiled({ items: { pattern: "^(?:a?){1000}$" } })
    expect(dear.check(["a".repeat(1_000)])).toEqual([])
    expect(dear.check(Array.from({ length: 1_000 }, () => "a".repeat(1_000)))).toMatchObject([{ keyword: "limit" }])
  })

  it("leaves out formats whose check may take exponential time", () => {
    expect(compiled({ format: "url" }).check(`http://${"a".repeat(50_000)}!`)).toEqual([])
  })

  it("gives up on references that double at every step", () => {
    const $defs: Record<string, unknown> = { d0: { type: "string" } }
    for (let n = 1; n < 40; n++) $defs[`d${n}`] = { allOf: [{ $ref: `#/$defs/d${n - 1}` }, { $ref: `#/$defs/d${n - 1}` }] }
    expect(compiled({ $ref: "#/$defs/d39", $defs }).check("x")).toMatchObject([{ keyword: "limit" }])
  })

  it("gives up on values that nest too deeply, without overflowing the stack", () => {
    let value: unknown = 1
    for (let level = 0; level < 100_000; level++) value = [value]
    expect(compiled({ items: { $ref: "#" } }).check(value)).toMatchObject([{ keyword: "limit" }])
  })

  it("allows a long list as many references as its items need", () => {
    const { check } = compiled({ $defs: { s: { type: "string" } }, items: { $ref: "#/$defs/s" } })
    expect(check(Array.from({ length: 20_000 }, () => "x"))).toEqual([])
  })

  it("gives up on references when they are many more than the value has nodes", () => {
    const tree = { anyOf: [{ items: { $ref: "#/$defs/n" } }, { items: { $ref: "#/$defs/n" } }] }
    const { check } = compiled({ $defs: { n: { type: "array", ...tree } }, $ref: "#/$defs/n" })
    let value: unknown = 1
    for (let depth = 0; depth < 40; depth++) value = [value]
    expect(check(value)).toMatchObject([{ keyword: "limit" }])
  })

  it("gives up on texts under a format that take quadratic time, alone and together", () => {
    const text = `http://${"a".repeat(70_000)}\u0000`
    expect(compiled({ format: "uri" }).check(text)).toMatchObject([{ keyword: "limit" }])
    const some = Array.from({ length: 30 }, () => text.slice(0, 12_000))
    expect(compiled({ items: { format: "uri" } }).check(some)).toMatchObject([{ keyword: "limit" }])
    expect(compiled({ format: "uri" }).check("https://example.com/a?b#c")).toEqual([])
    expect(compiled({ format: "uri" }).check("no uri")).toMatchObject([{ keyword: "format" }])
  })

  it("gives up on numbers that JSON has not", () => {
    expect(compiled({}).check([Number.NaN])).toMatchObject([{ keyword: "limit" }])
    expect(compiled({ type: "number" }).check(Number.POSITIVE_INFINITY)).toMatchObject([{ keyword: "limit" }])
  })

  it("compares large items and long lists under uniqueItems, and gives up when lists in lists are too many", () => {
    const unique = compiled({ uniqueItems: true })
    const items = Array.from({ length: 20_000 }, (_, n) => [0, { a: [n] }, 0])
    expect(unique.check(items)).toEqual([])
    expect(unique.check([...items, [0, { a: [7] }, 0]])).toMatchObject([
      { keyword: "uniqueItems", message: "Duplicate items at indexes 7 and 20000." },
    ])
    const nested = compiled({ uniqueItems: true, items: { $ref: "#" } })
    let value: unknown = Array.from({ length: 100_000 }, (_, n) => n)
    for (let depth = 0; depth < 100; depth++) value = [value]
    expect(nested.check(value)).toMatchObject([{ keyword: "limit" }])
  })

  it("looks at what the value has, not at all that a schema knows", () => {
    const known = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`k${n}`, true]))
    const dependent = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`k${n}`, ["x"]]))
    const rows = Array.from({ length: 20_000 }, () => ({ k7: 1, x: 1 }))
    expect(compiled({ items: { properties: known, dependentRequired: dependent } }).check(rows)).toEqual([])
    expect(compiled({ properties: known, dependentRequired: dependent }).check({ k7: 1 })).toMatchObject([
      { message: 'Instance has "k7" but does not have "x".' },
    ])
    const own = compiled({ properties: { toString: { type: "string" } }, dependentRequired: { constructor: ["a"] } })
    expect(own.check({})).toEqual([])
    expect(own.check({ toString: 1, constructor: 1 })).toHaveLength(2)
  })

  it("gives up on deep failures that branch, and on long lists of what is required, before they take long", () => {
    const $defs = { a: { oneOf: [{ items: { $ref: "#/$defs/a" } }, { items: { $ref: "#/$defs/a" } }, { type: "string" }] } }
    let value: unknown = "x"
    for (let depth = 0; depth < 100; depth++) value = [value]
    expect(compiled({ $defs, $ref: "#/$defs/a" }).check(value)).toMatchObject([{ keyword: "limit" }])
    const required = Array.from({ length: 10_000 }, (_, n) => `k${n}`)
    const rows = Array.from({ length: 20_000 }, () => ({}))
    expect(compiled({ items: { anyOf: [{ required }, true] } }).check(rows)).toMatchObject([{ keyword: "limit" }])
  })

  it("keeps twenty violations at the most, and cuts what a schema says of itself", () => {
    const { check } = compiled({ propertyNames: { enum: ["x".repeat(5_000)] } })
    const violations = check(Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`k${n}`, n])))
    expect(violations).toHaveLength(20)
    expect(violations[0]!.message.length).toBeLessThan(300)
  })
})

it.effect("serves compileSchema as a service with a typed failure", () =>
  Effect.gen(function* () {
    const schemas = yield* JsonSchemas.Service
    const failure = yield* Effect.flip(schemas.compile({ type: 3 }))
    expect(failure).toMatchObject({ _tag: "InvalidSchema", code: "INVALID_SCHEMA", reason: "not_a_schema" })
    const validator = yield* schemas.compile({ type: "string" })
    expect(validator.check("x")).toEqual([])
  }).pipe(Effect.provide(JsonSchemas.layer)),
)
