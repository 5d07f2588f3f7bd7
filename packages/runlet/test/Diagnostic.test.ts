import { describe, expect, it } from "@effect/vitest"
import { excerpt, render } from "../src/Diagnostic.ts"
import { Lines, utf8Length } from "../src/Span.ts"
import { refused } from "./Programs.ts"

const shown = (source: string) => refused(source).map((diagnostic) => render(diagnostic, source, "p.rnlt"))

describe("rendering", () => {
  it("shows path, place, code, the line with carets, message and help", () => {
    expect(shown('total = 1\nreturn "é" + totl')[0]).toContain(
      [
        "p.rnlt:2:14: error[RL2101]: unknown name",
        '2 | return "é" + totl',
        "  |              ^^^^",
        "  `totl` is not a local, host input, or registered callable",
        "  did you mean `total`?",
      ].join("\n"),
    )
  })

  it("keeps one column per tab and cuts long lines around the place", () => {
    expect(shown("return\t@")[0]).toContain("1 | return @\n  |        ^")
    const [long] = shown(`return "${"x".repeat(500)}" + @`)
    const [, line, carets] = long!.split("\n")
    expect(line!.length).toBeLessThan(220)
    expect(line![carets!.indexOf("^")]).toBe("@")
  })

  it("marks the first line of a span over several, and the end of the source", () => {
    expect(shown('a = "x\n\n')[0]).toContain('1 | a = "x\n  |     ^^')
    expect(shown("return (1")[0]).toContain("  |          ^")
  })
})

describe("excerpts", () => {
  it("show the part of a long line around the column, with the caret below it", () => {
    const text = `${"é".repeat(5_000)}@${"x".repeat(5_000)}`
    const [line, carets] = excerpt(text, 7, 5_001)
    expect(line!.startsWith("7 | é")).toBe(true)
    expect(line!.length).toBeLessThan(210)
    expect(line![carets!.indexOf("^")]).toBe("@")
    expect(excerpt("a\tb", 1, 3, 9)).toEqual(["1 | a b", "  |   ^"])
    expect(excerpt("", 1, 1)).toEqual(["1 | ", "  | ^"])
  })
})

describe("messages", () => {
  it("say of a string with a prefix that there is none, wherever it stands", () => {
    for (const source of ['return f"hi"', 'x = f"hi"\nreturn x', 'return [f"hi"]', 'x = text.upper(f"hi")\nreturn x']) {
      const [first] = refused(source)
      expect(first!.message).toContain("strings have no prefix like `f`")
      expect(first!.title).toBe("unexpected token")
    }
  })

  it("tell a second return from something left over on the line of the first", () => {
    expect(refused("return 1\nreturn 2")[0]).toMatchObject({ code: "RL1012", title: "early or duplicate return" })
    expect(refused("return 1 2")[0]).toMatchObject({
      code: "RL1012",
      message: "expected the end of the line after `return expression`",
    })
  })

  it("stay short whatever the source is called and however large its types are", () => {
    const huge = "x".repeat(100_000)
    const wide = `o = { ${Array.from({ length: 3_000 }, (_, n) => `k${n}: ${n}`).join(", ")} }\nreturn o.nope`
    for (const source of [`return ${huge}`, `return ${huge}(1)`, wide, `return {${huge}: 1, ${huge}: 2}`])
      for (const text of shown(source)) expect(text.length).toBeLessThan(2_500)
  })
})

describe("places", () => {
  it("count lines, characters and bytes", () => {
    const lines = new Lines("aé\n😀b\r\nc")
    expect(lines.place(0)).toEqual({ line: 1, column: 1 })
    expect(lines.place(2)).toEqual({ line: 1, column: 3 })
    expect(lines.place(5)).toEqual({ line: 2, column: 2 })
    expect(lines.place(8)).toEqual({ line: 3, column: 1 })
    expect(lines.bytes(5)).toBe(8)
    expect(utf8Length("aé😀\ud800")).toBe(10)
  })
})
