import { literal, posixClass } from "./CharClass.ts"
import { type Dialect, type Flags, shorthand } from "./Dialect.ts"
import { isUntabled, propertyClass } from "./Property.ts"
import type { Reader } from "./Reader.ts"

/** What an escape stands for: one code point, or a class in `v` syntax. */
export type Escape = { readonly code: number } | { readonly chars: string }

const controls: { readonly [letter: string]: number } = { n: 10, t: 9, r: 13, f: 12, v: 11, a: 7 }

const codePoint = (reader: Reader, digits: string, start: number): number => {
  const code = Number.parseInt(digits, 16)
  if (!/^[0-9a-fA-F]+$/.test(digits) || code > 0x10ffff) return reader.fail("not a Unicode code point", start)
  return code
}

const hexEscape = (reader: Reader, letter: string, start: number, dialect: Dialect): number => {
  const scalar = (code: number) =>
    dialect === "rust" && code >= 0xd800 && code <= 0xdfff ? reader.fail("half of a surrogate pair is no character", start) : code
  if (reader.take("{")) return scalar(codePoint(reader, reader.until("}", "the escape").trim(), start))
  const width = letter === "x" ? 2 : letter === "u" ? 4 : 8
  const digits = reader.source.slice(reader.at, reader.at + width)
  if (digits.length < width || !/^[0-9A-Fa-f]+$/.test(digits))
    return reader.fail(`\`\\${letter}\` needs ${width} hexadecimal digits`, start)
  reader.at += width
  const code = scalar(codePoint(reader, digits, start))
  const low = code >= 0xd800 && code <= 0xdbff ? /\\u([dD][c-fC-F][0-9A-Fa-f]{2})/y : undefined
  const pair = low === undefined ? undefined : reader.match(low)
  return pair === undefined ? code : 0x10000 + ((code - 0xd800) << 10) + (Number.parseInt(pair[1]!, 16) - 0xdc00)
}

/** Reads an escape whose backslash has been taken, as far as it means the same inside a class and outside. */
export const escape = (reader: Reader, dialect: Dialect, flags: Flags): Escape => {
  const start = reader.at - 1
  const code = reader.next()
  const letter = String.fromCodePoint(code)
  if ("dDsSwW".includes(letter)) return { chars: shorthand(dialect, letter, flags) }
  if (letter === "p" || letter === "P") {
    if (!flags.unicode) return reader.fail("Unicode properties need Unicode", start)
    const name = reader.take("{") ? reader.until("}", "the property") : String.fromCodePoint(reader.next())
    const chars = propertyClass(name, letter === "P")
    if (chars !== undefined) return { chars }
    const message = isUntabled(name) ? "is not supported: its tables are not at hand" : "is unknown"
    return reader.fail(`the Unicode property \`${name}\` ${message}`, start)
  }
  if (letter === "x" || letter === "u" || (letter === "U" && dialect === "rust")) {
    const byte = dialect === "rust" && !flags.unicode && letter === "x"
    const value = hexEscape(reader, letter, start, dialect)
    if (byte && value > 0x7f && value <= 0xff) return reader.fail("without Unicode this can match invalid text", start)
    return { code: value }
  }
  const control = controls[letter]
  if (control !== undefined && (dialect === "rust" || letter !== "a")) return { code: control }
  if (dialect === "ecma") {
    if (letter === "c") return { code: reader.next() % 32 }
    if (letter === "0") return { code: 0 }
  }
  if (/[1-9]/.test(letter)) return reader.fail("backreferences are not supported", start)
  if (code < 128 && !/[0-9A-Za-z]/.test(letter)) return { code }
  return reader.fail(`\`\\${letter}\` is not an escape`, start)
}

class ClassParser {
  readonly reader: Reader
  readonly dialect: Dialect
  readonly flags: Flags
  depth = 0

  constructor(reader: Reader, dialect: Dialect, flags: Flags) {
    this.reader = reader
    this.dialect = dialect
    this.flags = flags
  }

  space(): void {
    if (this.flags.extended) this.reader.match(/(?:\s|#[^\n]*(?:\n|$))*/y)
  }

  /** A class whose `[` has been taken, as a class in `v` syntax. */
  parse(): string {
    const { reader } = this
    const start = reader.at - 1
    if (++this.depth > 50) return reader.fail("classes are nested too deeply", start)
    this.space()
    const negated = reader.take("^")
    this.space()
    let union: Array<string> = []
    if (this.dialect === "rust") {
      while (reader.take("-")) {
        union.push("\\-")
        this.space()
      }
      if (union.length === 0 && reader.take("]")) union.push("\\]")
    }
    let so: string | undefined
    let op: "&&" | "--" | "~~" | undefined
    const combine = () => {
      const side = `[${union.join("")}]`
      so =
        so === undefined || op === undefined ? side : op === "~~" ? `[[${so}--${side}][${side}--${so}]]` : `[${so}${op}${side}]`
      union = []
    }
    for (;;) {
      this.space()
      if (reader.done) return reader.fail("the class is not closed", start)
      if (reader.take("]")) break
      const next = this.dialect === "rust" ? (["&&", "--", "~~"] as const).find((mark) => reader.looking(mark)) : undefined
      if (next !== undefined) {
        combine()
        op = next
        reader.at += 2
        continue
      }
      union.push(this.item())
    }
    combine()
    this.depth--
    return negated ? `[^${so}]` : so!
  }

  item(): string {
    const { dialect, reader } = this
    if (dialect === "rust" && reader.looking("[")) {
      const named = reader.match(/\[:(\^?)([a-z]+):\]/y)
      if (named !== undefined)
        return (
          posixClass(named[2]!, named[1] === "^") ?? reader.fail(`unknown class \`[:${named[2]}:]\``, reader.at - named[0].length)
        )
      reader.at++
      return this.parse()
    }
    const start = reader.at
    const first = this.end()
    if (!("code" in first)) return first.chars
    this.space()
    const dashed =
      reader.looking("-") &&
      !["]", ""].includes(reader.source[reader.at + 1] ?? "") &&
      !(dialect === "rust" && reader.looking("--"))
    if (!dashed) return literal(first.code)
    const before = reader.at++
    this.space()
    if (dialect === "rust" && reader.looking("]")) {
      reader.at = before
      return literal(first.code)
    }
    const last = this.end()
    if (!("code" in last))
      return dialect === "rust" ? reader.fail("a range ends in a class", start) : `${literal(first.code)}\\-${last.chars}`
    if (last.code < first.code) return reader.fail("a range ends before it begins", start)
    return `${literal(first.code)}-${literal(last.code)}`
  }

  end(): Escape {
    const { dialect, flags, reader } = this
    if (!reader.take("\\")) {
      const code = reader.next()
      return flags.unicode || code < 128 ? { code } : reader.fail("this character needs Unicode")
    }
    if (dialect === "ecma" && reader.take("b")) return { code: 8 }
    return escape(reader, dialect, flags)
  }
}

/** Reads a class whose `[` has been taken. */
export const classSource = (reader: Reader, dialect: Dialect, flags: Flags): string => {
  const source = new ClassParser(reader, dialect, flags).parse()
  return source === "[]" ? "[^\\u{0}-\\u{10ffff}]" : source
}
