import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { applied, moved } from "../src/Fixes.ts"
import type { Tool } from "../src/Host.ts"
import { compile, type Diagnostic } from "../src/Runlet.ts"
import { mutated, program, soup } from "./Generate.ts"

const CASES = process.env.KIT_TEST_LONG === "1" ? 10_000 : 400

const tools: ReadonlyArray<Tool> = ["net.get", "p.int", "p.str", "w.int", "flaky.int", "soft.int"].map((name) => ({
  name,
  summary: "",
  parameters: [{ name: "x", schema: true }],
  output: true,
  policy: "pure",
  schemaVersion: "1",
  handler: () => {
    throw new Error("nothing is called")
  },
}))

const found = (source: string): ReadonlyArray<Diagnostic> => {
  const compiled = compile(source, { tools })
  return compiled.ok ? compiled.warnings : compiled.diagnostics
}

/** Applies every fix of a source; how many there were. */
const tried = (source: string): number => {
  let count = 0
  for (const diagnostic of found(source))
    for (const fix of diagnostic.fixes) {
      count++
      const text = applied(source, fix)
      expect(text, `${diagnostic.code} ${JSON.stringify(source)}`).not.toBe(source)
      const place = moved(diagnostic.span.start, fix)
      const again = found(text).filter(({ code, span }) => code === diagnostic.code && span.start === place)
      expect(again, `${JSON.stringify(source)}\n${fix.message}: ${JSON.stringify(text)}`).toEqual([])
    }
  return count
}

/** The one fix of the first diagnostic, applied. */
const fixed = (source: string): string | undefined => {
  const [first] = found(source)
  const [fix] = first!.fixes
  return fix === undefined ? undefined : applied(source, fix)
}

describe("fixes that are offered", () => {
  it.each([
    ["return (1 + 2", "return (1 + 2)"],
    ["return [1, { a: (2", "return [1, { a: (2)}]"],
    ["x = (1\nreturn x", "x = (1)\nreturn x"],
    ['x = { "a" 1 }\nreturn x', 'x = { "a": 1 }\nreturn x'],
    ["xs = for i [1] { return i }\nreturn xs", "xs = for i in  [1] { return i }\nreturn xs"],
    ["a = 1 b = 2\nreturn a", "a = 1 \nb = 2\nreturn a"],
    ["x = if true { 5 }\nreturn x", "x = if true { return 5 }\nreturn x"],
    ["x = if true { a = 5 }\nreturn x", "x = if true { a = 5 \nreturn null\n}\nreturn x"],
    ["a = 1\na + 1", "a = 1\nreturn a + 1"],
    ["for x in [1] { return x }", "return for x in [1] { return x }"],
    ["return true && false", "return true and false"],
    ["return 'it'", 'return "it"'],
    ["let a = 1\nreturn a", "a = 1\nreturn a"],
    ["return 1 @@ ", "return 1  "],
    ['x = "abc\nreturn x', 'x = "abc"\nreturn x'],
    ['return regex.test("1", "\\d+")', 'return regex.test("1", "\\\\d+")'],
    ['n = 1\nreturn f"n: {n}!"', 'n = 1\nreturn ("n: " + n + "!")'],
    ["text = 1\nreturn 2", "text_value = 1\nreturn 2"],
  ])("%j", (source, expected) => {
    expect(fixed(source)).toBe(expected)
  })

  it.each([
    "x = {\nreturn 1",
    "return 1 +",
    'return "a\\',
    "text = 1\nreturn text",
    "text = 1\ntext_value = 2\nreturn 2",
    "return nope",
    "return 1 + true",
    "return boundary { return 1 }",
    "return [1].x",
    'a = "x\nb = "y"\nreturn a',
  ])("none for %j, where no edit is sure to help", (source) => {
    expect(found(source)[0]!.fixes).toEqual([])
  })

  it("make their diagnostic go away: in every worked case, in damaged programs, in tokens in no order", () => {
    const cases: ReadonlyArray<{ readonly program: string }> = JSON.parse(
      readFileSync(new URL("./fixtures/cases.json", import.meta.url), "utf8"),
    )
    for (const each of cases) tried(each.program)
    let count = 0
    for (let seed = 0; seed < CASES; seed++) {
      count += tried(mutated(seed, program(seed, 25)))
      tried(soup(seed))
    }
    expect(count).toBeGreaterThan(CASES / 8)
  })
})
