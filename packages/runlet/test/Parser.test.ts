import { describe, expect, it } from "@effect/vitest"
import { format } from "../src/Format.ts"
import { parse } from "../src/Parser.ts"
import { codes, refused } from "./Programs.ts"

const error = (source: string) => {
  const parsed = parse(source)
  if (parsed.ok) throw new Error(`parsed: ${source}`)
  return parsed.errors[0]!
}

const parses = (source: string) => {
  const parsed = parse(source)
  if (!parsed.ok) throw new Error(`${parsed.errors[0]!.code} ${parsed.errors[0]!.message}: ${source}`)
  return parsed.program
}

const missing = (source: string) => {
  const { code, message } = error(source)
  expect(code, source).toBe("RL1008")
  return message.replace("expected ", "")
}

describe("RL1008 names what was expected", () => {
  it.each([
    ["", "program"],
    ["a = 1\n", "a final `return` statement"],
    ["+ 1\nreturn 1", "a binding such as `name = expression`"],
    ["a 1\nreturn 1", "`=` after the binding name"],
    ["assert x\nreturn 1", "`(` after `assert`"],
    ['assert(x, "m",)\nreturn 1', "`)` after assertion"],
    ["x = if true return 1\nreturn 1", "`{`"],
    ["x = for i in [] { return 1", "`}` after block return"],
    ["x = { a: 1", "`}`"],
    ["x = (1", "`)`"],
    ["x = [1", "`]`"],
    ["x = for i [] { return 1 }\nreturn 1", "`in`"],
    ["x = for i in [] { return 1 2 }\nreturn 1", "`}` after block return"],
    ["x = \nreturn 1", "an expression"],
    ["x = f(1 2)\nreturn 1", "`)` after arguments"],
    ["x = { [1: 2 }\nreturn 1", "`]` after computed property key"],
    ['x = { "a" 2 }\nreturn 1', "`:` after property name"],
    ["x = { if }\nreturn 1", "`:` after property name"],
    ["x = { 1: 2 }\nreturn 1", "an object property name"],
    ["x = a.1\nreturn 1", "field name"],
    ["x = for 1 in [] { return 1 }\nreturn 1", "loop binding name"],
    ["x = fold 1 = 0 for i in [] { return 1 }\nreturn 1", "accumulator name, as in `fold acc = 0 for x in xs`"],
    ["x = fold a 0 for i in [] { return 1 }\nreturn 1", "`=` after the accumulator name"],
    ["x = fold a = 0 in [] { return 1 }\nreturn 1", "`for` after the accumulator initial value"],
    ["x = fail\nreturn 1", "`(` — fail is called like a tool: `fail(code, message)`"],
    ["x = fail(1 2)\nreturn 1", "`)` after fail arguments"],
    ["x = boundary retry n { return 1 } catch e { return 1 }\nreturn 1", "integer retry count"],
    ["x = boundary { return 1 }\nreturn 1", "`catch` after boundary body"],
    ["x = boundary { return 1 } catch 1 { return 1 }\nreturn 1", "catch error binding"],
    ["a = 1 b = 2\nreturn 1", "a newline or `;`"],
  ])("%j", (source, what) => {
    expect(missing(source)).toBe(what)
  })
})

it("is written again with the parentheses that keep a sign from its digits", () => {
  expect(format("return -(9223372036854775808)")).toBe("return -(9223372036854775808)\n")
  expect(format("return [-(5), - 5, -(a.b)]")).toBe("return [-(5), -5, -a.b]\n")
})

describe("statements", () => {
  it("RL1012 refuses anything after the program's return", () => {
    expect(error("return 1\nreturn 2").code).toBe("RL1012")
    expect(error("return 1\na = 2").code).toBe("RL1012")
  })

  it("RL1014 points at the keyword of a construct that stands alone, with its own words for `if`", () => {
    for (const source of [
      "for x in [] { return 1 }",
      "fold a = 0 for x in [] { return a }",
      "boundary { return 1 } catch e { return 2 }",
    ])
      expect(error(`${source}\nreturn 1`)).toMatchObject({ code: "RL1014", span: { start: 0 } })
    expect(error("if true { return 1 }\nreturn 1").message).toContain("skip if condition")
    expect(error("after f() { return 1 }\nreturn 1").code).toBe("RL1019")
  })

  it("RL1015 counts 64 nested expressions", () => {
    const nested = (count: number) => `return ${"(".repeat(count)}1${")".repeat(count)}`
    parses(nested(63))
    expect(error(nested(64))).toMatchObject({ code: "RL1015", message: "expression nesting exceeds the limit of 64" })
  })

  it("RL1015 bounds chains too, so that nothing that walks the tree can run out of stack", () => {
    parses(`return ${Array(400).fill("1").join(" + ")}`)
    expect(error(`return ${Array(600).fill("1").join(" + ")}`).code).toBe("RL1015")
    parses(`return if true { return 1 }${" else if false { return 2 }".repeat(3_000)}`)
  })

  it("RL1017 inserts `return` before the last bare expression of a block, or `return null` before its brace", () => {
    expect(error("x = if true { 1 + 2 }\nreturn x")).toMatchObject({
      code: "RL1017",
      span: { start: 14, end: 19 },
      fixes: [{ span: { start: 14, end: 14 }, replacement: "return " }],
    })
    expect(error("x = if true { a = 1 }\nreturn x")).toMatchObject({
      code: "RL1017",
      span: { start: 20, end: 21 },
      fixes: [{ span: { start: 20, end: 20 }, replacement: "\nreturn null\n" }],
    })
  })

  it("RL1018 allows `skip` in loops and the branches within, never across a boundary", () => {
    parses("return for x in [] { skip if x\n return 1 }")
    parses("return for x in [] { y = if x { skip; return 1 } else { return 2 }; return y }")
    parses("return for x in [] { y = after x { skip; return 1 }; return y }")
    parses("return boundary { return for x in [] { skip; return 1 } } catch e { return 1 }")
    expect(error("skip\nreturn 1").code).toBe("RL1018")
    expect(error("return for x in [] { return boundary { skip; return 1 } catch e { return 1 } }").code).toBe("RL1018")
    expect(error("return for x in [] { return boundary { return 1 } catch e { skip; return 1 } }").code).toBe("RL1018")
  })

  it("RL1019 refuses bare expressions, and a `catch` on another line in other words", () => {
    expect(error("f(1)\nreturn 1")).toMatchObject({ code: "RL1019", span: { start: 0, end: 4 } })
    expect(error("a = 1\nf(1)")).toMatchObject({ code: "RL1019" })
    expect(error("x = boundary { return 1 }\ncatch e { return 2 }\nreturn x")).toMatchObject({
      code: "RL1019",
      span: { start: 26, end: 31 },
    })
  })

  it("takes `;` and newlines as terminators and the brace or the end without one", () => {
    parses("a = 1; b = 2;; c = 3\n\nreturn [a, b, c];")
    parses("x = if true { a = 1; return a }; return x")
  })
})

describe("expressions", () => {
  it("lets every block construct take postfix and infix operators", () => {
    parses("return if true { return [1] }[0] + (for x in [1] { return x })[0]")
    parses("return [if a { return 1 } else { return 2 } * 3, boundary { return 1 } catch e { return 2 }.x]")
  })

  it("puts `else` of a block `if` on a later line, of a postfix one not", () => {
    parses("return if true { return 1 }\n\nelse { return 2 }")
    expect(codes("x = 1 if true\nelse 2\nreturn x")).toEqual(["RL1008"])
  })

  it("groups `a if c if d` to the left and `else` to the right", () => {
    const { result } = parses("return a if b if c")
    expect(result).toMatchObject({ kind: "conditional", value: { kind: "conditional" }, condition: { name: "c" } })
    expect(parses("return a if b else c if d else e").result).toMatchObject({
      value: { name: "a" },
      other: { kind: "conditional" },
    })
  })

  it("takes reserved words as fields and keys", () => {
    parses("return { if: 1, for: 2, null: 3, return: 4 }.return")
  })

  it("takes trailing commas in lists, objects and calls, and newlines in lists and objects", () => {
    parses("return [1, 2,]")
    parses("return {\n a: 1,\n\n b,\n [c]: 2,\n}")
    parses("return f(1, 2,)")
    expect(error("return f(,)").code).toBe("RL1008")
  })

  it("clamps the retry count to 32 bits", () => {
    expect(parses("return boundary retry 99999999999 { return 1 } catch e { return 2 }").result).toMatchObject({
      retries: 4_294_967_295,
    })
  })
})

describe("what the grammar tells of the analysis", () => {
  it("RL2203 reports every repeated static key, and no syntax error beside", () => {
    expect(codes('return [{ a: 1, a: 2 }, { b: 1, "b": 2 }]')).toEqual(["RL2203", "RL2203"])
    expect(codes("x = { a: 1, a: 2 }\nreturn )")).toEqual(["RL1008"])
    parses('return { a: 1, ["a"]: 2 }')
  })

  it("RL2306 rejects every unparenthesised chain and accepts every parenthesised one", () => {
    for (const chain of ["1 < 2 < 3", "1 == 2 == 3", "1 == 2 < 3", "1 < 2 == true", "1 in [1] in [2]"])
      expect(codes(`return ${chain}`)).toContain("RL2306")
    for (const chain of ["(1 < 2) == true", "true == (1 < 2)", "(1 == 2) == (3 < 4)", "1 < 2 and 2 < 3"])
      parses(`return ${chain}`)
  })
})

it("shows one syntax error at its line and column, counted in characters", () => {
  const [first, ...rest] = refused('a = "😀" @\nb = @')
  expect(rest).toEqual([])
  expect(first).toMatchObject({ code: "RL1001", line: 1, column: 9, phase: "parse", severity: "error" })
})
