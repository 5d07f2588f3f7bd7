import { type Draft, type Proposal, syntaxError } from "./Draft.ts"
import type { Span } from "./Span.ts"

/** The reserved words; ordinary names after `.` and before `:`. */
export const reserved: ReadonlySet<string> = new Set([
  "return",
  "for",
  "in",
  "after",
  "boundary",
  "fold",
  "skip",
  "assert",
  "fail",
  "retry",
  "catch",
  "if",
  "else",
  "and",
  "or",
  "not",
  "null",
  "true",
  "false",
])

/**
 * A token. `kind` is the text itself for reserved words and punctuation, else `name`, `integer`, `number`, `string`, `newline` or `end`.
 * `text` is the name, the digits, or the decoded string.
 */
export interface Token {
  readonly kind: string
  readonly text: string
  readonly start: number
  readonly end: number
}

export interface Comment extends Span {
  readonly text: string
}

/** Tokens up to an `end` token, or the one diagnostic at which scanning stopped. */
export type Scan =
  | { readonly ok: true; readonly tokens: ReadonlyArray<Token>; readonly comments: ReadonlyArray<Comment> }
  | { readonly ok: false; readonly error: Draft }

const continues: ReadonlySet<string> = new Set("= , : + - * / % == != < <= > >= and or not in if else newline ;".split(" "))
const nameStart = /[_\p{XID_Start}]/u
const nameRest = /[_\p{XID_Continue}]/u
const ascii = /[A-Za-z0-9_]/
const wordAt = /[_\p{XID_Start}][_\p{XID_Continue}]*/uy
const numberAt = /\d+(?:\.\d+)?(?:[eE][+-]?\d*)?/y
const simpleEscapes: Record<string, string> = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }

const decode = (source: string, start: number, end: number): { text: string } | { problem: string } => {
  let text = ""
  let from = start
  for (let at = start; at < end; at++) {
    const unit = source.charCodeAt(at)
    if (unit < 0x20)
      return {
        problem: `raw control character U+${unit.toString(16).toUpperCase().padStart(4, "0")}; write an escape such as \`\\n\``,
      }
    if (unit >= 0xd800 && unit <= 0xdfff) {
      const next = source.charCodeAt(at + 1)
      if (unit > 0xdbff || at + 1 >= end || next < 0xdc00 || next > 0xdfff) return { problem: "lone surrogate" }
      at++
      continue
    }
    if (unit !== 0x5c) continue
    text += source.slice(from, at)
    const char = source[at + 1] ?? ""
    const simple = simpleEscapes[char]
    if (simple !== undefined) {
      text += simple
      at += 1
    } else if (char === "u") {
      const code = hex(source, at + 2, end)
      if (code === undefined) return { problem: "`\\u` needs four hexadecimal digits" }
      at += 5
      if (code >= 0xdc00 && code <= 0xdfff) return { problem: "lone surrogate in escape" }
      if (code >= 0xd800 && code <= 0xdbff) {
        const low = source.startsWith("\\u", at + 1) ? hex(source, at + 3, end) : undefined
        if (low === undefined || low < 0xdc00 || low > 0xdfff) return { problem: "lone surrogate in escape" }
        text += String.fromCharCode(code, low)
        at += 6
      } else text += String.fromCharCode(code)
    } else return { problem: `\`\\${char}\` is not a JSON string escape` }
    from = at + 1
  }
  return { text: text + source.slice(from, end) }
}

const hex = (source: string, at: number, end: number): number | undefined => {
  const digits = source.slice(at, Math.min(at + 4, end))
  return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : undefined
}

const isPair = (source: string, at: number, end: number): boolean => {
  const low = source.charCodeAt(at + 1)
  return source.charCodeAt(at) <= 0xdbff && at + 1 < end && low >= 0xdc00 && low <= 0xdfff
}

/** The escape at `at` if JSON has it and it is a whole character; U+FFFD for half of one. */
const escapeAt = (source: string, at: number, end: number): readonly [length: number, text: string] | undefined => {
  const letter = source[at + 1] ?? ""
  if (simpleEscapes[letter] !== undefined) return [2, source.slice(at, at + 2)]
  const code = letter === "u" ? hex(source, at + 2, end) : undefined
  if (code === undefined) return undefined
  if (code < 0xd800 || code > 0xdfff) return [6, source.slice(at, at + 6)]
  const low = source.startsWith("\\u", at + 6) ? hex(source, at + 8, end) : undefined
  const whole = code <= 0xdbff && low !== undefined && low >= 0xdc00 && low <= 0xdfff
  return whole ? [12, source.slice(at, at + 12)] : [6, "\ufffd"]
}

/**
 * What a literal should have been: controls escaped, a backslash that escapes nothing doubled, half characters replaced. A line break in
 * it may as well be a quote that is missing.
 */
const escaped = (source: string, start: number, end: number): Omit<Proposal, "span"> => {
  let text = ""
  for (let at = start; at < end; at++) {
    const unit = source.charCodeAt(at)
    const char = source[at]!
    if (unit < 0x20) text += JSON.stringify(char).slice(1, -1)
    else if (unit >= 0xd800 && unit <= 0xdfff) {
      const pair = isPair(source, at, end)
      text += pair ? source.slice(at, at + 2) : "\ufffd"
      if (pair) at++
    } else if (char === "\\") {
      const known = escapeAt(source, at, end)
      if (known === undefined) text += source[at + 1] === "'" ? "" : "\\\\"
      else {
        text += known[1]
        at += known[0] - 1
      }
    } else text += char
  }
  return { replacement: `"${text}"`, message: "escape what a string cannot hold", guess: /[\r\n]/.test(source.slice(start, end)) }
}

/** How many characters from `at` on no token can begin with. */
const invalid = (source: string, at: number): number => {
  let stop = at
  while (stop < source.length) {
    const char = String.fromCodePoint(source.codePointAt(stop)!)
    if (/[\s"#0-9]/.test(char) || nameStart.test(char) || punctuation(source, stop) !== undefined) break
    stop += char.length
  }
  return Math.max(1, stop - at)
}

const punctuation = (source: string, at: number): string | undefined => {
  const two = source.slice(at, at + 2)
  if (two === "==" || two === "!=" || two === "<=" || two === ">=") return two
  const one = source[at]!
  return "()[]{}.,:;=+-*/%<>".includes(one) ? one : undefined
}

/** Source to tokens by the newline and bracket rules. Stops at the first bad token. Never throws. */
export const scan = (source: string): Scan => {
  const tokens: Array<Token> = []
  const comments: Array<Comment> = []
  const saved: Array<readonly [parens: number, brackets: number]> = []
  let parens = 0
  let brackets = 0
  let at = 0
  const push = (kind: string, text: string, end: number) => {
    tokens.push({ kind, text, start: at, end })
    at = end
  }
  while (at < source.length) {
    const char = source[at]!
    if (char === " " || char === "\t" || char === "\r") at++
    else if (char === "\n") {
      const last = tokens.at(-1)
      if (parens + brackets > 0 || (last !== undefined && continues.has(last.kind))) at++
      else push("newline", "\n", at + 1)
    } else if (char === "#" || (char === "/" && source[at + 1] === "/")) {
      const end = source.indexOf("\n", at)
      const stop = end === -1 ? source.length : end
      comments.push({ start: at, end: stop, text: source.slice(at, stop).trimEnd() })
      at = stop
    } else if (char === '"') {
      let end = at + 1
      while (end < source.length && source[end] !== '"') end += source[end] === "\\" ? 2 : 1
      if (end >= source.length) {
        const whole = { start: at, end: source.length }
        const stop = /\r?\n|$/.exec(source.slice(at))!.index + at
        const close = { span: { start: stop, end: stop }, replacement: '"', message: "add a closing double quote" }
        return { ok: false, error: syntaxError("RL1002", "unterminated string", "add a closing double quote", whole, close) }
      }
      const decoded = decode(source, at + 1, end)
      const span = { start: at, end: end + 1 }
      if ("problem" in decoded) {
        const fix = { span, ...escaped(source, at + 1, end) }
        return { ok: false, error: syntaxError("RL1003", "invalid string escape", decoded.problem, span, fix) }
      }
      push("string", decoded.text, end + 1)
    } else if (char >= "0" && char <= "9") {
      numberAt.lastIndex = at
      const text = numberAt.exec(source)![0]
      push(/^\d+$/.test(text) ? "integer" : "number", text, at + text.length)
    } else if (ascii.test(char) || nameStart.test(String.fromCodePoint(source.codePointAt(at)!))) {
      wordAt.lastIndex = at
      const text = wordAt.exec(source)![0]
      push(reserved.has(text) ? text : "name", text, at + text.length)
    } else {
      const mark = punctuation(source, at)
      if (mark === undefined) {
        const bad = String.fromCodePoint(source.codePointAt(at)!)
        const span = { start: at, end: at + bad.length }
        const fix = { span: { start: at, end: at + invalid(source, at) }, replacement: "", message: "remove it" }
        return {
          ok: false,
          error: syntaxError("RL1001", "invalid character", `\`${bad}\` is not valid Runlet syntax`, span, fix),
        }
      }
      if (mark === "(") parens++
      else if (mark === ")") parens = Math.max(0, parens - 1)
      else if (mark === "[") brackets++
      else if (mark === "]") brackets = Math.max(0, brackets - 1)
      else if (mark === "{") {
        saved.push([parens, brackets])
        parens = 0
        brackets = 0
      } else if (mark === "}") {
        const outer = saved.pop()
        parens = outer?.[0] ?? 0
        brackets = outer?.[1] ?? 0
      }
      push(mark, mark, at + mark.length)
    }
  }
  push("end", "", at)
  return { ok: true, tokens, comments }
}

/** Whether a text is one name of the language (reserved words are not). */
export const isName = (text: string): boolean => {
  const chars = Array.from(text)
  return chars.length > 0 && nameStart.test(chars[0]!) && chars.every((char) => nameRest.test(char)) && !reserved.has(text)
}
