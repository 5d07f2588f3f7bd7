import { float, integer, list, MAX_INTEGER, MIN_INTEGER, object, type Value } from "./Value.ts"

/** Levels of arrays and objects. */
const MAX_DEPTH = 127

/** Why a text is no JSON, at a 1-based line and column. */
export class JsonProblem {
  readonly message: string
  readonly line: number
  readonly column: number
  constructor(message: string, line: number, column: number) {
    this.message = message
    this.line = line
    this.column = column
  }
}

const numberAt = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y
const escapes: { readonly [letter: string]: string } = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
}

class JsonReader {
  readonly text: string
  at = 0
  problem: JsonProblem | undefined

  constructor(text: string) {
    this.text = text
  }

  fail(message: string, at = this.at): null {
    if (this.problem === undefined) {
      const before = this.text.slice(0, at)
      const line = before.split("\n").length
      this.problem = new JsonProblem(message, line, Array.from(before.slice(before.lastIndexOf("\n") + 1)).length + 1)
    }
    this.at = this.text.length
    return null
  }

  space(): void {
    for (;;) {
      const char = this.text[this.at]
      if (char !== " " && char !== "\n" && char !== "\r" && char !== "\t") return
      this.at++
    }
  }

  value(depth: number): Value {
    this.space()
    const char = this.text[this.at]
    if (char === undefined) return this.fail("the text ends too early")
    if (char === "{" || char === "[") {
      if (depth >= MAX_DEPTH) return this.fail(`nested deeper than ${MAX_DEPTH} levels`)
      this.at++
      return char === "[" ? this.array(depth + 1) : this.object(depth + 1)
    }
    if (char === '"') return this.string()
    if (char === "-" || (char >= "0" && char <= "9")) return this.number()
    for (const [word, value] of [
      ["true", true],
      ["false", false],
      ["null", null],
    ] as const)
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length
        return value
      }
    return this.fail("expected a value")
  }

  number(): Value {
    numberAt.lastIndex = this.at
    const found = numberAt.exec(this.text)
    if (found === null) return this.fail("not a number")
    const start = this.at
    this.at += found[0].length
    if (found[1] === undefined && found[2] === undefined && found[0] !== "-0") {
      const whole = BigInt(found[0])
      if (whole >= MIN_INTEGER && whole <= MAX_INTEGER) return integer(whole)
    }
    const number = Number(found[0])
    return Number.isFinite(number) ? float(number) : this.fail("number out of range", start)
  }

  string(): string {
    const start = this.at++
    let out = ""
    for (let from = this.at; ; ) {
      const unit = this.text.charCodeAt(this.at)
      if (Number.isNaN(unit)) {
        this.fail("the string is not closed", start)
        return ""
      }
      if (unit === 0x22) {
        out += this.text.slice(from, this.at++)
        return out
      }
      if (unit < 0x20) {
        this.fail("raw control character in a string")
        return ""
      }
      if (unit !== 0x5c) {
        this.at++
        continue
      }
      out += this.text.slice(from, this.at)
      out += this.escape()
      from = this.at
    }
  }

  escape(): string {
    const start = this.at
    const letter = this.text[this.at + 1] ?? ""
    const simple = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined
    if (simple !== undefined) {
      this.at += 2
      return simple
    }
    const found = /^\\u([0-9a-fA-F]{4})(?:\\u([0-9a-fA-F]{4}))?/.exec(this.text.slice(start, start + 12))
    if (found === null) return this.fail("invalid escape") ?? ""
    const first = Number.parseInt(found[1]!, 16)
    if (first < 0xd800 || first > 0xdfff) {
      this.at += 6
      return String.fromCharCode(first)
    }
    const second = Number.parseInt(found[2] ?? "0", 16)
    if (first > 0xdbff || second < 0xdc00 || second > 0xdfff) return this.fail("lone surrogate in an escape") ?? ""
    this.at += 12
    return String.fromCharCode(first, second)
  }

  array(depth: number): Value {
    const items: Array<Value> = []
    this.space()
    if (this.text[this.at] === "]") {
      this.at++
      return list(items)
    }
    for (;;) {
      items.push(this.value(depth))
      this.space()
      const char = this.text[this.at]
      if (char === "]") {
        this.at++
        return list(items)
      }
      if (char !== ",") return this.fail("expected `,` or `]`")
      this.at++
    }
  }

  object(depth: number): Value {
    const entries = new Map<string, Value>()
    this.space()
    if (this.text[this.at] === "}") {
      this.at++
      return object(entries)
    }
    for (;;) {
      this.space()
      if (this.text[this.at] !== '"') return this.fail("expected a property name")
      const key = this.string()
      this.space()
      if (this.text[this.at] !== ":") return this.fail("expected `:`")
      this.at++
      entries.set(key, this.value(depth))
      this.space()
      const char = this.text[this.at]
      if (char === "}") {
        this.at++
        return object(entries)
      }
      if (char !== ",") return this.fail("expected `,` or `}`")
      this.at++
    }
  }
}

/** JSON text as a value: numbers written as integers of 64 bits are Integers, all others Numbers; the last of equal keys wins. */
export const parseJson = (text: string): Value | JsonProblem => {
  const reader = new JsonReader(text)
  const value = reader.value(0)
  reader.space()
  if (reader.problem === undefined && reader.at < text.length) reader.fail("more text after the value")
  return reader.problem ?? value
}
