import { split } from "@acp-kit/orchestrator/FrontMatter"
import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"

const ok = (source: string) => {
  const { head, body } = Result.getOrThrow(split(source))
  return { head, body }
}

describe("FrontMatter", () => {
  it("says where each key stands, and refuses one that stands twice", () => {
    expect([...Result.getOrThrow(split("---\n\nmodel: a\nenv:\n  A: b\ncwd: c\n---\n")).lines]).toEqual([
      ["model", 3],
      ["env", 4],
      ["cwd", 6],
    ])
    expect(split("---\nmodel: a\nmodel: b\n---\n")).toEqual(Result.fail({ line: 3, why: "model is set twice" }))
  })

  it("takes a file without a head as all body", () => {
    expect(ok("You review.\n")).toEqual({ head: {}, body: "You review.\n" })
  })

  it("reads text, quoted text, numbers, booleans, JSON, lists and maps", () => {
    const source = [
      "---",
      "# a comment",
      "description: Reviews code # briefly",
      'model: "opus: 4"',
      "cwd: 'it''s'",
      "count: 3",
      "strict: true",
      'output_schema: {"type":"object"}',
      "secrets:",
      "  - API_KEY",
      "- OTHER",
      "env:",
      "  LANG: C",
      "  N: 5",
      "empty:",
      "---",
      "",
      "You review.",
      "",
    ].join("\n")
    expect(ok(source)).toEqual({
      head: {
        description: "Reviews code",
        model: "opus: 4",
        cwd: "it's",
        count: 3,
        strict: true,
        output_schema: { type: "object" },
        secrets: ["API_KEY", "OTHER"],
        env: { LANG: "C", N: 5 },
        empty: null,
      },
      body: "You review.",
    })
  })

  it.each([
    ["---\nmodel: opus\n", 1],
    ["---\nmodel opus\n---\n", 2],
    ['---\na: 1\nmodel: "opus\n---\n', 3],
    ["---\nenv:\n  A\n---\n", 3],
    ["---\n  a: 1\n---\n", 2],
  ])("names the line that it cannot read: %j", (source, line) => {
    expect(Result.getOrThrow(Result.flip(split(source))).line).toBe(line)
  })
})
