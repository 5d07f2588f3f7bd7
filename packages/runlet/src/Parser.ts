import { type Draft, syntaxError } from "./Draft.ts"
import { type BlockContext, Expressions } from "./Parser/Expressions.ts"
import { type Comment, scan } from "./Scanner.ts"
import type { Block, Expr, Statement } from "./Syntax.ts"

/** A tree, or the diagnostics that the language shows: one syntax error, or every analysis error the grammar can tell. */
export type Parse =
  | { readonly ok: true; readonly program: Block; readonly comments: ReadonlyArray<Comment> }
  | { readonly ok: false; readonly errors: ReadonlyArray<Draft> }

const constructs: { readonly [keyword: string]: string } = {
  if: "`if` is not a statement; bind the conditional's result: `x = if condition { ... } else { ... }` — inside loops, `skip if condition` filters",
  for: "control structures are expressions; bind the result to a name: `results = for item in items { ... }`",
  fold: "control structures are expressions; bind the result to a name: `results = for item in items { ... }`",
  boundary: "control structures are expressions; bind the result to a name: `results = for item in items { ... }`",
}

class Parser extends Expressions {
  program(): Block {
    const start = this.token.start
    this.skipNewlines()
    if (this.at("end")) this.expected("program")
    const statements = this.statements("end")
    let result: Expr = this.placeholder()
    if (this.take("return")) {
      result = this.expression()
      this.skipNewlines()
      if (!this.at("end")) {
        const { start: from, end } = this.token
        const [title, message] = this.sameLine
          ? ["unexpected token", this.prefixed ?? "expected the end of the line after `return expression`"]
          : ["early or duplicate return", "a block has exactly one final return"]
        this.stop(syntaxError("RL1012", title, message, { start: from, end }))
      }
    } else this.expected("a final `return` statement")
    const span = this.spanFrom(start)
    return { statements, result, span, height: this.heightOf(statements, result) }
  }

  protected block(context: BlockContext): Block {
    const outer = this.context
    const start = this.token.start
    this.expect("{", "`{`")
    this.context = context
    this.skipNewlines()
    const statements = this.statements("}")
    const result = this.result()
    this.context = outer
    const span = this.spanFrom(start)
    return { statements, result, span, height: this.heightOf(statements, result) }
  }

  private result(): Expr {
    if (this.take("return")) {
      const result = this.expression()
      this.skipNewlines()
      this.expect("}", "`}` after block return")
      return result
    }
    if (this.at("}")) {
      const { start, end } = this.token
      const replacement = this.sameLine && !this.follows("{", ";") ? "\nreturn null\n" : "return null\n"
      const fix = { span: { start, end: start }, replacement, message: "insert `return null`" }
      this.stop(
        syntaxError(
          "RL1017",
          "a block must return a value",
          "write `return expression` as the final statement",
          { start, end },
          fix,
        ),
      )
    } else this.expected("`}`")
    return this.placeholder()
  }

  private statements(closing: "}" | "end"): ReadonlyArray<Statement> {
    const statements: Array<Statement> = []
    while (!this.at("return") && !this.at(closing) && !this.at("end")) {
      const statement = this.statement(closing)
      if (statement !== undefined) statements.push(statement)
      const terminated = this.terminated()
      if (!terminated && !this.at(closing) && !this.at("end")) this.expected("a newline or `;`")
    }
    return statements
  }

  private terminated(): boolean {
    const before = this.position
    this.skipNewlines()
    return this.position !== before
  }

  private heightOf(statements: ReadonlyArray<Statement>, result: Expr): number {
    let height = result.height
    for (const statement of statements) height = Math.max(height, statement.height)
    return height
  }

  private statement(closing: "}" | "end"): Statement | undefined {
    const { kind, start, end } = this.token
    if (kind === "skip") return this.skip()
    if (kind === "assert") return this.assert()
    const construct = constructs[kind]
    if (construct !== undefined) {
      this.stop(syntaxError("RL1014", "control structures are expressions", construct, { start, end }))
      return undefined
    }
    if (kind === "name" && this.peek(1).kind === "=") return this.binding()
    const mark = this.mark()
    if (kind === "name") {
      this.position++
      this.expected("`=` after the binding name")
    } else this.expected("a binding such as `name = expression`")
    const original = this.error!
    this.rewind(mark)
    const bare = this.expression()
    const ended = this.error === undefined && ["newline", ";", "}", "end"].includes(this.token.kind)
    if (!ended) {
      this.error = undefined
      this.stop(original)
      return undefined
    }
    this.skipNewlines()
    if (closing === "}" && this.at("}")) {
      const fix = { span: { start, end: start }, replacement: "return ", message: "insert `return `" }
      this.stop(
        syntaxError("RL1017", "a block must return a value", "write `return expression` as the final statement", bare.span, fix),
      )
    } else {
      const message = "an expression cannot stand alone; bind its result to a name: `result = expression`"
      this.stop(syntaxError("RL1019", "statements are bindings", message, bare.span))
    }
    return undefined
  }

  private binding(): Statement {
    const name = this.name("a binding such as `name = expression`")
    this.position++
    const value = this.expression()
    const span = this.spanFrom(name.span.start)
    return name.name === "_"
      ? { kind: "discard", value, span, height: value.height }
      : { kind: "bind", name, value, span, height: value.height }
  }

  private skip(): Statement {
    const { start, end } = this.advance()
    if (!this.context.skip) {
      const message = "`skip` is only valid directly inside a `for` or `fold` body and cannot cross a `boundary`"
      this.stop(syntaxError("RL1018", "skip outside a loop body", message, { start, end }))
    }
    const condition = this.take("if") ? this.infix(1) : undefined
    return { kind: "skip", condition, span: this.spanFrom(start), height: condition?.height ?? 1 }
  }

  private assert(): Statement {
    const { start } = this.advance()
    this.expect("(", "`(` after `assert`")
    const condition = this.expression()
    const message = this.take(",") ? this.expression() : undefined
    this.expect(")", "`)` after assertion")
    return {
      kind: "assert",
      condition,
      message,
      span: this.spanFrom(start),
      height: Math.max(condition.height, message?.height ?? 0),
    }
  }
}

/** Source to tree. Never throws. */
export const parse = (source: string): Parse => {
  const scanned = scan(source)
  if (!scanned.ok) return { ok: false, errors: [scanned.error] }
  const parser = new Parser(scanned.tokens)
  const program = parser.program()
  if (parser.error !== undefined) return { ok: false, errors: [parser.error] }
  if (parser.analysis.length > 0) return { ok: false, errors: parser.analysis }
  return { ok: true, program, comments: scanned.comments }
}
