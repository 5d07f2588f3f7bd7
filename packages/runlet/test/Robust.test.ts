import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { format } from "../src/Format.ts"
import { heal } from "../src/Heal.ts"
import type { Tool } from "../src/Host.ts"
import { compile, run } from "../src/Runlet.ts"
import { codes, compiled, failure, value } from "./Programs.ts"

/** A megabyte in the long suite, a fifth of it otherwise. */
const scale = process.env.KIT_TEST_LONG === "1" ? 1 : 0.2

const many = (count: number, each: (index: number) => string, separator = "\n") =>
  Array.from({ length: Math.ceil(count * scale) }, (_, index) => each(index)).join(separator)

/** Sources of up to a megabyte in shapes that recursion, or work squared, would trip over. */
const large: { readonly [shape: string]: readonly [source: string, outcome: string] } = {
  "a chain of sums": [`return ${many(200_000, () => "1", " + ")}`, "RL1015"],
  "a chain of minus": [`return ${"-".repeat(900_000 * scale)}1`, "RL1015"],
  "a chain of members": [`x = { a: 1 }\nreturn x${".a".repeat(400_000 * scale)}`, "RL1015"],
  "a chain of calls": [`return x${"()".repeat(400_000 * scale)}`, "RL1015"],
  "a chain of conditions": [`return 1${" if true".repeat(100_000 * scale)}`, "RL1015"],
  "open parentheses": [`return ${"(".repeat(900_000 * scale)}`, "RL1015"],
  "open brackets": [`return ${"[".repeat(900_000 * scale)}`, "RL1015"],
  "open objects": [`return ${"{a:".repeat(300_000 * scale)}`, "RL1015"],
  "else if": [`return if true { return 1 }${" else if false { return 2 }".repeat(30_000 * scale)}`, "ok"],
  bindings: [`${many(40_000, (index) => `a${index} = ${index}`)}\nreturn a1`, "ok"],
  "unknown names": [`${many(30_000, (index) => `a${index} = b${index}`)}\nreturn a1`, "RL2101"],
  discards: [`${many(50_000, (index) => `_ = ${index}`)}\nreturn 1`, "ok"],
  "a long list": [`return [${many(150_000, () => "1", ",")}]`, "ok"],
  "a long object": [`return {${many(60_000, (index) => `k${index}: 1`, ",")}}`, "ok"],
  "newlines and semicolons": [`${"\n;".repeat(400_000 * scale)}return 1`, "ok"],
  "a long comment": [`#${"x".repeat(1_000_000)}\nreturn 1`, "ok"],
  "a long string": [`return text.length("${"é".repeat(400_000 * scale)}")`, "ok"],
  "types built on types": [
    `a0 = 1\n${many(400 / scale, (index) => `a${index + 1} = { l: a${index}, r: a${index} }`)}\nb = [a400, a399] == [a398]\nreturn 1`,
    "ok",
  ],
}

describe("sources of a megabyte", () => {
  for (const [shape, [source, outcome]] of Object.entries(large))
    it(shape, () => {
      const result = compile(source)
      expect(result.ok ? "ok" : result.diagnostics[0]!.code).toBe(outcome)
      if (outcome === "RL1015") expect(format(source)).toBeNull()
      expect(heal(source)).toBeNull()
    })
})

it("a check leaves patterns to the run that would take it too long", () => {
  const classes = many(1_000, (index) => `_ = regex.test("a", "[\\\\p{L}&&[^a]]${index}")`)
  compiled(`${classes}\n_ = regex.test("a", "(")\nreturn 1`)
  expect(codes(`_ = regex.test("a", "(")\n${classes}\nreturn 1`)).toEqual(["RL2316"])
})

describe("long runs", () => {
  it.effect("walk 65,536 elements", () =>
    Effect.gen(function* () {
      expect(yield* value("xs = for i in list.range(0, 65536) { return i }\nreturn [list.length(xs), xs[-1]]")).toBe(
        "[65536,65535]",
      )
      expect(yield* value("return fold a = 0 for i in list.range(0, 65536) { return a + i }")).toBe("2147450880")
    }),
  )

  it.effect("append to lists, merge into objects and index texts without copying them at each step", () =>
    Effect.gen(function* () {
      const limits = { graphNodes: 10_000_000 }
      expect(
        yield* value("xs = fold a = [] for i in list.range(0, 60000) { return a + [i] }\nreturn list.length(xs)", { limits }),
      ).toBe("60000")
      expect(
        yield* value('o = fold a = {} for i in list.range(0, 30000) { return a + { [i]: i } }\nreturn o["29999"]', { limits }),
      ).toBe("29999")
      const text = { name: "s", schema: true, value: "ab😀".repeat(100_000) } as const
      expect(
        yield* value("xs = for i in list.range(0, 20000) { return s[i * 10] }\nreturn xs[1]", { inputs: [text], limits }),
      ).toBe('"b"')
    }),
  )

  it.effect("bound nesting of the program itself", () =>
    Effect.gen(function* () {
      const nested = (levels: number) => `return ${"if true { return ".repeat(levels)}1${" }".repeat(levels)}`
      expect(yield* value(nested(60))).toBe("1")
      expect(codes(nested(64))).toEqual(["RL1015"])
      expect((yield* failure(`return ${"for i in list.range(0, 100) { return ".repeat(10)}1${" }".repeat(10)}`)).code).toBe(
        "RL4105",
      )
    }),
  )

  it.live("give way in proportion to what functions, conversions, calls and patterns look at", () =>
    Effect.gen(function* () {
      const tool: Tool = {
        name: "take",
        summary: "",
        parameters: [{ name: "xs", schema: { type: "array", items: { type: "integer", multipleOf: 1 } } }],
        output: true,
        policy: "pure",
        schemaVersion: "1",
        handler: () => Effect.succeed(1),
      }
      const work = [
        "text.length(json.encode(xs))",
        "list.sort(xs)[0]",
        "list.length(list.slice(xs, 1))",
        "text.length(xs)",
        'text.length(text.join(xs, ""))',
        'regex.test(s, "[a-z]+[0-9]")',
        'regex.test("a", "(?:a?){900}" + i)',
        'regex.test("a", "[a-f][b-" + "fghijklmnop"[i % 11] + "]" + i)',
        "text.length(text.upper(s))",
        "take(xs)",
      ]
      for (const expr of work) {
        const source = `xs = list.range(0, 20000)\ns = fold s = "a" for i in list.range(0, 15) { return s + s }\nys = for i in list.range(0, 60) { return ${expr} }\nreturn list.length(ys)`
        let turns = 0
        const other = yield* Effect.forkChild(
          Effect.forever(
            Effect.andThen(
              Effect.sync(() => turns++),
              Effect.yieldNow,
            ),
          ),
        )
        yield* run(compiled(source, { tools: [tool] }))
        expect(turns, expr).toBeGreaterThan(3)
        other.interruptUnsafe()
      }
    }),
  )

  it.live("keep other fibers running", () =>
    Effect.gen(function* () {
      let turns = 0
      const program = compiled("return fold a = 0 for i in list.range(0, 60000) { return a + i }")
      const other = yield* Effect.forkChild(
        Effect.forever(
          Effect.andThen(
            Effect.sync(() => turns++),
            Effect.yieldNow,
          ),
        ),
      )
      yield* run(program)
      expect(turns).toBeGreaterThan(5)
      other.interruptUnsafe()
    }),
  )
})
