import { equalJson, type Json, type JsonObject, nestsDeeper, parseJson, stringifyJson, utf8Bytes } from "@acp-kit/protocol/Json"
import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

describe("Json", () => {
  it("keeps integers beyond 2^53 exact, both ways", () => {
    for (const digits of ["9007199254740993", "-9223372036854775808", "18446744073709551615", "123456789012345678901234567890"]) {
      expect(parseJson(digits)).toBe(BigInt(digits))
      expect(stringifyJson(parseJson(`{"n":[${digits}]}`) as Json)).toBe(`{"n":[${digits}]}`)
    }
    expect(parseJson("9007199254740991")).toBe(9007199254740991)
    expect(parseJson("0.1234567890123456789")).toBe(0.12345678901234568)
    expect(parseJson("1e20")).toBe(1e20)
  })

  it("keeps what only looks like a long number in a string", () => {
    const text = '{"id":"12345678901234567890","n":12345678901234567890}'
    expect(stringifyJson(parseJson(text) as Json)).toBe(text)
  })

  it("treats __proto__, constructor and toString as ordinary keys, with and without long integers", () => {
    for (const n of ["1", "12345678901234567890"]) {
      const text = `{"__proto__":{"a":${n}},"constructor":1,"toString":null}`
      const value = parseJson(text) as JsonObject
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
      expect(Object.keys(value)).toEqual(["__proto__", "constructor", "toString"])
      expect(stringifyJson(value)).toBe(text)
    }
  })

  it("keeps minus zero and numbers that are too large for a double", () => {
    expect(stringifyJson(-0)).toBe("-0")
    expect(stringifyJson(parseJson("[1e400,-1e400]") as Json)).toBe("[1e999,-1e999]")
  })

  it("writes values of any depth", () => {
    const text = "[".repeat(200_000) + "]".repeat(200_000)
    expect(stringifyJson(parseJson(text) as Json)).toBe(text)
  })

  it("tells how deep a text nests, whatever its strings hold", () => {
    const nested = (levels: number, inner = "") => `${'{"a":['.repeat(levels / 2)}${inner}${"]}".repeat(levels / 2)}`
    expect([nestsDeeper(nested(10), 10), nestsDeeper(nested(12), 10), nestsDeeper(`[${"[],".repeat(50)}[]]`, 10)]).toEqual([
      false,
      true,
      false,
    ])
    const tricky = JSON.stringify({ text: '[[[[[[[[[[[["\\', more: "{{{{{{{{{{{{\\\\", key: '\\"[[[[[[[[[[[[' })
    expect(nestsDeeper(tricky, 10)).toBe(false)
    expect(nestsDeeper(nested(12, tricky), 10)).toBe(true)
    expect(nestsDeeper(`"${"[".repeat(50)}`, 10)).toBe(false)
  })

  it("says undefined for what is no JSON", () => {
    for (const text of ["", "{", "{'a':1}", "[1,]", "NaN", "undefined", '{"a":1}x', '"\n"'])
      expect(parseJson(text)).toBeUndefined()
  })

  it("leaves out fields that are undefined", () => {
    expect(stringifyJson({ a: 1, b: undefined } as unknown as Json)).toBe('{"a":1}')
  })

  it.prop("writes exactly what JSON.stringify writes where that can write it", [Schema.Json], ([value]) => {
    const text = stringifyJson(value as Json)
    expect(stringifyJson(parseJson(text) as Json)).toBe(text)
    const hasLongDigits = /\d{16}/.test(text)
    if (!hasLongDigits) expect(parseJson(text)).toEqual(value)
    if (!JSON.stringify(value).includes("-0"))
      expect(stringifyJson(value as Json).replaceAll("-0", "0")).toBe(JSON.stringify(value).replaceAll("-0", "0"))
  })

  it.prop(
    "gives back any integer",
    [
      Arbitrary.map(Arbitrary.array(Arbitrary.schema(Schema.Int), { minLength: 1, maxLength: 6 }), (parts) =>
        BigInt(parts.map((part) => Math.abs(part)).join("")),
      ),
    ],
    ([integer]) => {
      expect(BigInt(parseJson(stringifyJson([integer]))?.[0 as never] as unknown as bigint)).toBe(integer)
    },
  )

  it("compares by meaning", () => {
    const same = (a: string, b: string) => equalJson(parseJson(a) as Json, parseJson(b) as Json)
    expect(same('{"a":[1,{"b":null}],"c":"x"}', '{"c":"x","a":[1.0,{"b":null}]}')).toBe(true)
    expect(same("12345678901234567890", "12345678901234567891")).toBe(false)
    expect(same('{"a":1}', '{"b":1}')).toBe(false)
    expect(same("[1]", '{"0":1}')).toBe(false)
    expect(same("[1,2]", "[1]")).toBe(false)
    expect(same('{"toString":1}', '{"a":1}')).toBe(false)
  })

  it("counts bytes as UTF-8", () => {
    expect(utf8Bytes("aä€😀")).toBe(10)
  })
})
