import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { reserved } from "../src/Scanner.ts"

const read = (path: string) => JSON.parse(readFileSync(new URL(`../../../editors/vscode/${path}`, import.meta.url), "utf8"))

const grammar = read("syntaxes/runlet.tmLanguage.json")

const patterns = (node: unknown): ReadonlyArray<string> => {
  if (typeof node !== "object" || node === null) return []
  return Object.entries(node).flatMap(([key, value]) =>
    ["match", "begin", "end", "while"].includes(key) && typeof value === "string" ? [value] : patterns(value),
  )
}

const words = (node: unknown): ReadonlyArray<string> =>
  patterns(node).flatMap((pattern) => /\)\(([a-z|]+)\)\(\?!/.exec(pattern)?.[1]?.split("|") ?? [])

const matching = (rule: string, text: string) => {
  return new RegExp(grammar.repository[rule].match, "u").exec(text)?.[0]
}

describe("the TextMate grammar", () => {
  it("knows exactly the reserved words of the language", () => {
    expect(new Set([...words(grammar.repository.keyword), ...words(grammar.repository.constant)])).toEqual(reserved)
  })

  it("has patterns that compile and includes that exist", () => {
    for (const pattern of patterns(grammar)) expect(() => new RegExp(pattern, "u"), pattern).not.toThrow()
    const includes = [...JSON.stringify(grammar).matchAll(/"include":"#(\w+)"/g)].map(([, name]) => name!)
    for (const name of includes) expect(grammar.repository).toHaveProperty(name)
  })

  it("tells calls, fields and keys apart", () => {
    expect(matching("call", "x = text.upper(s)")).toBe("text.upper")
    expect(matching("key", "{ name: 1 }")).toBe("name:")
    expect(matching("field", "x.name + 1")).toBe(".name")
    expect(matching("number", "x2 + 1.5e3")).toBe("1.5e3")
    expect(matching("comment", "a // b")).toBe("// b")
  })

  it("is what the extension contributes", () => {
    const { contributes } = read("package.json")
    expect(contributes.languages[0].extensions).toEqual([".rnlt"])
    for (const { path } of contributes.grammars) expect(read(path)).toHaveProperty("scopeName")
    expect(read(contributes.languages[0].configuration).comments.lineComment).toBe("#")
  })
})
