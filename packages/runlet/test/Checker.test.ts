import { describe, expect, it } from "@effect/vitest"
import { effort, nearest } from "../src/Nearest.ts"
import { codes, compiled, refused, warnings } from "./Programs.ts"
import { Stage } from "./Scripted.ts"

const stage = new Stage()
const tools = [
  stage.tool({
    name: "net.get",
    params: [{ type: "string" }, { type: "integer" }],
    required: 1,
    output: { type: "string" },
    policy: "idempotent",
    impl: {},
  }),
  stage.tool({
    name: "net.put",
    params: [
      {
        type: "object",
        properties: { id: { type: "integer" }, tag: { type: "string" } },
        required: ["id"],
        additionalProperties: false,
      },
    ],
    output: true,
    policy: "at_most_once",
    impl: {},
  }),
  stage.tool({
    name: "net.scores",
    params: [{ type: "object", additionalProperties: { type: "number" } }],
    output: true,
    impl: {},
  }),
  stage.tool({
    name: "net.rows",
    output: { type: "array", items: { type: "object", properties: { v: { type: "integer" } }, required: ["v"] } },
    impl: {},
  }),
  stage.tool({ name: "ns.a.b", output: true, impl: {} }),
  stage.tool({ name: "maybe", output: { type: ["string", "null"] }, impl: {} }),
]
const options = { tools }
const all = (source: string) => codes(source, options)
const first = (source: string) => refused(source, options)[0]!
const fine = (source: string) => compiled(source, options)

it("spends a bounded effort on suggestions, however many and long the names are", () => {
  const spent = effort()
  const names = Array.from({ length: 4_000 }, (_, at) => `${"abcdefghij".repeat(9)}${at}`)
  const words = Array.from({ length: 50 }, (_, at) => `${"abcdefghij".repeat(9)}x${at}`)
  for (const word of words) nearest(word, names, false, spent)
  expect(spent.left).toBeLessThanOrEqual(0)
  expect(spent.left).toBeGreaterThan(-10_000)
  expect(nearest("totl", ["total"], false, spent)).toEqual([])
  expect(nearest("totl", ["total", "other", "t"])).toEqual(["total"])
})

describe("names", () => {
  it("RL2101 suggests the nearest of names and tools", () => {
    expect(first("total = 1\nreturn totl")).toMatchObject({
      code: "RL2101",
      title: "unknown name",
      message: "`totl` is not a local, host input, or registered callable",
    })
    expect(first("total = 1\nreturn totl").candidates[0]).toBe("total")
    expect(first("total = 1\nreturn upper").candidates).toEqual(["text.upper"])
    expect(first("ab = 1\nreturn quite_something_else").candidates).toEqual([])
    expect(first("ab = 1\nreturn x").candidates).toEqual([])
  })

  it("RL2101 refuses a namespace as a value", () => {
    expect(all("return ns.a")).toEqual(["RL2101"])
    expect(all("return net")).toEqual(["RL2101"])
  })

  it("RL2102 suggests the nearest callables and what to write instead", () => {
    expect(first('return net.gt("x")')).toMatchObject({
      code: "RL2102",
      title: "unknown callable",
      candidates: expect.arrayContaining(["net.get"]),
    })
    for (const [call, hint] of [
      ['text.contains("a", "b")', "needle in s"],
      ["list.sum([1])", "fold"],
      ["list.filter([1])", "skip if"],
      ["list.group_by([1])", "computed keys"],
      ["object.keys({})", "iterate"],
      ["object.merge({}, {})", "a + b"],
      ['regex.match("", "")', "regex.captures"],
      ["math.max(1, 2)", "conditional"],
      ["time.now()", "host input"],
      ["time.add(1, 2)", "milliseconds"],
      ["number.format(1)", "`+`"],
      ['config.get("k")', "membership guard"],
    ] as const)
      expect(first(`return ${call}`).message).toContain(hint)
  })

  it("RL2104 refuses calls of values", () => {
    expect(all("x = [1]\nreturn x[0](1)")).toContain("RL2104")
  })

  it("RL2106 refuses a second binding in one scope: names, inputs, items, accumulators, catch names", () => {
    expect(first("a = 1\na = 2\nreturn a").message).toContain("immutable")
    expect(codes("n = 1\nreturn n", { inputs: [{ name: "n", schema: true, value: 1 }] })).toEqual(["RL2106"])
    expect(all("return for i in [1] { i = 2; return i }")).toEqual(["RL2106"])
    expect(all("return fold a = 0 for i in [1] { a = 2; return a }")).toEqual(["RL2106"])
    expect(all("return boundary { return 1 } catch e { e = 1; return e }")).toEqual(["RL2106"])
    fine("a = 1\nb = for i in [1] { a = 2; return a }\nreturn [a, b]")
    fine("_ = 1\n_ = 2\nreturn 3")
  })

  it("RL2107 keeps bindings off the roots of tools in every scope, not loop names", () => {
    expect(first("net = 1\nreturn 1")).toMatchObject({ code: "RL2107", fixes: [{ replacement: "net_value" }] })
    expect(first("net = 1\nreturn net")).toMatchObject({ code: "RL2107", fixes: [] })
    expect(all("return for i in [1] { text = 1; return text }")).toEqual(["RL2107"])
    fine('return for text in ["a"] { return text.upper(text) }')
  })

  it("RL4104 refuses an inner binding that reads the outer one of its name", () => {
    expect(all("x = 1\ny = for i in [1] { x = x + 1; return x }\nreturn y")).toEqual(["RL4104"])
    expect(all("x = x + 1\nreturn x")).toEqual(["RL2101"])
  })

  it("RL8102 refuses an input given twice or outside its schema", () => {
    const twice = { name: "n", schema: true, value: 1 } as const
    expect(codes("return 1", { inputs: [twice, twice] })).toEqual(["RL8102"])
    expect(codes("return 1", { inputs: [{ name: "n", schema: { type: "string" }, value: 1 }] })).toEqual(["RL8102"])
  })
})

it("RL8103 refuses tools of one name, and names with an empty segment", () => {
  const twice = [
    stage.tool({ name: "a.b", impl: {} }),
    stage.tool({ name: "a.b", impl: {} }),
    stage.tool({ name: "a..c", impl: {} }),
  ]
  expect(refused("return 1", { tools: twice }).map(({ code, message }) => `${code} ${message}`)).toEqual([
    "RL8103 duplicate tool `a.b`",
    "RL8103 tool names must contain non-empty path segments, not `a..c`",
  ])
})

describe("properties and indexes", () => {
  it("RL2103 writes the type and the known names", () => {
    expect(first('x = { a: 1, b: "s" }\nreturn x.c')).toMatchObject({
      code: "RL2103",
      message: "property `c` is not available on this value of type { a: int, b: string }",
      candidates: ["a", "b"],
    })
    expect(first("return [1].size").message).toBe(
      "property `size` is not available on this value of type int[] — iterate or index the list itself",
    )
  })

  it("writes optional keys, maps, unions, enums and deep objects in messages", () => {
    const shown = (schema: object) =>
      refused("return x.nope_", {
        inputs: [{ name: "x", schema: { anyOf: [schema, { type: "null" }] } as never, value: null }],
      })[0]!.message.split("type ")[1]
    expect(
      shown({
        type: "object",
        properties: { b: { type: "number" }, a: { type: "boolean" } },
        required: ["a"],
        additionalProperties: false,
      }),
    ).toBe("{ a: boolean, b?: number } | null")
    expect(shown({ type: "array", items: { type: ["integer", "string"] } })).toBe("int | string[] | null")
    expect(shown({ enum: ["a", "b"] })).toBe('"a" | "b" | null')
    expect(
      shown({
        type: "object",
        properties: {
          a: {
            type: "object",
            properties: { b: { type: "object", properties: { c: { type: "null" } }, additionalProperties: false } },
            additionalProperties: false,
          },
        },
        additionalProperties: false,
      }),
    ).toBe("{ a?: { b?: object } } | null")
  })

  it("is lenient on unions and on what is not known", () => {
    fine("x = { a: 1 } if 1 < 2\nreturn x.a")
    fine('return json.parse("1").a.b[0]')
    fine("xs = [1] if true\nreturn xs[0] if xs != null")
  })

  it("RL2308 refuses indexes that never fit", () => {
    for (const source of ['[1]["a"]', '"a"["a"]', "{ a: 1 }[0]", "1[0]", "[1][1.5]", "null[0]"])
      expect(all(`return ${source}`), source).toEqual(["RL2308"])
    fine('return [[1][0], "a"[0], { a: 1 }["a"]]')
  })
})

describe("operators and conditions", () => {
  it("RL2304 refuses operands that never fit", () => {
    for (const source of [
      '"a" - "b"',
      "[1] + 1",
      "{} + []",
      "1 % 2.0",
      "true + 1",
      'null + "a"',
      '1 < "a"',
      '-"a"',
      "not 1",
      "[1] < [2]",
    ])
      expect(all(`return ${source}`), source).toEqual(["RL2304"])
    fine('return [1 + 2.0, "a" + 1, "a" + [1], [1] + ["a"], {a: 1} + {b: 2}, 1 == "a", 1 in [2], 1 / 2, 5 % 2, "a" < "b"]')
  })

  it("RL2305 refuses conditions that are no Boolean", () => {
    for (const source of [
      "1 if 1 else 2",
      'if "" { return 1 }',
      "1 and true",
      "for x in [] { skip if 1; return 1 }",
      "if null { return 1 }",
    ])
      expect(all(`x = ${source}\nreturn x`), source).toContain("RL2305")
    expect(all("assert([1])\nreturn 1")).toEqual(["RL2305"])
    fine('return 1 if json.parse("true")')
  })

  it("says which types an operator, a condition or an index was given", () => {
    expect(first("return [1] + 1").message).toBe("operator does not accept these operand schemas: int[] + int")
    expect(first("return not 1").message).toBe("operator does not accept this schema: not int")
    expect(first('return 1 if "a"').message).toContain("condition must be Boolean, got string; there is no truthiness")
    expect(first('return [1]["a"]').message).toBe("target and index schemas are incompatible: int[] by string")
  })

  it("RL2301 and RL2302 bound literals, -2^63 included", () => {
    expect(all("return 9223372036854775808")).toEqual(["RL2301"])
    fine("return [9223372036854775807, -9223372036854775808, - 9223372036854775808]")
    expect(all("return -(9223372036854775808)")).toEqual(["RL2301"])
    expect(all("return -(\n9223372036854775808)")).toEqual(["RL2301"])
    expect(all("return -9223372036854775809")).toEqual(["RL2301"])
    expect(all("return 1e999")).toEqual(["RL2302"])
    expect(all("return 1e")).toEqual(["RL2302"])
  })

  it("RL2315 refuses computed keys that have no text", () => {
    expect(first("return { [[1]]: 1 }").message).toBe("computed property keys must be strings or scalar values, got list")
    fine('return { [1]: 1, [true]: 2, [1.5]: 3, ["a"]: 4 }')
  })

  it("RL2317 refuses assert messages that are never a string, and accepts a union that may be one", () => {
    expect(all("assert(true, 1)\nreturn 1")).toEqual(["RL2317"])
    expect(compiled("assert(true, maybe())\nreturn 1", options).source).toBeTruthy()
  })
})

describe("calls", () => {
  it("RL2208 counts arguments", () => {
    expect(first("return net.get()").message).toBe("`net.get` expects 1 to 2 arguments but received 0")
    expect(first('return net.get("a", 1, 2)').message).toBe("`net.get` expects 1 to 2 arguments but received 3")
    expect(first("return text.upper()").message).toBe("`text.upper` expects 1 argument but received 0")
    expect(all('return net.get("a", 1, nowhere)')).toEqual(["RL2208"])
    expect(all("return nothing.at_all(nowhere)")).toEqual(["RL2102"])
    fine('return net.get("a",)')
  })

  it("RL2311 refuses arguments that can never be converted", () => {
    for (const source of [
      "net.get(null)",
      'net.get("a", 1.5)',
      "net.put({})",
      "net.put({ id: 1, no: 2 })",
      'net.put({ id: "x" })',
      'net.scores({ a: "x" })',
      "net.put(1)",
    ])
      expect(all(`return ${source}`), source).toEqual(["RL2311"])
    for (const source of [
      "net.get(1)",
      "net.get([1])",
      "net.put({ id: 1, tag: null })",
      "net.put({ id: 1, tag: 5 })",
      "net.scores({ a: 1 })",
      'net.put(json.parse("1"))',
      "net.get(maybe())",
    ])
      fine(`return ${source}`)
  })

  it("RL2311 says what is at fault", () => {
    const said = (source: string) => first(`return ${source}`).message.split("schema: ")[1]
    expect(said("net.get(null)")).toBe("expected string, got null")
    expect(said("net.put({})")).toBe("missing `id`")
    expect(said("net.put({ id: 1, no: 2 })")).toBe("unknown property `no`; known are `id`, `tag`")
    expect(said('net.put({ id: "x" })')).toBe("property `id`: expected int, got string")
  })

  it("RL2314 checks what fail is given", () => {
    expect(all('return fail("A")')).toEqual(["RL2314"])
    expect(first('return fail(1, "m")').message).toBe("fail code must be a string, got int")
    expect(first('return fail("A", null)').message).toBe("fail message must be a string, got null")
    expect(first('return fail("A", "m", 1)').message).toBe("fail details must be an object")
    fine('return fail("A", "m", { a: 1 })')
  })

  it("RL2316 compiles literal patterns, with a word on look-around", () => {
    expect(first('return regex.test("a", "(")')).toMatchObject({
      code: "RL2316",
      message: expect.stringContaining("RL5210: INVALID_REGEX"),
    })
    expect(first('return regex.find_all("a", "(?=a)")').message).toContain("lookaround is not supported")
    fine('p = "("\nreturn regex.test("a", p)')
  })
})

describe("loops and folds", () => {
  it("RL2309 refuses what cannot be walked", () => {
    expect(first("return for x in 1 { return x }").message).toBe("for collection must be a list, object, or map, got int")
    expect(first('return fold a = 0 for x in "s" { return a }').message).toBe(
      "fold collection must be a list, object, or map, got string",
    )
  })

  it("types the items of lists and objects", () => {
    expect(all("return for x in [1] { return x.key }")).toEqual(["RL2103"])
    fine("return for e in { a: 1 } { return e.key + e.value }")
    fine("return for r in net.rows() { return r.w.x }")
    expect(all("return for r in net.rows() { return r.v.x }")).toEqual(["RL2103"])
  })

  it("RL2313 keeps one schema for the accumulator, null and computed keys widening", () => {
    expect(first('return fold a = 0 for i in [1] { return "s" }').message).toBe(
      "fold accumulator must keep one schema: the initial value is int but the body returns string",
    )
    expect(all("return fold a = {} for i in [1] { return { n: i } }")).toEqual(["RL2313"])
    expect(first('return fold a = { n: 0 } for i in [1] { return { n: "x" } }').message).toContain("property `n`: ")
    fine("return fold a = null for i in [1] { return i }")
    fine('return fold a = {} for i in ["k"] { return a + { [i]: 1 } }')
    fine("return fold a = { best: null, n: 0 } for i in [1] { return { best: i, n: a.n + 1 } }")
    fine("return fold a = [] for i in [1] { return a + [i] }")
  })

  it("checks nested folds in bounded time", () => {
    fine(`return ${"fold a = null for i in [1] { return ".repeat(60)}1${" }".repeat(60)}`)
  })
})

describe("warnings", () => {
  it("RL1205 names pure bindings that nobody needs, through nested blocks", () => {
    expect(compiled("a = 1\nreturn 2").warnings[0]).toMatchObject({
      code: "RL1205",
      title: "unused binding",
      severity: "warning",
    })
    expect(compiled('a = text.upper("x")\nreturn 2').warnings[0]!.title).toBe("unused tool call")
    expect(warnings("a = 1\nb = for i in [1] { return a }\nreturn b")).toEqual([])
    expect(warnings("a = 1\nb = a\nreturn 2")).toEqual(["RL1205", "RL1205"])
    expect(warnings("a = 1\nassert(a == 1)\nreturn 2")).toEqual([])
    expect(warnings("a = 1\n_ = a\nreturn 2")).toEqual([])
    expect(warnings("a = net.put({ id: 1 })\nreturn 2", options)).toEqual([])
    expect(warnings("a = 1\nb = for i in [1] { a = 2; return a }\nreturn b")).toEqual(["RL1205"])
  })

  it("RL1206 finds effects of a fold that do not look at the accumulator", () => {
    expect(warnings("return fold a = 0 for i in [1] { x = net.put({ id: i }); return a + i }", options)).toEqual(["RL1206"])
    expect(warnings("return fold a = 0 for i in [1] { n = a + i; x = net.put({ id: n }); return a + i }", options)).toEqual([])
    expect(warnings("return fold a = 0 for i in [1] { _ = net.put({ id: i }); return a + i }", options)).toEqual(["RL1206"])
  })

  it("RL1207 finds an `after` that has nothing to order", () => {
    expect(warnings("return after net.rows() { return 1 }", options)).toEqual(["RL1207"])
    expect(warnings("return after 1 { return net.rows() }", options)).toEqual([])
    expect(warnings("return after 1 { x = if true { return net.rows() }; return x }", options)).toEqual([])
  })
})

it("reports independent errors together, in source order, warnings behind them", () => {
  expect(all("a = nope\nunused = 1\nb = [1].x\nreturn [a, b, 1 + true]")).toEqual(["RL2101", "RL2103", "RL2304", "RL1205"])
})
