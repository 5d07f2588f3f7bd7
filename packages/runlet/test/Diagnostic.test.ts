import { describe, expect, it } from "@effect/vitest"
import { render } from "../src/Diagnostic.ts"
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
        "  help: change this expression to an accepted shape",
        "  did you mean `total`, `",
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
