import type { CharClass } from "./CharClass.ts"

export type Assertion =
  | "text_start"
  | "text_end"
  | "line_start"
  | "line_end"
  | "crlf_start"
  | "crlf_end"
  | "word"
  | "not_word"
  | "word_start"
  | "word_end"
  | "word_start_half"
  | "word_end_half"

/** A parsed regular expression. */
export type Pattern =
  | { readonly kind: "empty" }
  | { readonly kind: "class"; readonly chars: CharClass }
  | { readonly kind: "concat"; readonly items: ReadonlyArray<Pattern> }
  | { readonly kind: "alternate"; readonly items: ReadonlyArray<Pattern> }
  | { readonly kind: "repeat"; readonly item: Pattern; readonly min: number; readonly max: number; readonly greedy: boolean }
  | { readonly kind: "group"; readonly index: number; readonly item: Pattern }
  /** `word` is what counts as a word character around a word boundary. */
  | { readonly kind: "assert"; readonly assertion: Assertion; readonly word: CharClass | undefined }
  | { readonly kind: "look"; readonly ahead: boolean; readonly negated: boolean; readonly item: Pattern }

export interface Parsed {
  readonly pattern: Pattern
  /** Capture groups, without the whole match. */
  readonly groups: number
  readonly names: ReadonlyMap<string, number>
  /** Different classes of characters that are more than one character. */
  readonly classes: number
}

/** Why a pattern is refused; `at` is a UTF-16 offset into it. */
export class PatternError {
  readonly message: string
  readonly at: number
  constructor(message: string, at: number) {
    this.message = message
    this.at = at
  }
}

export const empty: Pattern = { kind: "empty" }

/** Flags for what follows: nothing that could be repeated. */
export const flagsOnly: Pattern = { kind: "empty" }

export const concat = (items: ReadonlyArray<Pattern>): Pattern =>
  items.length === 0 ? empty : items.length === 1 ? items[0]! : { kind: "concat", items }

/** The same pattern read from right to left. */
export const reversed = (pattern: Pattern): Pattern => {
  switch (pattern.kind) {
    case "concat":
      return { kind: "concat", items: pattern.items.map(reversed).reverse() }
    case "alternate":
      return { kind: "alternate", items: pattern.items.map(reversed) }
    case "repeat":
    case "group":
      return { ...pattern, item: reversed(pattern.item) }
    default:
      return pattern
  }
}
