import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { parse, stringify, stringifyPretty } from "../src/Json.ts"

describe("JSON", () => {
  it.prop("comes back as it was written", [Schema.Json], ([value]) => {
    const text = stringify(value as never)
    expect(text).not.toMatch(/[\n\r\u2028\u2029]/)
    expect(parse(stringify(parse(text) as never))).toEqual(parse(text))
    expect(parse(stringifyPretty(value as never))).toEqual(parse(text))
  })

  it("keeps integers exact", () => {
    const text = '{"a":18446744073709551615,"b":-9007199254740993,"c":9007199254740991,"d":[12345678901234567890123]}'
    expect(parse(text)).toEqual({
      a: 18446744073709551615n,
      b: -9007199254740993n,
      c: 9007199254740991,
      d: [12345678901234567890123n],
    })
    expect(stringify(parse(text) as never)).toBe(text)
    expect(parse('{"text":"12345678901234567890","x":1.2345678901234567e30}')).toEqual({
      text: "12345678901234567890",
      x: 1.2345678901234567e30,
    })
  })

  it("keeps a long integer exact wherever it stands", () => {
    for (let before = 0; before < 40; before++) {
      for (const digits of ["9007199254740993", "90071992547409931", "18446744073709551615"]) {
        const text = `["${"x1".repeat(before).slice(0, before)}",${digits},1]`
        expect((parse(text) as ReadonlyArray<unknown>)[1]).toBe(BigInt(digits))
      }
    }
  })

  it("holds no half of a surrogate pair, and no line end that only some readers see", () => {
    expect(stringify("a\ud800b")).toBe('"a\ufffdb"')
    expect(stringify("\udc00\ud83d\ude00\\ud800")).toBe('"\ufffd\ud83d\ude00\\\\ud800"')
    expect(stringify("\ud800\ud800")).toBe('"\ufffd\ufffd"')
    expect(stringify({ "\u2028": "\u2029" })).toBe('{"\\u2028":"\\u2029"}')
  })

  it("is no JSON: undefined, never an exception", () => {
    for (const text of ["", "{", "nul", "[1,]", "\u0000"]) expect(parse(text)).toBeUndefined()
  })
})
