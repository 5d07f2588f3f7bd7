import { Printable } from "@acp-kit/cli/Printable"
import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"

describe("Printable", () => {
  it("keeps lines and tabs of a text, and nothing that could move the cursor", () => {
    expect(Printable.printableLines("a\tb\r\nc\u001b[2Jd\u202ee\n")).toBe("a\tb\nc\ufffd[2Jd\ufffde\n")
  })

  it.each([
    ["abc", 3],
    ["漢字", 4],
    ["e\u0301", 1],
    ["👩‍👩‍👧", 2],
    ["🇩🇪", 2],
    ["ｆｕｌｌ", 8],
    ["", 0],
  ])("counts the cells of %s", (text, cells) => {
    expect(Printable.columnsOf(text)).toBe(cells)
  })

  it("makes one line of text that neither moves the cursor nor hides anything", () => {
    expect(Printable.printable("a\r\nb\tc\u001b]0;title\u0007\u202e\u200b\u009b1m")).toBe(
      "a b c\ufffd]0;title\ufffd\ufffd\ufffd\ufffd1m",
    )
  })

  it.prop("never clips to more cells than there are, and pads to exactly as many", [Schema.String], ([text]) => {
    const line = Printable.printable(text)
    for (const columns of [0, 1, 2, 7, 40]) {
      expect(Printable.columnsOf(Printable.clip(line, columns))).toBeLessThanOrEqual(columns)
      expect(Printable.columnsOf(Printable.padTo(line, columns))).toBe(columns)
    }
  })

  it("keeps what fits and marks what was cut", () => {
    expect(Printable.clip("hello", 5)).toBe("hello")
    expect(Printable.clip("hello", 4)).toBe("hel…")
    expect(Printable.clip("漢字漢字", 5)).toBe("漢字…")
  })
})
