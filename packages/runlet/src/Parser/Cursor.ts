import { type Draft, type Proposal, schemaError, syntaxError } from "../Draft.ts"
import type { Token } from "../Scanner.ts"
import type { Span } from "../Span.ts"
import type { Expr, Name } from "../Syntax.ts"

/** Entries into the expression production, the program's own included. */
export const MAX_NESTING = 64
/** Levels of the whole tree: what chains of operators and blocks add up to. */
export const MAX_HEIGHT = 512

const closers: ReadonlySet<string> = new Set([")", "]", "}"])

/** What one speculative reading left behind, to be undone. */
export interface Mark {
  readonly position: number
  readonly analysis: number
}

/**
 * Reads tokens and keeps the first syntax error. After it the cursor stands at the end, so every loop of the grammar ends by itself and
 * nothing is thrown; whoever tries a reading that may fail takes a {@link Mark} and goes back to it.
 */
export class Cursor {
  readonly tokens: ReadonlyArray<Token>
  /** The first syntax error. */
  error: Draft | undefined
  /** Errors of the analysis phase that the grammar can tell already. */
  readonly analysis: Array<Draft> = []
  protected position = 0
  protected nesting = 0

  constructor(tokens: ReadonlyArray<Token>) {
    this.tokens = tokens
  }

  protected get token(): Token {
    return this.tokens[this.position]!
  }

  protected get previousEnd(): number {
    return this.position === 0 ? 0 : this.tokens[this.position - 1]!.end
  }

  protected at(kind: string): boolean {
    return this.token.kind === kind
  }

  protected peek(ahead: number): Token {
    return this.tokens[Math.min(this.position + ahead, this.tokens.length - 1)]!
  }

  protected advance(): Token {
    const token = this.token
    if (token.kind !== "end") this.position++
    return token
  }

  protected take(kind: string): boolean {
    if (!this.at(kind)) return false
    this.position++
    return true
  }

  protected expect(kind: string, what: string): Token | undefined {
    if (this.at(kind)) return this.advance()
    this.expected(what)
    return undefined
  }

  protected skipNewlines(): void {
    while (this.at("newline") || this.at(";")) this.position++
  }

  protected skipLineEnds(): void {
    while (this.at("newline")) this.position++
  }

  protected mark(): Mark {
    return { position: this.position, analysis: this.analysis.length }
  }

  protected rewind(mark: Mark): void {
    this.position = mark.position
    this.error = undefined
    this.analysis.length = mark.analysis
  }

  protected stop(error: Draft): void {
    this.error ??= error
    this.position = this.tokens.length - 1
  }

  protected expected(what: string): void {
    const { start, end } = this.token
    const message = this.prefixed === undefined ? `expected ${what}` : `expected ${what}; ${this.prefixed}`
    this.stop(syntaxError("RL1008", "unexpected token", message, { start, end }, this.insertion(what)))
  }

  /** Whether something stands before this token on its line. */
  protected get sameLine(): boolean {
    return this.position > 0 && !this.follows("newline")
  }

  protected follows(...kinds: ReadonlyArray<string>): boolean {
    return this.position > 0 && kinds.includes(this.tokens[this.position - 1]!.kind)
  }

  /** What to say of a string that a name touches, as `f"…"` does. */
  protected get prefixed(): string | undefined {
    const before = this.tokens[this.position - 1]
    if (before?.kind !== "name" || !this.at("string") || before.end !== this.token.start) return undefined
    return `strings have no prefix like \`${before.text.slice(0, 20)}\`; join parts with \`+\`, as in \`"n is " + n\``
  }

  /** The token that is expected, put behind the one before; at the end of the source everything that is still open is closed. */
  private insertion(what: string): Proposal | undefined {
    const named = /^`([^`\s]+)`(?! \(?—)/.exec(what)?.[1]
    if (named === undefined) return undefined
    const text = this.at("end") && closers.has(named) ? this.open() : named
    const at = this.previousEnd
    return {
      span: { start: at, end: at },
      replacement: /^\w/.test(text) ? ` ${text} ` : text,
      message: `insert \`${text}\``,
      guess: true,
    }
  }

  /** What closes the brackets that are open here, innermost first. */
  private open(): string {
    const open: Array<string> = []
    for (const { kind } of this.tokens) {
      if (kind === "(") open.push(")")
      else if (kind === "[") open.push("]")
      else if (kind === "{") open.push("}")
      else if (closers.has(kind)) open.pop()
    }
    return open.reverse().join("")
  }

  protected misuse(code: string, title: string, message: string, span: Span): void {
    this.analysis.push(schemaError(code, message, span, { title }))
  }

  protected spanFrom(start: number): Span {
    return { start, end: Math.max(start, this.previousEnd) }
  }

  protected name(what: string): Name {
    const token = this.token
    if (token.kind === "name") this.position++
    else this.expected(what)
    return { kind: "name", name: token.text, span: { start: token.start, end: token.end }, height: 1 }
  }

  /** The height of a node over these parts; one too many is an error at `span`. */
  protected height(span: Span, ...parts: ReadonlyArray<number>): number {
    let height = 0
    for (const part of parts) if (part > height) height = part
    if (height >= MAX_HEIGHT) {
      const message = `expression nesting exceeds the limit of ${MAX_HEIGHT} chained operations`
      this.stop(syntaxError("RL1015", "expression too deeply nested", message, span))
    }
    return height + 1
  }

  protected placeholder(): Expr {
    const { start, end } = this.token
    return { kind: "literal", value: null, span: { start, end }, height: 1 }
  }
}
