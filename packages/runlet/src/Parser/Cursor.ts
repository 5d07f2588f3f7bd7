import { type Draft, schemaError, syntaxError } from "../Draft.ts"
import type { Token } from "../Scanner.ts"
import type { Span } from "../Span.ts"
import type { Expr, Name } from "../Syntax.ts"

/** Entries into the expression production, the program's own included. */
export const MAX_NESTING = 64
/** Levels of the whole tree: what chains of operators and blocks add up to. */
export const MAX_HEIGHT = 512

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
    const insert = { span: { start, end: start }, replacement: "", message: `insert ${what}` }
    this.stop(syntaxError("RL1008", "unexpected token", `expected ${what}`, { start, end }, insert))
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
