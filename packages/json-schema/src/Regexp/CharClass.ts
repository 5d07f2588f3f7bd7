/** A set of characters: ASCII by table, the rest asked of the runtime's own Unicode tables one character at a time. */
export class CharClass {
  readonly #ascii = new Uint8Array(128)
  readonly #test: RegExp
  readonly #known = new Map<number, boolean>()

  /** `source` is one class or class escape in the syntax of the `v` flag. `fold` says which letters have their case ignored. */
  constructor(source: string, fold: "none" | "ascii" | "unicode") {
    this.#test = new RegExp(`^${source}$`, fold === "unicode" ? "iv" : "v")
    const ascii = fold === "ascii" ? new RegExp(`^${source}$`, "iv") : this.#test
    for (let code = 0; code < 128; code++) this.#ascii[code] = ascii.test(String.fromCharCode(code)) ? 1 : 0
  }

  has(code: number): boolean {
    if (code < 128) return this.#ascii[code] === 1
    const known = this.#known.get(code)
    if (known !== undefined) return known
    const answer = this.#test.test(String.fromCodePoint(code))
    if (this.#known.size < 65_536) this.#known.set(code, answer)
    return answer
  }
}

/** A code point as the inside of a class. */
export const literal = (code: number): string => `\\u{${code.toString(16)}}`

const posix: { readonly [name: string]: string } = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\u{0}-\\u{7f}",
  blank: "\\t\\u{20}",
  cntrl: "\\u{0}-\\u{1f}\\u{7f}",
  digit: "0-9",
  graph: "\\u{21}-\\u{7e}",
  lower: "a-z",
  print: "\\u{20}-\\u{7e}",
  punct: "\\u{21}-\\u{2f}\\u{3a}-\\u{40}\\u{5b}-\\u{60}\\u{7b}-\\u{7e}",
  space: "\\t\\n\\v\\f\\r\\u{20}",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
}

/** `[:name:]` as a class of its own. */
export const posixClass = (name: string, negated: boolean): string | undefined =>
  Object.hasOwn(posix, name) ? `[${negated ? "^" : ""}${posix[name]}]` : undefined

/** `\d`, `\s`, `\w` and their negations, over all of Unicode or ASCII only. */
export const perlClass = (letter: string, unicode: boolean): string => {
  const lower = letter.toLowerCase()
  const inside = unicode
    ? { d: "\\p{Nd}", s: "\\p{White_Space}", w: "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}" }[lower]
    : { d: "0-9", s: "\\t\\n\\v\\f\\r\\u{20}", w: "0-9A-Za-z_" }[lower]
  return `[${letter === lower ? "" : "^"}${inside}]`
}
