import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Json } from "../src/Host.ts"
import { failure, value } from "./Programs.ts"

/** Inputs whose types the checker does not know, so that the operators decide at run time. */
const given = (values: { readonly [name: string]: Json }) => ({
  inputs: Object.entries(values).map(([name, each]) => ({ name, schema: true, value: each })),
})

const dynamic = given({ i: 1, z: 0, s: "a", n: null, t: true, l: [1, 2], o: { a: 1 }, big: 9007199254740993n, f: 1.5 })

const gives = (expected: ReadonlyArray<readonly [source: string, text: string]>) =>
  Effect.forEach(expected, ([source, text]) =>
    Effect.map(value(`return ${source}`, dynamic), (found) => expect(found, source).toBe(text)),
  )

const fails = (expected: ReadonlyArray<readonly [source: string, code: string]>) =>
  Effect.forEach(expected, ([source, code]) =>
    Effect.map(failure(`return ${source}`, dynamic), (error) => {
      expect(error.code, source).toBe(code)
      expect(error).toMatchObject({ retryable: false, uncertain: false, line: 1 })
      expect(error.message.length).toBeGreaterThan(3)
    }),
  )

describe("integers and numbers", () => {
  it.effect("keeps integers exact to 64 bits and numbers apart", () =>
    gives([
      ["9007199254740993 + 1", "9007199254740994"],
      ["3037000499 * 3037000499", "9223372030926249001"],
      ["-9223372036854775808", "-9223372036854775808"],
      ["9223372036854775807 - 1", "9223372036854775806"],
      ["4 / 2", "2"],
      ["1 / 3", "0.3333333333333333"],
      ["-7 % 3", "-1"],
      ["7 % -3", "1"],
      ["0 * -5", "0"],
      ["-0.0", "0"],
      ["0.1 + 0.2", "0.30000000000000004"],
      ["1e21 * 1.0", "1e+21"],
      ["1e-7 * 1.0", "1e-7"],
      ["2.0", "2"],
      ["1 + 0.5", "1.5"],
      ["-i", "-1"],
      ["- -5", "5"],
    ]),
  )

  it.effect("fails rather than lose anything", () =>
    fails([
      ["9223372036854775807 + 1", "RL5101"],
      ["-9223372036854775808 - 1", "RL5101"],
      ["4611686018427387904 * 2", "RL5101"],
      ["0 - -9223372036854775808", "RL5101"],
      ["-9223372036854775808 % -1", "RL5101"],
      ["i / z", "RL5102"],
      ["i / 0.0", "RL5102"],
      ["s / z", "RL5102"],
      ["i % z", "RL5102"],
      ["1e308 * 10.0", "RL5103"],
      ["big + 0.5", "RL5208"],
      ["big / 2", "RL5208"],
      ["big == 1.5", "RL5208"],
    ]),
  )

  it.effect("compares exactly across kinds and beyond 2^53", () =>
    gives([
      ["big > 9007199254740992", "true"],
      ["big > 9007199254740992.0", "true"],
      ["1 == 1.0", "true"],
      ["[1] == [1.0]", "false"],
      ["1 in [1.0]", "false"],
      ["2 < 2.5", "true"],
      ["9223372036854775807 > 9223372036854775806", "true"],
    ]),
  )
})

describe("other operators", () => {
  it.effect("joins text, lists and objects", () =>
    gives([
      ["s + i", '"a1"'],
      ["i + s", '"1a"'],
      ["s + t + f", '"atrue1.5"'],
      ["s + l", '"a[1,2]"'],
      ["s + { b: null, a: 2.0 }", '"a{\\"a\\":2,\\"b\\":null}"'],
      ["l + [s]", '[1,2,"a"]'],
      ["o + { a: 2, b: 3 }", '{"a":2,"b":3}'],
    ]),
  )

  it.effect("orders and finds by Unicode scalar value", () =>
    gives([
      ['"\\ud83d\\ude00" > "\\uffff"', "true"],
      ['"" in s', "true"],
      ['"a" in o', "true"],
      ["{ a: 1 } in [{ a: 1 }]", "true"],
      ["null == null", "true"],
      ["n != s", "true"],
    ]),
  )

  it.effect("decides `and` and `or` by Booleans alone", () =>
    gives([
      ["false and i / z == 1", "false"],
      ["true or i / z == 1", "true"],
      ["t and not false", "true"],
    ]),
  )

  it.effect("refuses other kinds with the code of the rule", () =>
    fails([
      ["s - s", "RL5201"],
      ["l * i", "RL5201"],
      ["n + i", "RL5201"],
      ["l + o", "RL5201"],
      ["s < i", "RL5201"],
      ["i in i", "RL5201"],
      ["-s", "RL5201"],
      ["s + n", "RL5207"],
      ["not i", "RL5202"],
      ["i and t", "RL5202"],
      ["t and i", "RL5202"],
      ["1 if i else 2", "RL5202"],
      ["if s { return 1 }", "RL5202"],
    ]),
  )

  it.effect("names truthiness and the kind found when a condition is no Boolean", () =>
    Effect.gen(function* () {
      const error = yield* failure("return 1 if l else 2", dynamic)
      expect(error.message).toContain("list")
      expect(error.message).toContain("truthiness")
      expect(error.message).toContain("list.length")
      expect(error.span).toEqual({ start: 12, end: 13 })
    }),
  )
})

describe("projection", () => {
  it.effect("indexes lists, strings by character, and objects", () =>
    gives([
      ["l[-1]", "2"],
      ['"a😀b"[1]', '"😀"'],
      ['"a😀b"[-1]', '"b"'],
      ["o.a", "1"],
      ['o["a"]', "1"],
      ["for e in { b: 1, a: 2, é: 3, Z: 4 } { return e.key }", '["Z","a","b","é"]'],
    ]),
  )

  it.effect("fails with the code of the rule", () =>
    fails([
      ["l[2]", "RL5205"],
      ["s[-2]", "RL5205"],
      ["o.b", "RL5206"],
      ['o["b"]', "RL5206"],
      ["i.a", "RL5203"],
      ["l[s]", "RL5203"],
      ["l[1.0 * i]", "RL5203"],
      ["for x in i { return x }", "RL5204"],
      ["for x in s { return x }", "RL5204"],
      ["{ [l]: 1 }", "RL5209"],
    ]),
  )

  it.effect("says which key is missing", () =>
    Effect.map(failure("return o.b", dynamic), (error) => expect(error.message).toBe("KEY_NOT_FOUND: `b`")),
  )

  it.effect("keeps `__proto__` and integer-like keys ordinary", () =>
    gives([
      ['{ ["__proto__"]: 1, "10": 2, "9": 3 }', '{"10":2,"9":3,"__proto__":1}'],
      ['({ ["__proto__"]: 1 }).__proto__', "1"],
    ]),
  )
})
