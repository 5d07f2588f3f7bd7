import { describe, expect, it } from "@effect/vitest"
import { heal } from "../src/Heal.ts"
import { codes, compiled, warnings } from "./Programs.ts"

const healed = (source: string, rewrite = false) => {
  const result = heal(source, { rewrite })
  if (result === null) throw new Error(`not healed: ${source}`)
  return result
}

describe("repairs", () => {
  it.each([
    ["f(1)\nreturn 2", "fixed_1 = f(1)\nreturn 2"],
    ["fixed_1 = 0\nf(1)\ng(fixed_1)\nreturn 2", "fixed_1 = 0\nfixed_2 = f(1)\nfixed_3 = g(fixed_1)\nreturn 2"],
    ["for x in [1] { return x }\nreturn 2", "fixed_1 = for x in [1] { return x }\nreturn 2"],
    ["x = if true { 5 }\nreturn x", "x = if true { return 5 }\nreturn x"],
    ["x = if true { a = 5 }\nreturn x", "x = if true { a = 5 \nreturn null\n}\nreturn x"],
    ["a = 1 b = 2\nreturn a + b", "a = 1 \nb = 2\nreturn a + b"],
    ["a = 1\na + 1", "a = 1\nreturn a + 1"],
    [
      "return for i in [1, 2] {\n  if i == 1 { skip }\n  return i\n}",
      "return for i in [1, 2] {\n  skip if i == 1\n  return i\n}",
    ],
    [
      "return for i in [1] {\n  if i == 1 {\n    skip\n  }\n  return i\n}",
      "return for i in [1] {\n  skip if i == 1\n  return i\n}",
    ],
    ["x = boundary { return 1 }\n\ncatch e { return 2 }\nreturn x", "x = boundary { return 1 } catch e { return 2 }\nreturn x"],
    [
      "x = boundary { return 1 } # tried\n\n# then\ncatch e { return 2 }\nreturn x",
      "x = boundary { return 1 } catch e { # tried\n # then\n return 2 }\nreturn x",
    ],
    ["for x in [1] { return x }", "return for x in [1] { return x }"],
    ["boundary { 1 }\ncatch e { 2 }\n", "return boundary { return 1 } catch e { return 2 }\n"],
    ["a = 1\nif a == 1 { 5 }\nelse { 6 }\n# end", "a = 1\nreturn if a == 1 { return 5 }\nelse { return 6 }\n# end"],
    ["x = for i in [1] { if i == 1 { 5 } }\nreturn x", "x = for i in [1] { return if i == 1 { return 5 } }\nreturn x"],
    [
      "x = for i in [1] {\n  if i == 1 { 5 }\n  return i\n}\nreturn x",
      "x = for i in [1] {\n  fixed_1 = if i == 1 { return 5 }\n  return i\n}\nreturn x",
    ],
    ["after 1 { f(2) }\nreturn 3", "fixed_1 = after 1 { return f(2) }\nreturn 3"],
    ["after 1 { f(2) }", "return after 1 { return f(2) }"],
  ])("%j", (source, expected) => {
    expect(healed(source).source).toBe(expected)
    compiled(healed(source).source.replace(/\b[fg]\(/g, "text.length("))
  })

  it("says at which line of the text what was done", () => {
    expect(healed("a = 1\n\nf(a)\nx = if true { a }\nreturn x").notes).toEqual([
      "line 3: statements are bindings; bound the bare expression to `fixed_1`",
      "line 4: a block must end with `return`; inserted `return`",
    ])
  })

  it("repairs many mistakes in one source", () => {
    expect(healed(`${"f(1)\n".repeat(20)}return 1`).notes).toHaveLength(20)
  })

  it("bounds the work on a long source: a few repairs in a hundred kilobytes, none that would take long", () => {
    const padding = `# ${"a".repeat(100_000)}\n`
    expect(healed(`${padding}${"f(1)\n".repeat(20)}return 1`).notes).toHaveLength(20)
    expect(heal(`${padding}${"f(1)\n".repeat(40)}return 1`)).toBeNull()
  })

  it("leaves alone what parses, and what it cannot bring to parse", () => {
    expect(heal("return 1")).toBeNull()
    for (const source of ["return 1 +", "x = (1\nreturn x", "", "return [1", '"', "x = {\nreturn 1", "@"])
      expect(heal(source), source).toBeNull()
  })

  it("keeps errors of the analysis, to be reported on the healed source", () => {
    expect(codes(healed("f(1)\nreturn nope").source)).toEqual(["RL2102", "RL2101"])
    expect(codes(healed("f(1)\nreturn 1 < 2 < 3").source)).toEqual(["RL2306"])
  })

  it("shows that a construct it bound is never used", () => {
    expect(warnings(healed("if true { return 1 }\nreturn 2").source)).toEqual(["RL1205"])
  })
})

it("leaves a text alone whose holes are more than names", () => {
  for (const source of ['return f"{1 + 2}"', `return \`$\{f(1)}\``, 'return f"{{x}}"', 'return r"x"'])
    expect(heal(source, { rewrite: true })).toBeNull()
})

describe("rewrites of other languages' habits, on request", () => {
  it.each([
    ["return 'it\\'s \"x\"'", 'return "it\'s \\"x\\""'],
    ["return true && false || !true", "return true and false or not true"],
    ["let a = 1\nconst b = 2\nreturn a + b", "a = 1\nb = 2\nreturn a + b"],
    ['n = { k: 1 }\nreturn f"{n.k} is \\"it\\": {n}"', 'n = { k: 1 }\nreturn ("" + n.k + " is \\"it\\": " + n)'],
    ["n = 1\nx = f'n is {n}'\nreturn x", 'n = 1\nx = ("n is " + n)\nreturn x'],
    ['return [f"", f"plain"]', 'return ["", "plain"]'],
    [`n = 1\nreturn \`a "q"\n$\{n} \\\`b\\\`\``, 'n = 1\nreturn ("a \\"q\\"\\n" + n + " `b`")'],
    ['return regex.test("a1", "\\d\\.")', 'return regex.test("a1", "\\\\d\\\\.")'],
    ["a = 1\nx = a > 0 ? 'y' : 'n'\nreturn x", 'a = 1\nx = "y" if a > 0 else "n"\nreturn x'],
  ])("%j", (source, expected) => {
    expect(heal(source)).toBeNull()
    expect(healed(source, true).source).toBe(expected)
    compiled(expected)
  })
})
