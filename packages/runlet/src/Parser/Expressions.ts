import { syntaxError } from "../Draft.ts"
import { reserved } from "../Scanner.ts"
import type { Span } from "../Span.ts"
import type { Arm, BinaryOperator, Block, Entry, Expr, Name } from "../Syntax.ts"
import { Cursor, MAX_NESTING } from "./Cursor.ts"

/** Binding strength of the infix operators, loosest first. */
export const strengths: { readonly [op: string]: number } = {
  or: 1,
  and: 2,
  "==": 3,
  "!=": 3,
  "<": 4,
  "<=": 4,
  ">": 4,
  ">=": 4,
  in: 4,
  "+": 5,
  "-": 5,
  "*": 6,
  "/": 6,
  "%": 6,
}

const isComparison = (expr: Expr) => expr.kind === "binary" && (strengths[expr.op] === 3 || strengths[expr.op] === 4)

/** Which statements a block may hold: `skip` is refused outside a loop and inside a boundary. */
export interface BlockContext {
  readonly skip: boolean
}

/** The expression grammar: a Pratt loop over {@link strengths}, with the postfix conditional above it. */
export abstract class Expressions extends Cursor {
  /** Comparisons that stand in parentheses, which chains may contain. */
  readonly #grouped = new WeakSet<Expr>()
  protected context: BlockContext = { skip: false }

  protected abstract block(context: BlockContext): Block

  protected expression(): Expr {
    if (this.nesting >= MAX_NESTING) {
      const { start, end } = this.token
      this.stop(
        syntaxError("RL1015", "expression too deeply nested", `expression nesting exceeds the limit of ${MAX_NESTING}`, {
          start,
          end,
        }),
      )
      return this.placeholder()
    }
    this.nesting++
    const start = this.token.start
    let value = this.infix(1)
    while (this.take("if")) {
      const condition = this.infix(1)
      const other = this.take("else") ? this.expression() : undefined
      const span = this.spanFrom(start)
      value = {
        kind: "conditional",
        value,
        condition,
        other,
        span,
        height: this.height(span, value.height, condition.height, other?.height ?? 0),
      }
    }
    this.nesting--
    return value
  }

  /** An `or_expr` for strength 1; tighter expressions for more. */
  protected infix(least: number): Expr {
    const start = this.token.start
    let left = this.unary()
    for (;;) {
      const op = this.token.kind
      const strength = strengths[op]
      if (strength === undefined || strength < least) return left
      this.position++
      const right = this.infix(strength + 1)
      const span = this.spanFrom(start)
      const chained = (side: Expr) => isComparison(side) && !this.#grouped.has(side)
      if ((strength === 3 || strength === 4) && (chained(left) || chained(right)))
        this.misuse(
          "RL2306",
          "chained comparisons are not supported",
          "join explicit comparisons with `and`, for example `a < b and b < c`",
          span,
        )
      left = { kind: "binary", op: op as BinaryOperator, left, right, span, height: this.height(span, left.height, right.height) }
    }
  }

  protected unary(): Expr {
    const prefixes: Array<{ readonly op: "not" | "-"; readonly start: number }> = []
    while (this.at("not") || this.at("-")) {
      const token = this.advance()
      prefixes.push({ op: token.kind as "not" | "-", start: token.start })
    }
    let operand = this.postfix()
    for (const { op, start } of prefixes.reverse()) {
      const span = this.spanFrom(start)
      operand = { kind: "unary", op, operand, span, height: this.height(span, operand.height) }
      if (this.error !== undefined) break
    }
    return operand
  }

  protected postfix(): Expr {
    const start = this.token.start
    let target = this.primary()
    for (;;) {
      if (this.take(".")) {
        const token = this.token
        if (token.kind !== "name" && !reserved.has(token.kind)) {
          this.expected("field name")
          return target
        }
        this.position++
        const span = this.spanFrom(start)
        target = { kind: "member", target, field: token.text, span, height: this.height(span, target.height) }
      } else if (this.take("[")) {
        const index = this.expression()
        this.expect("]", "`]`")
        const span = this.spanFrom(start)
        target = { kind: "index", target, index, span, height: this.height(span, target.height, index.height) }
      } else if (this.take("(")) {
        const args = this.args("`)` after arguments")
        const span = this.spanFrom(start)
        const height = this.height(span, target.height, ...args.map((arg) => arg.height))
        target = { kind: "call", callee: target, path: pathOf(target), args, span, height }
      } else return target
    }
  }

  protected args(closing: string): ReadonlyArray<Expr> {
    const args: Array<Expr> = []
    while (!this.at(")") && !this.at("end")) {
      args.push(this.expression())
      if (!this.take(",")) break
    }
    this.expect(")", closing)
    return args
  }

  protected primary(): Expr {
    const token = this.token
    const span: Span = { start: token.start, end: token.end }
    switch (token.kind) {
      case "null":
      case "true":
      case "false":
        this.position++
        return { kind: "literal", value: token.kind === "null" ? null : token.kind === "true", span, height: 1 }
      case "string":
        this.position++
        return { kind: "literal", value: token.text, span, height: 1 }
      case "integer":
      case "number":
        this.position++
        return { kind: token.kind, text: token.text, span, height: 1 }
      case "name":
        this.position++
        return { kind: "name", name: token.text, span, height: 1 }
      case "(": {
        this.position++
        const inner = this.expression()
        this.expect(")", "`)`")
        this.#grouped.add(inner)
        return inner
      }
      case "[":
        return this.list()
      case "{":
        return this.object()
      case "if":
        return this.conditional()
      case "for":
        return this.loop()
      case "fold":
        return this.fold()
      case "after":
        return this.after()
      case "boundary":
        return this.boundary()
      case "fail":
        return this.fail()
      default:
        this.expected("an expression")
        return this.placeholder()
    }
  }

  protected list(): Expr {
    const start = this.advance().start
    const items: Array<Expr> = []
    this.skipLineEnds()
    while (!this.at("]") && !this.at("end")) {
      items.push(this.expression())
      this.skipLineEnds()
      if (!this.take(",")) break
      this.skipLineEnds()
    }
    this.expect("]", "`]`")
    const span = this.spanFrom(start)
    return { kind: "list", items, span, height: this.height(span, ...items.map((item) => item.height)) }
  }

  protected object(): Expr {
    const start = this.advance().start
    const entries: Array<Entry> = []
    const seen = new Set<string>()
    this.skipLineEnds()
    while (!this.at("}") && !this.at("end")) {
      const entry = this.entry()
      entries.push(entry)
      if (typeof entry.key === "string") {
        if (seen.has(entry.key))
          this.misuse("RL2203", "duplicate object property", `property \`${entry.key}\` is already defined`, entry.keySpan)
        seen.add(entry.key)
      }
      this.skipLineEnds()
      if (!this.take(",")) break
      this.skipLineEnds()
    }
    this.expect("}", "`}`")
    const span = this.spanFrom(start)
    const heights = entries.map((entry) => Math.max(entry.value.height, typeof entry.key === "string" ? 0 : entry.key.height))
    return { kind: "object", entries, span, height: this.height(span, ...heights) }
  }

  protected entry(): Entry {
    const token = this.token
    const keySpan: Span = { start: token.start, end: token.end }
    if (this.take("[")) {
      const key = this.expression()
      this.expect("]", "`]` after computed property key")
      this.expect(":", "`:` after property name")
      return { key, keySpan: key.span, value: this.expression(), shorthand: false }
    }
    if (token.kind !== "name" && token.kind !== "string" && !reserved.has(token.kind)) {
      this.expected("an object property name")
      return { key: "", keySpan, value: this.placeholder(), shorthand: false }
    }
    this.position++
    if (this.take(":")) return { key: token.text, keySpan, value: this.expression(), shorthand: false }
    if (token.kind !== "name") this.expected("`:` after property name")
    const value: Name = { kind: "name", name: token.text, span: keySpan, height: 1 }
    return { key: token.text, keySpan, value, shorthand: true }
  }

  protected conditional(): Expr {
    const start = this.token.start
    const arms: Array<Arm> = []
    let otherwise: Block | undefined
    do {
      this.position++
      const condition = this.expression()
      arms.push({ condition, body: this.block(this.context) })
      const mark = this.mark()
      this.skipNewlines()
      if (!this.at("else")) {
        if (this.error === undefined) this.rewind(mark)
        break
      }
      this.position++
      if (!this.at("if")) otherwise = this.block(this.context)
    } while (otherwise === undefined && this.at("if"))
    const span = this.spanFrom(start)
    let height = otherwise?.height ?? 0
    for (const arm of arms) height = Math.max(height, arm.condition.height, arm.body.height)
    return { kind: "if", arms, otherwise, span, height: this.height(span, height) }
  }

  protected loop(): Expr {
    const start = this.advance().start
    const item = this.name("loop binding name")
    this.expect("in", "`in`")
    const collection = this.expression()
    const body = this.block({ skip: true })
    const span = this.spanFrom(start)
    return { kind: "for", item, collection, body, span, height: this.height(span, collection.height, body.height) }
  }

  protected fold(): Expr {
    const start = this.advance().start
    const accumulator = this.name("accumulator name, as in `fold acc = 0 for x in xs`")
    this.expect("=", "`=` after the accumulator name")
    const seed = this.expression()
    this.expect("for", "`for` after the accumulator initial value")
    const item = this.name("loop binding name")
    this.expect("in", "`in`")
    const collection = this.expression()
    const body = this.block({ skip: true })
    const span = this.spanFrom(start)
    const height = this.height(span, seed.height, collection.height, body.height)
    return { kind: "fold", accumulator, seed, item, collection, body, span, height }
  }

  protected after(): Expr {
    const start = this.advance().start
    const gate = this.expression()
    const body = this.block(this.context)
    const span = this.spanFrom(start)
    return { kind: "after", gate, body, span, height: this.height(span, gate.height, body.height) }
  }

  protected boundary(): Expr {
    const start = this.advance().start
    let retries = 0
    if (this.take("retry")) {
      const count = this.expect("integer", "integer retry count")
      retries = Math.min(Number(count?.text ?? 0), 4_294_967_295)
    }
    const body = this.block({ skip: false })
    const ahead = this.mark()
    this.skipNewlines()
    if (this.at("catch") && this.position !== ahead.position) {
      const { start: from, end } = this.token
      const message = "write `} catch err {` without a statement break"
      this.stop(syntaxError("RL1019", "`catch` must follow the boundary on the same line", message, { start: from, end }))
    } else if (this.error === undefined) this.rewind(ahead)
    this.expect("catch", "`catch` after boundary body")
    const error = this.name("catch error binding")
    const handler = this.block({ skip: false })
    const span = this.spanFrom(start)
    return { kind: "boundary", retries, body, error, handler, span, height: this.height(span, body.height, handler.height) }
  }

  protected fail(): Expr {
    const start = this.advance().start
    this.expect("(", "`(` — fail is called like a tool: `fail(code, message)`")
    const args = this.args("`)` after fail arguments")
    const span = this.spanFrom(start)
    return { kind: "fail", args, span, height: this.height(span, ...args.map((arg) => arg.height)) }
  }
}

/** The dotted name that a callee spells, if it spells one. */
const pathOf = (expr: Expr): string | undefined => {
  const fields: Array<string> = []
  let at = expr
  while (at.kind === "member") {
    fields.push(at.field)
    at = at.target
  }
  return at.kind === "name" ? [at.name, ...fields.reverse()].join(".") : undefined
}
