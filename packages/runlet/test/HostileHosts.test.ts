import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { JsonSchema, Policy, Tool } from "../src/Host.ts"
import { codes, failure, probe, value } from "./Programs.ts"

describe("hostile hosts", () => {
  const caught = "return boundary { return probe(1) } catch e { return [e.code, e.uncertain] }"
  const given = (handler: () => unknown, policy: Policy = "pure") => {
    const tool: Tool = {
      name: "probe",
      summary: "",
      parameters: [{ name: "input", schema: true }],
      output: true,
      policy,
      schemaVersion: "1",
      handler: handler as Tool["handler"],
    }
    return { tools: [tool] }
  }

  it.effect("RL8104 a handler that returns no Effect, throws, dies, or fails with nothing", () =>
    Effect.gen(function* () {
      const unreadable = { code: "X", message: { toString: () => expect.fail("not caught") } }
      const handlers: ReadonlyArray<() => unknown> = [
        () => null,
        () => undefined,
        () => 5,
        () => ({}),
        () => Promise.resolve(1),
        () => {
          throw null
        },
        () => Effect.fail(null),
        () => Effect.fail({ code: 5 }),
        () => Effect.fail(unreadable),
        () => Effect.die(unreadable.message),
        () => Effect.interrupt,
        () => Effect.succeed(new Proxy({}, { ownKeys: () => expect.fail("not caught") })),
      ]
      for (const handler of handlers) {
        expect(yield* value(caught, given(handler)), String(handler)).toBe('["RL8104",false]')
        expect(yield* value(caught, given(handler, "unsafe")), String(handler)).toBe('["RL8104",true]')
      }
    }),
  )

  it.effect("RL6103 what is no JSON, and what has no end; an effect may have happened all the same", () =>
    Effect.gen(function* () {
      const cyclic: Array<unknown> = []
      cyclic.push(cyclic)
      const endless = new Proxy([], {
        get: (target, key) =>
          key === Symbol.iterator
            ? function* () {
                for (;;) yield 1
              }
            : Reflect.get(target, key),
      })
      const strange = [
        cyclic,
        endless,
        new Date(0),
        new Map([[1, 2]]),
        new Set([1]),
        /x/,
        Promise.resolve(1),
        Object(5),
        Number.NaN,
      ]
      for (const each of strange) {
        const options = given(() => Effect.succeed(each))
        expect(yield* value(caught, { ...options, limits: { valueBytes: 1_000_000 } })).toBe('["RL6103",false]')
      }
      expect(
        yield* value(
          caught,
          given(() => Effect.void, "at_most_once"),
        ),
      ).toBe('["RL6103",true]')
    }),
  )

  it.effect("RL4111 an answer larger than a value may be", () =>
    Effect.gen(function* () {
      const options = { ...given(() => Effect.succeed(["x".repeat(2_000)])), limits: { valueBytes: 1_000 } }
      expect(yield* value(caught, options)).toBe('["RL4111",false]')
    }),
  )

  it.effect("takes flags and delays of a failure for what they are, or leaves them out", () =>
    Effect.gen(function* () {
      const failing = (more: object) => given(() => Effect.fail({ code: "E", message: "m", ...more }), "idempotent")
      const source =
        "return boundary retry 2 { return probe(1) } catch e { return [e.code, e.retryable, e.uncertain, e.attempt] }"
      expect(yield* value(source, failing({ retryable: "yes", uncertain: 1 }))).toBe('["E",false,false,0]')
      for (const retryAfterMs of [Number.NaN, -5, "x", null])
        expect(yield* value(source, failing({ retryable: true, retryAfterMs }))).toBe('["E",true,false,2]')
      const cyclic: { [key: string]: unknown } = {}
      cyclic.self = cyclic
      expect(yield* value(source, failing({ details: cyclic }))).toBe('["E",false,false,0]')
    }),
  )

  it.effect("an observer that throws is told nothing more, and the run goes on", () =>
    Effect.gen(function* () {
      const source =
        "a = probe(9)\nreturn boundary { return [a, for i in [1, 2, 3] { return probe(i) }] } catch e { return e.code }"
      for (let last = 1; last < 60; last++) {
        let told = 0
        const observer = {
          onEvent: () => {
            if (++told === last) throw new Error("observer")
          },
        }
        expect(yield* value(source, { ...probe(true, true).options, observer })).toBe("[9,[1,2,3]]")
        expect(told).toBeLessThanOrEqual(last)
      }
    }),
  )

  it("RL8103 schemas that are none, or have no end, and no other diagnostic", () => {
    const cyclic: { [key: string]: unknown } = {}
    cyclic.properties = { cyclic }
    const looped: { [key: string]: unknown } = {}
    looped.anyOf = [looped, { type: "string" }]
    const hidden = new Proxy({}, { get: () => expect.fail("not caught"), ownKeys: () => expect.fail("not caught") })
    const schemas = [
      null,
      5,
      "x",
      [],
      { type: 5 },
      { type: [] },
      { anyOf: [] },
      { $ref: "#/%E0%A4%A" },
      { enum: 5 },
      cyclic,
      looped,
      hidden,
    ]
    for (const [at, schema] of schemas.entries()) {
      const { options } = probe(schema as JsonSchema, true)
      expect(codes("return probe({ a: 1 })", options), String(at)).toEqual(["RL8103"])
      expect(codes("return i", { inputs: [{ name: "i", schema: schema as JsonSchema, value: 1 }] }), String(at)).toEqual([
        "RL8102",
      ])
    }
  })
})

it.effect("there is one zero: a sign on it is lost in literals, in arithmetic, from tools and inputs, and to them", () =>
  Effect.gen(function* () {
    const { options, seen } = probe(true, true, () => -0)
    const numbers = probe(true, { type: "number" }, () => -0).options
    const input = { name: "n", schema: { type: "number" }, value: -0 } as const
    expect(yield* value('return [-0.0, 0.0 * -1, -0, probe(1), json.parse("-0"), json.parse("-0.0")]', options)).toBe(
      "[0,0,0,0,0,0]",
    )
    expect(
      yield* value('return [probe(1), n, "" + -n, [n] == [0.0], [probe(1)] == [-0.0]]', { ...numbers, inputs: [input] }),
    ).toBe('[0,0,"0",true,true]')
    yield* value('return probe([-0.0, 0.0 * -1, json.parse("-0")])', options)
    expect(seen.at(-1)).toEqual([0, 0, 0])
    for (const zero of seen.at(-1) as ReadonlyArray<number>) expect(Object.is(zero, 0)).toBe(true)
    expect((yield* failure("return 1 / -0.0")).code).toBe("RL5102")
  }),
)

it.effect("half characters from a tool stay as they are: compared, counted, escaped in JSON, told apart in identities", () =>
  Effect.gen(function* () {
    const operations: Array<string> = []
    const halves: Tool = {
      name: "probe",
      summary: "",
      parameters: [{ name: "input", schema: true }],
      output: true,
      policy: "pure",
      schemaVersion: "1",
      handler: ([input], context) =>
        Effect.sync(() => {
          operations.push(context.operationId)
          return input === 1 ? "a\ud800" : input === 2 ? "a\udc00" : input!
        }),
    }
    const source =
      "a = probe(1)\nb = probe(2)\nsame = for each in [a, b] { return probe(each) }\nreturn [a, a == b, text.length(a), a[1], text.upper(b), a + text.slice(b, 1), same == [a, b]]"
    expect(yield* value(source, { tools: [halves] })).toBe('["a\\ud800",false,2,"\\ud800","A\\udc00","a\ud800\udc00",true]')
    expect(new Set(operations).size).toBe(4)
  }),
)
