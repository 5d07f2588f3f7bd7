import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { prelude } from "../src/Prelude.ts"
import { failure, value } from "./Programs.ts"

const gives = (expected: ReadonlyArray<readonly [source: string, text: string]>) =>
  Effect.forEach(expected, ([source, text]) => Effect.map(value(`return ${source}`), (found) => expect(found, source).toBe(text)))

const fails = (expected: ReadonlyArray<readonly [source: string, code: string, part?: string]>) =>
  Effect.forEach(expected, ([source, code, part]) =>
    Effect.map(failure(`a = ${source}\nreturn a`), (error) => {
      expect(error.code, source).toBe(code)
      expect(source.includes("\n") ? 1 : error.line).toBe(1)
      if (part !== undefined) expect(error.message).toContain(part)
    }),
  )

it("has 28 functions, all pure under one schema version", () => {
  expect(prelude).toHaveLength(28)
  expect(new Set(prelude.map(({ name }) => name)).size).toBe(28)
})

describe("text", () => {
  it.effect("counts characters and converts arguments like any call", () =>
    gives([
      ['text.length("a😀é")', "3"],
      ["text.length(123)", "3"],
      ["text.length([1, 2])", "5"],
    ]),
  )

  it.effect("maps case in full, without a locale", () =>
    gives([
      ['text.upper("straße ß ﬁ i")', '"STRASSE SS FI I"'],
      ['text.lower("ΑΣ İ")', '"ας i̇"'],
    ]),
  )

  it.effect("trims the white space of Unicode", () =>
    gives([
      ['text.trim("\\u0085\\u3000 a b \\u2028\\t")', '"a b"'],
      ['text.trim("\\ufeffa")', '"\ufeffa"'],
    ]),
  )

  it.effect("slices, splits, joins and replaces", () =>
    gives([
      ['text.slice("abcdef", 1, 3)', '"bc"'],
      ['text.slice("abcdef", -2)', '"ef"'],
      ['text.slice("abcdef", 4, 2)', '""'],
      ['text.slice("a😀b", 1, 99)', '"😀b"'],
      ['text.slice("abc", -99, 2)', '"ab"'],
      ['text.split("a,b,,c", ",")', '["a","b","","c"]'],
      ['text.split("", ",")', '[""]'],
      ['text.join(["a", 1, true], "-")', '"a-1-true"'],
      ['text.join([], "-")', '""'],
      ['text.replace("aXbX", "X", "$&")', '"a$&b$&"'],
      ['text.replace("aaa", "aa", "b")', '"ba"'],
      ['text.starts_with("abc", "ab")', "true"],
      ['text.ends_with("abc", "ab")', "false"],
    ]),
  )

  it.effect("RL5201 refuses empty separators", () =>
    fails([
      ['text.split("a", "")', "RL5201"],
      ['text.replace("a", "", "b")', "RL5201"],
    ]),
  )
})

describe("regex", () => {
  it.effect("finds, captures, replaces and splits", () =>
    gives([
      ['regex.test("xaby", "^a.y")', "false"],
      ['regex.test("xaby", "ab")', "true"],
      ['regex.find_all("abc", "")', '["","","",""]'],
      ['regex.find_all("aaa", "a*")', '["aaa"]'],
      ['regex.find_all("Größe ٣", "\\\\w+")', '["Größe","٣"]'],
      ['regex.split("abc", "")', '["","a","b","c",""]'],
      ['regex.split("a1b22c", "\\\\d+")', '["a","b","c"]'],
      ['regex.captures("x", "y")', "null"],
      [
        'regex.captures("k=v", "(?<key>\\\\w)=(?P<val>\\\\w)(z)?")',
        '{"full":"k=v","groups":["k","v",null],"names":{"key":"k","val":"v"}}',
      ],
      ['regex.replace("k=v", "(?<key>\\\\w)=(\\\\w)", "$2=$\\u007bkey}$$$1x$9")', '"v=k$"'],
      ['regex.replace("aXb", "X", "[$0]")', '"a[X]b"'],
      ['regex.replace("abc", "", "-")', '"-a-b-c-"'],
    ]),
  )

  it.effect("RL5210 refuses patterns known only at run time", () =>
    Effect.gen(function* () {
      const error = yield* failure('p = "a" + "("\nreturn regex.test("a", p)')
      expect(error).toMatchObject({ code: "RL5210", line: 2 })
      const long = yield* failure('p = text.join(for i in list.range(0, 400) { return "abc" }, "")\nreturn regex.test("a", p)')
      expect(long.message).toContain("1000 bytes")
    }),
  )

  it.effect("RL4113 gives up a search that would block everything else", () =>
    Effect.map(
      failure('s = fold a = "a" for i in list.range(0, 18) { return a + a }\nreturn regex.test(s, "(?:a{1,100}){1,60}b")'),
      (error) => expect(error.code).toBe("RL4113"),
    ),
  )
})

describe("list", () => {
  it.effect("sorts stably, strings by character, numbers exactly", () =>
    gives([
      ['list.sort(["b", "a", "😀", "\\uffff", "B"])', '["B","a","b","\uffff","😀"]'],
      ["list.sort([3, 1.5, 2, 9007199254740993, 9007199254740992])", "[1.5,2,3,9007199254740992,9007199254740993]"],
      ["list.sort([])", "[]"],
      ['list.sort_by([{ k: 2, n: "a" }, { k: 1 }, { k: 2, n: "b" }], "k", "desc")', '[{"k":2,"n":"a"},{"k":2,"n":"b"},{"k":1}]'],
      ['list.sort_by([{ n: null }, { n: 1 }, {}, 5], "n", "asc")', '[{"n":1},{"n":null},{},5]'],
    ]),
  )

  it.effect("slices and counts", () =>
    gives([
      ["list.length([1, null])", "2"],
      ["list.slice([1, 2, 3, 4], 1, -1)", "[2,3]"],
      ["list.slice([1, 2], 5)", "[]"],
      ["list.range(0, 3)", "[0,1,2]"],
      ["list.range(5, 0, -2)", "[5,3,1]"],
      ["list.range(0, 5, -1)", "[]"],
      ["list.range(9223372036854775805, 9223372036854775807, 1)", "[9223372036854775805,9223372036854775806]"],
      ["list.range(9223372036854775800, 9223372036854775807, 5)", "[9223372036854775800,9223372036854775805]"],
    ]),
  )

  it.effect("refuses mixes, directions it does not know, zero steps and long ranges", () =>
    fails([
      ['list.sort([1, "a"])', "RL5201"],
      ["list.sort([true])", "RL5201"],
      ["list.sort([1, null])", "RL5201"],
      ['list.sort_by([{ a: 1 }, { a: "x" }], "a")', "RL5201"],
      ['list.sort_by([], "a", "up")', "RL5201"],
      ["list.range(0, 1, 0)", "RL5214"],
      ["list.range(0, 65537)", "RL5201"],
    ]),
  )
})

describe("json", () => {
  it.effect("reads numbers by how they are written, and the last of equal keys", () =>
    gives([
      [
        'json.parse("[1, -0, 1.0, 1e2, 9223372036854775807, 9223372036854775808]")',
        "[1,0,1,100,9223372036854775807,9223372036854776000]",
      ],
      ['json.parse("1") + 9007199254740993', "9007199254740994"],
      ['json.parse("{\\"a\\":1,\\"a\\":{\\"b\\":[null,true,\\"\\\\u00e9\\\\n\\"]}}")', '{"a":{"b":[null,true,"é\\n"]}}'],
      ['json.encode({ b: 1, a: [2.0, "x"] })', '"{\\"a\\":[2,\\"x\\"],\\"b\\":1}"'],
      ['[json.parse("1") == 1, [json.parse("1.0")] == [1]]', "[true,false]"],
    ]),
  )

  it.effect("RL5211 says where a text is no JSON", () =>
    fails([
      ['json.parse("{\\"a\\":\\n 1,}")', "RL5211", "line 2 column 4"],
      ['json.parse("")', "RL5211"],
      ['json.parse("01")', "RL5211"],
      ['json.parse("[1] x")', "RL5211"],
      ['json.parse("\\"\\\\ud800\\"")', "RL5211"],
      ['json.parse("1e999")', "RL5211"],
      ['json.parse("nul")', "RL5211"],
    ]),
  )

  it.effect("RL5211 takes 127 levels", () =>
    Effect.gen(function* () {
      const nested = (levels: number) => ({
        inputs: [{ name: "s", schema: true, value: "[".repeat(levels) + "]".repeat(levels) }],
      })
      yield* value("x = json.parse(s)\nreturn list.length(x)", nested(127))
      expect((yield* failure("return json.parse(s)", nested(128))).code).toBe("RL5211")
    }),
  )
})

describe("number", () => {
  it.effect("rounds halves away from zero", () =>
    gives([
      ["[number.round(2.5), number.round(-2.5), number.round(0.49999999999999994), number.round(-0.4)]", "[3,-3,0,0]"],
      ["[number.floor(-1.5), number.ceil(-1.5), number.floor(3), number.ceil(1e15)]", "[-2,-1,3,1000000000000000]"],
      [
        '[number.parse(" +7 "), number.parse("1e3"), number.parse("1."), number.parse(".5"), number.parse("-0")]',
        "[7,1000,1,0.5,0]",
      ],
      ['number.parse("9223372036854775807") - 1', "9223372036854775806"],
      ['[number.parse("1") == 1, [number.parse("1.0")] == [1]]', "[true,false]"],
    ]),
  )

  it.effect("refuses what is no number", () =>
    fails([
      ["number.round(1e300)", "RL5101"],
      ["number.floor(9007199254740993)", "RL5208"],
      ...["inf", "nan", "0x10", "1_000", "1,000", "", "--1", "1e", "."].map(
        (text) => [`number.parse("${text}")`, "RL5212"] as const,
      ),
    ]),
  )
})

describe("time", () => {
  it.effect("reads RFC 3339 and dates, and writes UTC", () =>
    gives([
      ['time.parse("1970-01-01")', "0"],
      ['time.parse(" 2024-02-29t12:30:45.123456+05:30 ")', "1709190045123"],
      ['time.parse("2016-12-31 23:59:60Z")', "1483228799000"],
      ['time.parse("0000-01-01")', "-62167219200000"],
      ['time.parse("1969-12-31T23:59:59.999z")', "-1"],
      ["time.format(0)", '"1970-01-01T00:00:00Z"'],
      ["time.format(-1)", '"1969-12-31T23:59:59.999Z"'],
      ["time.format(253402300799999)", '"9999-12-31T23:59:59.999Z"'],
      ["time.format(-62167219200000)", '"0000-01-01T00:00:00Z"'],
    ]),
  )

  it.effect("agrees with the calendar of the platform over four centuries", () =>
    Effect.gen(function* () {
      const days = Array.from({ length: 400 }, (_, index) => index * 367 * 86_400_000 + 12_345)
      const found = yield* value("return for d in days { return time.format(d) }", {
        inputs: [{ name: "days", schema: true, value: days }],
      })
      expect(JSON.parse(found)).toEqual(days.map((ms) => new Date(ms).toISOString()))
      const back = yield* value("return for d in days { return time.parse(time.format(d)) }", {
        inputs: [{ name: "days", schema: true, value: days }],
      })
      expect(JSON.parse(back)).toEqual(days)
    }),
  )

  it.effect("RL5213 says what is wrong", () =>
    fails([
      ['time.parse("yesterday")', "RL5213", "malformed date"],
      ['time.parse("2023-02-29")', "RL5213", "no such calendar date"],
      ['time.parse("2023-02-28x10:00:00Z")', "RL5213", "expected `T` between date and time"],
      ['time.parse("2023-02-28T10:00Z")', "RL5213", "malformed time"],
      ['time.parse("2023-02-28T24:00:00Z")', "RL5213", "no such time of day"],
      ['time.parse("2023-02-28T10:00:00.Z")', "RL5213", "empty fractional seconds"],
      ['time.parse("2023-02-28T10:00:00")', "RL5213", "missing timezone (append `Z`)"],
      ['time.parse("2023-02-28T10:00:00X")', "RL5213", "malformed timezone"],
      ['time.parse("2023-02-28T10:00:00+0100")', "RL5213", "malformed UTC offset"],
      ["time.format(253402300800000)", "RL5213"],
      ["time.format(9223372036854775807)", "RL5213"],
    ]),
  )
})
