import { describe, expect, it } from "@effect/vitest"
import { Canonical } from "../src/Canonical.ts"
import { digest, encode } from "../src/Identity.ts"
import { fromJson } from "../src/JsonValue.ts"
import { sha256, toHex } from "../src/Sha256.ts"
import { compareText, concat, float, list, merge, object, record, same, sizeOf, type Value } from "../src/Value.ts"

const hex = (value: Value) => toHex(encode(value))

describe("presentation", () => {
  it("sorts keys by UTF-8 bytes and escapes as JSON, controls in lower case", () => {
    expect(Canonical.stringify(record({ b: 1, a: 2, "😀": 3, "\uffff": 4, "": 5 }))).toBe('{"":5,"a":2,"b":1,"\uffff":4,"😀":3}')
    expect(Canonical.stringify('"\\\b\t\n\f\r\u0001\u001f/\u007f\u2028é')).toBe(
      '"\\"\\\\\\b\\t\\n\\f\\r\\u0001\\u001f/\u007f\u2028é"',
    )
    expect(Canonical.stringify("\ud800a\udc00")).toBe('"\\ud800a\\udc00"')
  })

  it("writes integers in decimal and numbers as ECMAScript does", () => {
    expect(Canonical.stringify(list([1, -9223372036854775808n, float(2), float(1e21), float(1e-7), float(-0), float(0.1)]))).toBe(
      "[1,-9223372036854775808,2,1e+21,1e-7,0,0.1]",
    )
  })

  it("refuses Bytes and more than 256 levels", () => {
    expect(Canonical.present(new Uint8Array(2))).toBeInstanceOf(Canonical.NotPresentable)
    const nested = (levels: number) => {
      let value: Value = 1
      for (let level = 0; level < levels; level++) value = list([value])
      return Canonical.present(value)
    }
    expect(typeof nested(256)).toBe("string")
    expect(nested(257)).toBeInstanceOf(Canonical.NotPresentable)
  })
})

describe("identity encoding", () => {
  it("is byte exact", () => {
    expect(hex(null)).toBe("00")
    expect(hex(false)).toBe("01")
    expect(hex(true)).toBe("02")
    expect(hex(-1)).toBe("1001")
    expect(hex(1)).toBe("1002")
    expect(hex(64)).toBe("108001")
    expect(hex(9223372036854775807n)).toBe("10feffffffffffffffff01")
    expect(hex(-9223372036854775808n)).toBe("10ffffffffffffffffff01")
    expect(hex(float(1.5))).toBe("113ff8000000000000")
    expect(hex(float(-0))).toBe("110000000000000000")
    expect(hex("é")).toBe("2002c3a9")
    expect(hex(new Uint8Array([1, 255]))).toBe("210201ff")
    expect(hex(list([1, null]))).toBe("3002100200")
    expect(hex(record({ b: 1, a: null }))).toBe("310220016100200162" + "1002")
  })

  it("is hashed by SHA-256", () => {
    const text = new TextEncoder()
    expect(toHex(sha256(new Uint8Array()))).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    expect(toHex(sha256(text.encode("abc")))).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    expect(toHex(sha256(text.encode("a".repeat(1_000_000))))).toBe(
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
    )
    expect(digest(null)).toBe(toHex(sha256(new Uint8Array([0]))))
  })

  it("agrees with the platform's SHA-256 at every padding length", async () => {
    for (let length = 0; length < 130; length++) {
      const data = Uint8Array.from({ length }, (_, index) => (index * 7) & 255)
      expect(toHex(sha256(data))).toBe(toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", data))))
    }
  })
})

describe("values", () => {
  it("orders strings by scalar value, unlike UTF-16", () => {
    const words = ["\uffff", "😀", "a", "ab", "", "\ud7ff", "\ue000"]
    const bytes = (text: string) => toHex(new TextEncoder().encode(text))
    expect(words.toSorted(compareText)).toEqual(words.toSorted((a, b) => (bytes(a) < bytes(b) ? -1 : 1)))
  })

  it("shares the buffer of a list that grows, and copies it when an older list grows again", () => {
    const first = list([1])
    const second = concat(first, list([2]))
    const third = concat(second, list([3]))
    const other = concat(second, list([4]))
    expect(third.buffer).toBe(second.buffer)
    expect([first, second, third, other].map(Canonical.stringify)).toEqual(["[1]", "[1,2]", "[1,2,3]", "[1,2,4]"])
    expect(Canonical.stringify(concat(third, third))).toBe("[1,2,3,1,2,3]")
  })

  it("estimates a size that is never more than the JSON, and close to it for text and structure", () => {
    const values: ReadonlyArray<Value> = [
      1,
      -1,
      42,
      float(2),
      true,
      null,
      "é😀",
      [],
      ["a"],
      [1, [2, "x"]],
      {},
      { a: 1, b: [null, { c: "😀" }] },
    ].map((value) =>
      typeof value === "object" && value !== null && !("value" in value) ? (fromJson(value) as Value) : (value as Value),
    )
    for (const value of values) {
      const bytes = new TextEncoder().encode(Canonical.stringify(value)).length
      expect(sizeOf(value), Canonical.stringify(value)).toBeLessThanOrEqual(bytes)
      expect(sizeOf(value) * 4, Canonical.stringify(value)).toBeGreaterThanOrEqual(bytes)
    }
    const grown = concat(concat(list([1]), list([2, 3])), list(["x"]))
    expect(grown.size).toBe(list([1, 2, 3, "x"]).size)
    expect(merge(record({ a: 1, b: "x" }), record({ b: "yy", c: 2 })).size).toBe(record({ a: 1, b: "yy", c: 2 }).size)
  })

  it("merges objects without changing either, however many layers they have", () => {
    let value = object(new Map())
    const expected: Record<string, number> = {}
    const older: Array<readonly [Value, string]> = []
    for (let step = 0; step < 400; step++) {
      const key = `k${(step * 7) % 150}`
      value = merge(value, record({ [key]: step }))
      expected[key] = step
      if (step % 50 === 0) older.push([value, Canonical.stringify(value)])
    }
    expect(value.count).toBe(150)
    for (const [key, each] of Object.entries(expected)) expect(value.get(key)).toBe(each)
    expect(same(value, record(expected))).toBe(true)
    for (const [before, text] of older) expect(Canonical.stringify(before)).toBe(text)
  })
})

it("encodes texts that no UTF-8 has, each to bytes of its own", () => {
  const texts = ["\ud800", "\udc00", "\ufffd", "\udc00\ud800", "\ud800\udc00", "a\udfff"]
  expect(new Set(texts.map(hex)).size).toBe(texts.length)
  expect(hex("\ud800\udc00")).toBe("2004f0908080")
  expect(hex("a\ud800é")).toBe("200661eda080c3a9")
})
