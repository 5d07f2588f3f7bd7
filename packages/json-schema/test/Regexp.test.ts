import { describe, expect, it } from "@effect/vitest"
import type { Dialect } from "../src/Regexp/Dialect.ts"
import { compileRegexp, GaveUp, PatternError, type Regexp } from "../src/Regexp.ts"

const regexp = (source: string, dialect: Dialect = "rust"): Regexp => {
  const compiled = compileRegexp(source, dialect)
  if (compiled instanceof PatternError) throw new Error(`${source}: ${compiled.message}`)
  return compiled
}

const matches = (source: string, text: string, dialect: Dialect = "rust") => {
  const all = regexp(source, dialect).all(text)
  if (all instanceof GaveUp) throw all
  return all.map((match) => match.text)
}

const refused = (source: string, dialect: Dialect = "rust") => {
  const compiled = compileRegexp(source, dialect)
  if (!(compiled instanceof PatternError)) throw new Error(`${source} was accepted`)
  return compiled.message
}

describe("matching", () => {
  it("prefers alternatives in order and the leftmost match, as backtracking does", () => {
    expect(matches("a|ab", "ab")).toEqual(["a"])
    expect(matches("ab|a", "ab")).toEqual(["ab"])
    expect(matches("b+|[a-c]+", "abc")).toEqual(["abc"])
    expect(matches("a+?", "aaa")).toEqual(["a", "a", "a"])
  })

  it("gives groups that took part, and null for those that did not", () => {
    const match = regexp("(a)|(?<second>b)(c)?").first("b")
    expect(match).toMatchObject({ text: "b", groups: [null, "b", null] })
    expect(regexp("(?P<x>a)(?<y>b)").names).toEqual(
      new Map([
        ["x", 1],
        ["y", 2],
      ]),
    )
  })

  it("finds empty matches at each boundary, but none directly behind a match", () => {
    expect(matches("", "abc")).toEqual(["", "", "", ""])
    expect(matches("a*", "aaa")).toEqual(["aaa"])
    expect(matches("a*", "baac")).toEqual(["", "aa", ""])
    expect(matches("", "😀")).toEqual(["", ""])
  })

  it("agrees with the runtime's own engine where the dialects agree", () => {
    const sources = [
      "a(b|c)*d",
      "(?:ab)+",
      "x{2,3}y?",
      "[^a-c]+",
      "^a|b$",
      "(a*)(a|ab)(b*)",
      "\\bfoo\\b",
      "a.c",
      "(a|b)*?c",
      "((a)|b)+",
    ]
    const texts = ["", "abcd", "abab", "xxxy xxyy", "foo afoo foo", "abcbcd", "aab", "a\nc abc", "ababac", "cdefg"]
    for (const source of sources)
      for (const text of texts) {
        const own = regexp(source).first(text)
        const native = new RegExp(source, "u").exec(text)
        expect(own === undefined || own instanceof GaveUp ? null : own.text, `${source} on ${text}`).toBe(native?.[0] ?? null)
      }
  })

  it("takes time linear in the text for patterns that backtracking takes exponential time for", () => {
    expect(regexp("^(a+)+$").test(`${"a".repeat(20_000)}b`)).toBe(false)
    expect(regexp("(x|xx|xxx)*y").test("x".repeat(5_000))).toBe(false)
    expect(regexp("^(?:a?){100}a{100}$").test("a".repeat(100))).toBe(true)
  })

  it("gives a search up that would take too many steps in all", () => {
    expect(regexp("(?:a{1,100}){1,60}b").test("a".repeat(200_000))).toBeInstanceOf(GaveUp)
  })
})

describe("the dialect of Rust", () => {
  it("reads classes over all of Unicode", () => {
    expect(matches("\\d+", "12 ٣٤")).toEqual(["12", "٣٤"])
    expect(matches("\\w+", "naïve Ωmega")).toEqual(["naïve", "Ωmega"])
    expect(matches("\\s", "a\u00a0b")).toEqual(["\u00a0"])
    expect(matches("\\bé\\b", "é")).toEqual(["é"])
    expect(matches("(?-u:\\w+)", "naïve")).toEqual(["na", "ve"])
  })

  it("reads properties under their loose names", () => {
    expect(matches("\\p{Greek}+", "abc αβγ")).toEqual(["αβγ"])
    expect(matches("\\pL+", "ab1")).toEqual(["ab"])
    expect(matches("\\p{sc=Cyrillic}", "жx")).toEqual(["ж"])
    expect(matches("\\P{^Lu}", "aB")).toEqual(["B"])
    expect(matches("[\\p{uppercase}]", "aB")).toEqual(["B"])
    expect(refused("\\p{Nonsense}")).toContain("Nonsense")
  })

  it("compares names of properties as Unicode does, and takes `!=` for not", () => {
    for (const name of ["isGreek", "Is_Greek", "GREEK", "sc=greek", "Script:Grek", "sc!=Latin"])
      expect(matches(`[\\p{${name}}&&[a-zα-ω]]+`, "abc αβγ"), name).toEqual(["αβγ"])
    expect(matches("\\P{sc!=Greek}+", "abc αβγ")).toEqual(["αβγ"])
    expect(matches("\\p{gc!=Lu}", "aB")).toEqual(["a"])
    expect(matches("\\p{^gc!=Lu}", "aB")).toEqual(["B"])
    for (const name of ["lowercaseletter", "Lowercase-Letter", "LL", "gc=ll"])
      expect(matches(`\\p{${name}}`, "aB"), name).toEqual(["a"])
    for (const name of ["whitespace", "White_Space", "old persian", "xidstart", "any", "isalphabetic"])
      expect(compileRegexp(`\\p{${name}}`, "rust"), name).not.toBeInstanceOf(PatternError)
    for (const name of ["sc!=Nonsense", "Greek=sc", "block=Greek", "gc=", "=Lu"]) refused(`\\p{${name}}`)
  })

  it("says of the properties it has no tables for that they are not supported", () => {
    for (const name of ["Age=6.0", "age!=3.2", "GCB=Extend", "Word_Break=ALetter", "sb:Lower"])
      expect(refused(`\\p{${name}}`)).toContain("not supported")
  })

  it("leaves a loop after an empty round, as the order of its alternatives says", () => {
    for (const source of ["(|a)*", "(|a)+", "(|a){2,}", "(a*?)+", "(a??)*"])
      expect(matches(source, "aaa"), source).toEqual(["", "", "", ""])
    expect(matches("(a|)+", "aaa")).toEqual(["aaa"])
    expect(matches("(|a)+b", "aab")).toEqual(["aab"])
    expect(matches("(?:a?)*?b", "aab")).toEqual(["aab"])
    expect(regexp("(|a)+").first("aaa")).toMatchObject({ text: "", groups: [""] })
    expect(regexp("(?:(a)|b)*").first("ab")).toMatchObject({ text: "ab", groups: ["a"] })
    expect(regexp("(?:^)*a").test("a")).toBe(true)
    expect(regexp("(?:(?:|a)+)+$").test("a".repeat(5_000))).toBe(true)
  })

  it("refuses flags given twice, half characters, counts without a beginning, and repeated flags", () => {
    for (const source of ["(?i-i)a", "(?ii)a", "(?i-i:a)", "(?im-xi)a"]) expect(refused(source)).toContain("given twice")
    for (const source of ["\\x{D800}", "\\u{dfff}", "\\uD83D\\uDE00", "\\U0000D800", "[\\uD800]"])
      expect(refused(source)).toContain("no character")
    for (const source of ["a{,3}", "a{,}", "a{}", "(?i)*", "(?i)+a", "\\x{}", "\\x{4g}", "(?<$>a)"]) refused(source)
    expect(matches("a{ 1 , 2 }", "aaa")).toEqual(["aa", "a"])
    expect(matches("(?:)*a", "a")).toEqual(["a"])
    expect(matches("(?<né.1[0]>a)", "a")).toEqual(["a"])
  })

  it("without Unicode keeps classes and case to ASCII, and refuses what would match parts of a character", () => {
    for (const source of [".", "[^a]", "\\W", "\\D", "\\xff", "[é]", "[a-é]", "\\pL", "[[:^alpha:]]"])
      expect(() => refused(`(?-u)${source}`), source).not.toThrow()
    expect(matches("(?-u)é", "é")).toEqual(["é"])
    expect(matches("(?i)k", "kK\u212a")).toEqual(["k", "K", "\u212a"])
    expect(matches("(?i-u)k", "kK\u212a")).toEqual(["k", "K"])
  })

  it("reads sets: nesting, intersection, difference, symmetric difference, POSIX names", () => {
    expect(matches("[a-z&&[^aeiou]]+", "hello")).toEqual(["h", "ll"])
    expect(matches("[0-9--4]+", "12456")).toEqual(["12", "56"])
    expect(matches("[a-g~~b-h]+", "abcgh")).toEqual(["a", "h"])
    expect(matches("[[:alpha:]_]+", "ab_1")).toEqual(["ab_"])
    expect(matches("[[:^digit:]]+", "a1b")).toEqual(["a", "b"])
    expect(matches("[]a]+", "a]b")).toEqual(["a]"])
    expect(matches("[-a]+", "a-b")).toEqual(["a-"])
    expect(matches("[^\\w\\s]", "a b!")).toEqual(["!"])
  })

  it("reads inline flags for the rest of their group", () => {
    expect(matches("(?i)straße", "STRAßE")).toEqual(["STRAßE"])
    expect(matches("a(?i:b)c", "aBc abC")).toEqual(["aBc"])
    expect(matches("(?m)^b$", "a\nb\nc")).toEqual(["b"])
    expect(matches("(?s).", "\n")).toEqual(["\n"])
    expect(matches("(?x) a b # both\n c", "abc")).toEqual(["abc"])
    expect(matches("(?U)a+", "aa")).toEqual(["a", "a"])
    expect(matches("(?mR)^x$", "x\r\nx")).toEqual(["x", "x"])
  })

  it("anchors `$` at the very end only, and knows `\\A` and `\\z`", () => {
    expect(matches("a$", "a\n")).toEqual([])
    expect(matches("\\Aa\\z", "a")).toEqual(["a"])
  })

  it("reads escapes of code points and of ASCII punctuation", () => {
    expect(matches("\\x41\\u{1F600}\\u0042\\/\\-", "A😀B/-")).toEqual(["A😀B/-"])
  })

  it("refuses look-around, back-references, dangling repetitions, unknown escapes and unclosed parts", () => {
    for (const source of ["(?=a)", "(?<!a)"]) expect(refused(source)).toContain("look-around")
    expect(refused("(a)\\1")).toContain("backreferences")
    for (const source of [
      "*a",
      "{2}",
      "a{",
      "a{3,2}",
      "\\y",
      "(",
      ")",
      "[a",
      "[z-a]",
      "(?<n>a)(?<n>b)",
      "(?q)",
      "a\\",
      "(?",
      "(?-)",
    ])
      refused(source)
  })

  it("refuses what would be too large once written out", () => {
    expect(refused("(?:a{1000}){1000}")).toContain("larger")
    expect(refused("(".repeat(200) + ")".repeat(200))).toContain("deeply")
  })
})

describe("the dialect of JSON Schema", () => {
  const test = (source: string, text: string) => regexp(source, "ecma").test(text)

  it("evaluates look-around by position, in linear time", () => {
    expect(test("^(?=.*[A-Z])(?=.*\\d).{8,}$", "Passw0rdX")).toBe(true)
    expect(test("^(?=.*[A-Z])(?=.*\\d).{8,}$", "password1")).toBe(false)
    expect(test("^(?!\\s*$).+", "   ")).toBe(false)
    expect(test("^(?!\\s*$).+", " x ")).toBe(true)
    expect(test("(?<=\\$)\\d+", "cost $5")).toBe(true)
    expect(test("(?<!a)b", "ab")).toBe(false)
    expect(test("(?<!a)b", "cb")).toBe(true)
    expect(test("(?=(?!b)a)a", "a")).toBe(true)
  })

  it("keeps to ASCII where ECMAScript does", () => {
    expect(test("^\\d$", "٣")).toBe(false)
    expect(test("^\\w$", "é")).toBe(false)
    expect(test("^[&&a]$", "&")).toBe(true)
    expect(test("^[\\w-]+$", "a-b")).toBe(true)
    expect(test("^.$", "\u2028")).toBe(false)
    expect(test("^[^]$", "x")).toBe(true)
  })

  it("refuses back-references", () => {
    expect(refused("(a)\\1", "ecma")).toContain("backreferences")
    expect(refused("(?<n>a)\\k<n>", "ecma")).toContain("backreferences")
  })
})
