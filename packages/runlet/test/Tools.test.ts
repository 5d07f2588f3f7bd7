import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Json, JsonSchema, Policy, Tool } from "../src/Host.ts"
import { ToolFailure } from "../src/Host.ts"
import { compile } from "../src/Runlet.ts"
import { readSchema, writeSchema } from "../src/SchemaTypes.ts"
import { notation } from "../src/Types.ts"
import { codes, failure, probe, value } from "./Programs.ts"

describe("arguments", () => {
  it.effect("pass `true` unchanged: nothing is converted, dropped or enforced", () =>
    Effect.gen(function* () {
      const { options, seen } = probe(true, true)
      yield* value(
        'return [probe(null), probe({ a: null, b: [1, 2.5] }), probe(9007199254740993), probe(2.0), probe("x")]',
        options,
      )
      expect(seen).toEqual([null, { a: null, b: [1, 2.5] }, 9007199254740993n, 2, "x"])
    }),
  )

  it.effect("convert to text, numbers, lists, objects, maps and unions, and are checked again", () =>
    Effect.gen(function* () {
      const received = Effect.fnUntraced(function* (schema: JsonSchema, source: string) {
        const { options, seen } = probe(schema, true)
        yield* value(`return probe(${source})`, options)
        return seen[0]
      })
      expect(yield* received({ type: "string" }, "[1, { a: 2.0 }]")).toBe('[1,{"a":2}]')
      expect(yield* received({ type: "array", items: { type: "string" } }, "[1, true]")).toEqual(["1", "true"])
      expect(yield* received({ type: "object", additionalProperties: { type: "string" } }, "{ a: 1 }")).toEqual({ a: "1" })
      expect(yield* received({ type: "object", properties: { n: { type: "string" } } }, "{ n: null, other: null }")).toEqual({
        other: null,
      })
      expect(yield* received({ type: "object", properties: { n: { type: ["string", "null"] } } }, "{ n: null }")).toEqual({
        n: null,
      })
      expect(yield* received({ anyOf: [{ type: "array", items: true }, { type: "string" }] }, "5")).toBe("5")
    }),
  )

  it.effect("RL5208 refuse what loses or is ambiguous", () =>
    Effect.gen(function* () {
      const refusal = Effect.fnUntraced(function* (schema: JsonSchema, source: string) {
        const { options, seen } = probe(schema, true)
        const error = yield* failure(`x = json.parse(json.encode(${source}))\nreturn probe(x)`, options)
        expect(seen).toEqual([])
        expect(error).toMatchObject({ code: "RL5208", line: 2, column: 14 })
        return error.message
      })
      expect(yield* refusal({ type: "number" }, "9007199254740993")).toContain("LOSSY_NUMERIC_WIDENING")
      expect(yield* refusal({ type: "string" }, "null")).toContain(
        "null value cannot be safely converted to the expected string schema",
      )
      expect(yield* refusal({ type: "integer" }, "1.5")).toContain("cannot be safely converted")
      expect(yield* refusal({ type: "object", properties: { a: true, b: true }, required: ["a", "b"] }, "{}")).toContain(
        "`a`, `b`",
      )
      expect(yield* refusal({ type: "object", properties: {}, additionalProperties: false }, "{ z: 1 }")).toContain("`z`")
      expect(yield* refusal({ type: ["number", "string"] }, "5")).toContain("ambiguous")
      expect(yield* refusal({ type: "string", maxLength: 2 }, "12345")).toContain("outside")
      expect(yield* refusal({ type: "string", enum: ["a"] }, '"b"')).toContain("cannot be safely converted")
    }),
  )

  it.effect("RL6102 what the type cannot say is checked against the schema itself", () =>
    Effect.gen(function* () {
      const { options, seen } = probe({ type: "string", pattern: "^[a-z]+$" }, true)
      expect(yield* value('return probe("abc")', options)).toBe('"abc"')
      const error = yield* failure('return probe("ABC")', options)
      expect(error).toMatchObject({ code: "RL6102", retryable: false })
      expect(error.message).toContain("TOOL_INPUT_SCHEMA_MISMATCH")
      expect(seen).toEqual(["abc"])
    }),
  )
})

describe("results", () => {
  it.effect("become values as the output schema says", () =>
    Effect.gen(function* () {
      const number = probe(true, { type: "number" })
      expect(yield* value("return [[probe(2)] == [2.0], [probe(2)] == [2]]", number.options)).toBe("[true,false]")
      const anything = probe(true, true)
      expect(yield* value("return [[probe(2)] == [2], probe(9007199254740993) + 1]", anything.options)).toBe(
        "[true,9007199254740994]",
      )
    }),
  )

  it.effect("RL6103 refuses results outside the output schema, without retry", () =>
    Effect.gen(function* () {
      for (const [output, returned] of [
        [{ type: "string" }, 1],
        [{ type: "integer", maximum: 3 }, 4],
        [{ type: "object", properties: { a: true }, required: ["a"] }, {}],
        [{ type: "string", pattern: "^a" }, "b"],
        [true, undefined],
        [true, { a: Number.NaN }],
        [true, 2n ** 70n],
      ] as const) {
        const { options, seen } = probe(true, output as JsonSchema, () => returned)
        const error = yield* failure(
          "return boundary retry 3 { return probe(1) } catch e { return fail(e.code, e.message) }",
          options,
        )
        expect(error.code).toBe("RL6103")
        expect(seen).toHaveLength(1)
      }
    }),
  )

  it.effect("failures pass through with their code, flags and details", () =>
    Effect.gen(function* () {
      const tool: Tool = {
        name: "t",
        summary: "",
        parameters: [],
        output: true,
        policy: "at_most_once",
        schemaVersion: "1",
        handler: () =>
          new ToolFailure({ code: "LOST", message: "gone", retryable: true, uncertain: true, details: { id: "a", n: 1 } }),
      }
      expect(yield* failure("x = 1\nreturn t()", { tools: [tool] })).toMatchObject({
        code: "LOST",
        message: "gone",
        retryable: false,
        uncertain: true,
        details: { id: "a", n: 1 },
        line: 2,
        column: 8,
      })
    }),
  )

  it.effect("RL8104 a handler that dies or throws is a failure of its call", () =>
    Effect.gen(function* () {
      const dying = probe(true, true, () => {
        throw new Error("boom")
      })
      const error = yield* failure("return probe(1)", dying.options)
      expect(error).toMatchObject({ code: "RL8104", line: 1 })
      expect(error.message).toContain("boom")
    }),
  )
})

describe("schemas", () => {
  it("reads JSON Schema as a type, and says when the type is not all", () => {
    for (const [schema, text, exact] of [
      [true, "any", true],
      [false, "never", true],
      [{ type: "integer", minimum: 1, maximum: 5 }, "int", true],
      [{ type: "string", minLength: 1 }, "string", true],
      [{ enum: ["a", "b"] }, '"a" | "b"', true],
      [{ const: "a" }, '"a"', true],
      [{ enum: ["a", 1] }, "any", false],
      [{ type: ["string", "null"] }, "string | null", true],
      [{ type: "string", nullable: true }, "string | null", true],
      [{ anyOf: [{ type: "integer" }, { type: "string" }] }, "int | string", true],
      [{ oneOf: [{ type: "integer" }, { type: "string" }] }, "int | string", false],
      [{ type: "array", items: { type: "boolean" } }, "boolean[]", true],
      [{ type: "array", uniqueItems: true }, "any[]", false],
      [{ type: "object", additionalProperties: { type: "integer" } }, "{ [key]: int }", true],
      [{ type: "object", properties: { a: { type: "null" } }, required: ["a"] }, "{ a: null }", true],
      [{ $ref: "#/$defs/x", $defs: { x: { type: "integer" } } }, "int", true],
      [{ $defs: { n: { type: "object", properties: { next: { $ref: "#/$defs/n" } } } }, $ref: "#/$defs/n" }, undefined, false],
      [{ type: "string", pattern: "^a" }, "string", false],
      [{ not: { type: "string" } }, "any", false],
      [{ type: "integer", title: "t", description: "d", default: 1 }, "int", true],
    ] as ReadonlyArray<[JsonSchema, string | undefined, boolean]>) {
      const reading = readSchema(schema)
      if (text !== undefined) expect(notation(reading.type), JSON.stringify(schema)).toBe(text)
      expect(reading.exact, JSON.stringify(schema)).toBe(exact)
    }
  })

  it("writes a type back as the schema it came from", () => {
    for (const schema of [
      true,
      false,
      { type: "integer", minimum: 1 },
      { type: "number", maximum: 2 },
      { type: "string", enum: ["a"] },
      { type: "array", items: { type: "null" }, maxItems: 3 },
      { type: "object", additionalProperties: { type: "boolean" } },
      { type: "object", properties: { a: { type: "integer" } }, required: ["a"], additionalProperties: false },
      { anyOf: [{ type: "integer" }, { type: "null" }] },
    ] as ReadonlyArray<JsonSchema>)
      expect(writeSchema(readSchema(schema).type)).toEqual(schema)
  })

  it("a tool of the host wins over a function of the prelude of the same name", () => {
    const { options } = probe(true, true)
    const own = { ...options.tools[0]!, name: "text.upper" }
    expect(codes('return text.upper("a").x.y + text.lower(1, 2)', { tools: [own] })).toEqual(["RL2208"])
  })
})

describe("a host that breaks its word", () => {
  const handling = (handler: Tool["handler"], policy: Policy = "at_most_once") => {
    const { options } = probe(true, true, undefined, policy)
    return { tools: [{ ...options.tools[0]!, handler }] }
  }
  const caught = (handler: Tool["handler"], policy?: Policy) =>
    Effect.map(
      value(
        "return boundary retry 1 { return probe(1) } catch e { return [e.code, e.message, e.uncertain] }",
        handling(handler, policy),
      ),
      (text) => JSON.parse(text) as unknown,
    )

  it.effect("gives a catchable failure where a tool interrupts itself", () =>
    Effect.gen(function* () {
      expect(yield* caught(() => Effect.interrupt)).toEqual(["RL8104", "internal error in `probe`: it interrupted itself", true])
      expect(
        yield* failure(
          "return [probe(1), 2]",
          handling(() => Effect.interrupt),
        ),
      ).toMatchObject({ code: "RL8104", line: 1 })
    }),
  )

  it.effect("gives a catchable failure where a tool fails with something else, or throws", () =>
    Effect.gen(function* () {
      expect(yield* caught(() => Effect.fail({ odd: true } as never))).toEqual([
        "RL8104",
        "internal error in `probe`: it failed with something that is no ToolFailure",
        true,
      ])
      expect(yield* caught(() => Effect.fail(null as never), "pure")).toMatchObject(["RL8104", expect.any(String), false])
      expect(
        yield* caught(() => {
          throw new Error("boom")
        }),
      ).toEqual(["RL8104", "internal error in `probe`: boom", true])
    }),
  )

  it.each<[JsonSchema, string]>([
    [{ type: "wat" }, "not a JSON Schema"],
    [{ $ref: "https://example.com/s" }, "leaves the document"],
    [{ $ref: "#" }, "reaches itself"],
    [{ pattern: "(a)\\1" }, "backreferences"],
  ])("refuses to call a tool whose schema it could not check: %j", (schema, message) => {
    for (const options of [probe(schema, true).options, probe(true, schema).options]) {
      const compiled = compile("return probe(1)", options)
      expect(compiled.ok ? [] : compiled.diagnostics).toMatchObject([
        { code: "RL8103", message: expect.stringContaining(message) },
      ])
      expect(compile("return 1", options).ok).toBe(true)
    }
  })
})

describe("64-bit integers under schemas", () => {
  const [below, exact, above] = ["9007199254740992", "9007199254740993", "9007199254740994"]

  it.effect("are told apart in arguments: bounds, enum, const, unique items", () =>
    Effect.gen(function* () {
      const takes = Effect.fnUntraced(function* (schema: JsonSchema, source: string) {
        const { options } = probe(schema, true)
        const result = yield* value(
          `x = json.parse(json.encode(${source}))\nreturn boundary { return [probe(x)] } catch e { return e.code }`,
          options,
        )
        return result === `[${source}]` ? "taken" : JSON.parse(result)
      })
      const taken = (schema: JsonSchema) => Effect.forEach([below, exact, above], (source) => takes(schema, source!))
      expect(yield* taken({ type: "integer", maximum: BigInt(exact) })).toEqual(["taken", "taken", "RL5208"])
      expect(yield* taken({ type: "integer", exclusiveMinimum: BigInt(exact) })).toEqual(["RL6102", "RL6102", "taken"])
      expect(yield* taken({ type: ["integer", "string"], multipleOf: 3 })).toEqual(["RL6102", "taken", "RL6102"])
      expect(yield* taken({ const: BigInt(exact) })).toEqual(["RL6102", "taken", "RL6102"])
      expect(yield* taken({ enum: [BigInt(below), BigInt(above)] })).toEqual(["taken", "RL6102", "taken"])
      expect(yield* takes({ uniqueItems: true }, `[${below},${exact}]`)).toBe("taken")
      expect(yield* takes({ uniqueItems: true }, `[${exact},${exact}]`)).toBe("RL6102")
    }),
  )

  it.effect("are told apart in what a tool returns, and in host inputs", () =>
    Effect.gen(function* () {
      const returns = (output: JsonSchema, json: Json) => value("return probe(1)", probe(true, output, () => json).options)
      const misses = (output: JsonSchema, json: Json) => failure("return probe(1)", probe(true, output, () => json).options)
      expect(yield* returns({ enum: [BigInt(exact)] }, BigInt(exact))).toBe(exact)
      expect((yield* misses({ enum: [BigInt(exact)] }, BigInt(below))).code).toBe("RL6103")
      expect((yield* misses({ type: "number", maximum: BigInt(exact) }, 9007199254740994)).code).toBe("RL6103")
      const input = (json: Json) => ({ inputs: [{ name: "n", schema: { const: BigInt(exact) }, value: json }] })
      expect(yield* value("return n", input(BigInt(exact)))).toBe(exact)
      expect(codes("return n", input(BigInt(above)))).toEqual(["RL8102"])
    }),
  )
})
