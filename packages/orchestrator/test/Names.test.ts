import { Names } from "@acp-kit/orchestrator/Names"
import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

const bytes = 32
const allocate = (preferred: unknown, used: ReadonlyArray<string> = []) => Names.allocate(preferred, used, bytes)

describe("Names", () => {
  it("keeps a preferred name, trimmed", () => {
    expect(allocate("  Round 2 Implementer ")).toBe("Round 2 Implementer")
    expect(allocate("a")).toBe("a")
    expect(allocate("x".repeat(32))).toBe("x".repeat(32))
  })

  it.each([[undefined], [""], ["   "], ["x".repeat(33)], ["Prüfer"], ["a\tb"], ["a\u007f"], ["ré"], ["😀"]])(
    "takes the lowest free Agent N for %j",
    (preferred) => {
      expect(allocate(preferred)).toBe("Agent 1")
      expect(allocate(preferred, ["agent 1", "Agent 3"])).toBe("Agent 2")
    },
  )

  it("takes the lowest free suffix from 2 on where the name is taken in any case", () => {
    expect(allocate("Reviewer", ["reviewer"])).toBe("Reviewer 2")
    expect(allocate("REVIEWER", ["Reviewer", "Reviewer 3"])).toBe("REVIEWER 2")
    expect(allocate("Reviewer", ["Reviewer", "reviewer 2", "REVIEWER 3"])).toBe("Reviewer 4")
  })

  it("shortens the base, without trailing blanks, so that the suffix fits", () => {
    const long = "x".repeat(32)
    expect(allocate(long, [long])).toBe(`${"x".repeat(30)} 2`)
    const blank = `${"y".repeat(29)} zz`
    expect(allocate(blank, [blank])).toBe(`${"y".repeat(29)} 2`)
  })

  const preferred = Arbitrary.schema(
    Schema.Union([
      Schema.Literals(["Reviewer", "reviewer", "REVIEWER ", "x".repeat(32), "x".repeat(31), "Agent 1", ""]),
      Schema.String,
    ]),
  )

  it.prop(
    "never gives a name twice and never one that is too long or not printable, whatever was asked for",
    { names: Arbitrary.array(preferred, { maxLength: 40 }) },
    ({ names }) => {
      const used: Array<string> = []
      for (const name of names) {
        const given = allocate(name, used)
        expect(used.map((other) => other.toLowerCase())).not.toContain(given.toLowerCase())
        expect(given).toMatch(/^[\x20-\x7e]{1,32}$/)
        expect(given.trim()).toBe(given)
        used.push(given)
      }
    },
  )
})
