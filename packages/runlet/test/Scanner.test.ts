import { describe, expect, it } from "@effect/vitest"
import { isName, scan } from "../src/Scanner.ts"

const kinds = (source: string) => {
  const scanned = scan(source)
  if (!scanned.ok) throw new Error(scanned.error.message)
  return scanned.tokens.map((token) => (token.kind === "newline" ? "NL" : token.kind)).join(" ")
}

const error = (source: string) => {
  const scanned = scan(source)
  if (scanned.ok) throw new Error("scanned")
  return scanned.error
}

const text = (source: string) => {
  const scanned = scan(source)
  if (!scanned.ok) throw new Error(scanned.error.message)
  return scanned.tokens[0]!.text
}

describe("newlines", () => {
  it("drops newlines after an operator, a comma, a colon and the words that continue", () => {
    for (const word of [
      "=",
      ",",
      ":",
      "+",
      "-",
      "*",
      "/",
      "%",
      "==",
      "!=",
      "<",
      "<=",
      ">",
      ">=",
      "and",
      "or",
      "not",
      "in",
      "if",
      "else",
    ])
      expect(kinds(`a ${word}\nb`)).toBe(`name ${word} name end`)
  })

  it("keeps newlines at the start of a line's operator, and collapses several", () => {
    expect(kinds("a\n\n\n+ b")).toBe("name NL + name end")
    expect(kinds("a;\n\nb")).toBe("name ; name end")
    expect(kinds("return\nb")).toBe("return NL name end")
  })

  it("suppresses newlines in parentheses and brackets, not in braces, by a stack", () => {
    expect(kinds("(a\nb)\nc")).toBe("( name name ) NL name end")
    expect(kinds("[a\n{ b\nc }\nd]")).toBe("[ name { name NL name } name ] end")
    expect(kinds(")\na")).toBe(") NL name end")
  })
})

describe("tokens", () => {
  it("reads names by the Unicode identifier rules and knows the reserved words", () => {
    expect(kinds("größe _x π2 in_ for")).toBe("name name name name for end")
    expect(isName("größe")).toBe(true)
    expect(isName("for")).toBe(false)
    expect(isName("2a")).toBe(false)
  })

  it("reads integers and numbers, a dot only before a digit", () => {
    expect(kinds("007 1.5 2e3 1e 1.x 12abc 3E-2")).toBe("integer number number number integer . name integer name number end")
  })

  it("takes `#` and `//` to the end of the line as comments", () => {
    expect(kinds('a # x " \n// y\nb')).toBe("name NL name end")
    expect(kinds("a // 2")).toBe("name end")
  })

  it("decodes exactly the escapes of JSON", () => {
    expect(text('"a\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"')).toBe('a"\\/\b\f\n\r\té😀')
    expect(text('"😀"')).toBe("😀")
  })
})

describe("errors", () => {
  it("RL1001 stops at the first character that is none of the language, with a fix that removes it", () => {
    for (const char of ["'", "&", "|", "?", "@", "$", "~", "^", "\\", "`", "!", "\u00a0", "\f", "\ufeff", "😀"]) {
      expect(error(`a ${char}`)).toMatchObject({
        code: "RL1001",
        span: { start: 2, end: 2 + char.length },
        fixes: [{ replacement: "" }],
      })
    }
  })

  it("RL1002 covers the rest of the file and closes the string there", () => {
    expect(error('a = "x\\"')).toMatchObject({
      code: "RL1002",
      span: { start: 4, end: 8 },
      fixes: [{ span: { start: 8, end: 8 }, replacement: '"' }],
    })
  })

  it("RL1003 covers the literal: bad escapes, raw controls, lone surrogates", () => {
    for (const literal of ['"\\x"', '"\\u12"', '"a\tb"', '"a\nb"', '"\\ud800"', '"\\udc00"', '"\\ud800\\u0041"', '"\ud800"'])
      expect(error(`x ${literal} y`)).toMatchObject({
        code: "RL1003",
        span: { start: 2, end: 2 + literal.length },
      })
  })

  it("RL1003 proposes a literal that holds what was meant", () => {
    const proposed = (literal: string) => {
      const [fix] = error(`x ${literal} y`).fixes
      expect(fix!.span).toEqual({ start: 2, end: 2 + literal.length })
      expect(() => JSON.parse(fix!.replacement)).not.toThrow()
      return fix!.replacement
    }
    expect(proposed('"\\d+\\x\\n"')).toBe('"\\\\d+\\\\x\\n"')
    expect(proposed('"\\u12"')).toBe('"\\\\u12"')
    expect(proposed('"a\tb\u0001"')).toBe('"a\\tb\\u0001"')
    expect(proposed('"it\\\'s \\\\"')).toBe('"it\'s \\\\"')
    expect(proposed('"\\ud83d\\ude00\\ud800\\u0041"')).toBe('"\\ud83d\\ude00\ufffd\\u0041"')
    expect(proposed('"😀\ud800"')).toBe('"😀\ufffd"')
  })
})
