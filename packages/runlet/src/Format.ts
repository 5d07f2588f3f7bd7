import { group, hard, indent, join, type Layout, line, print, soft } from "./Format/Layout.ts"
import { strengths } from "./Parser/Expressions.ts"
import { parse } from "./Parser.ts"
import { type Comment, isName } from "./Scanner.ts"
import type { Span } from "./Span.ts"
import type { Block, Entry, Expr, Statement } from "./Syntax.ts"

const WIDTH = 100

/** How tightly an expression holds together: conditionals least, primaries most. */
const strengthOf = (expr: Expr): number => {
  switch (expr.kind) {
    case "conditional":
      return 0
    case "binary":
      return strengths[expr.op]!
    case "unary":
      return 7
    case "if":
      return expr.otherwise === undefined ? 0 : 9
    default:
      return 9
  }
}

/** `-(digits)`, whose digits have to fit without the sign. */
const grouped = ({ operand, span }: Expr & { kind: "unary" }) => operand.kind === "integer" && operand.span.end < span.end

const isComparison = (expr: Expr) => strengthOf(expr) === 3 || strengthOf(expr) === 4

class Formatter {
  readonly source: string
  readonly comments: ReadonlyArray<Comment>
  next = 0

  constructor(source: string, comments: ReadonlyArray<Comment>) {
    this.source = source
    this.comments = comments
  }

  /** The comments that begin before a place and have not been written yet. */
  before(offset: number): ReadonlyArray<Comment> {
    const from = this.next
    while (this.next < this.comments.length && this.comments[this.next]!.start < offset) this.next++
    return this.comments.slice(from, this.next)
  }

  lineBreaks(from: number, to: number): number {
    return this.source.slice(from, to).split("\n").length - 1
  }

  /** Comments on the same line as the end of a statement and before the next, together with those that stood inside it. */
  trailing(end: number, next: number): Layout {
    const stop = this.source.indexOf("\n", end)
    const found = this.before(Math.min(next, stop === -1 ? this.source.length : stop))
    return found.length === 0 ? "" : ` ${found.map(({ text }) => text).join(" ")}`
  }

  /** Parts each on a line, with the comments and at most one of the blank lines between them. */
  lines(
    parts: ReadonlyArray<{ readonly span: Span; readonly layout: () => Layout }>,
    start: number,
    end: number,
  ): ReadonlyArray<Layout> {
    const out: Array<Layout> = []
    let last = start
    const push = (from: number, layout: Layout) => {
      if (out.length > 0) out.push(this.lineBreaks(last, from) > 1 ? [hard, hard] : hard)
      out.push(layout)
    }
    for (const [at, { layout, span }] of parts.entries()) {
      for (const comment of this.before(span.start)) {
        push(comment.start, comment.text)
        last = comment.end
      }
      const body = layout()
      push(span.start, [body, this.trailing(span.end, parts[at + 1]?.span.start ?? end)])
      last = Math.max(span.end, this.next > 0 ? this.comments[this.next - 1]!.end : 0)
    }
    for (const comment of this.before(end)) {
      push(comment.start, comment.text)
      last = comment.end
    }
    return out
  }

  body(block: Block, start: number, end: number): ReadonlyArray<Layout> {
    const { result, statements } = block
    const word = this.source.lastIndexOf("return", Math.max(0, result.span.start - "return".length))
    const parts = [
      ...statements.map((statement) => ({ span: statement.span, layout: () => this.statement(statement) })),
      { span: { start: word, end: this.endOf(result) }, layout: () => ["return ", this.expr(result)] },
    ]
    return this.lines(parts, start, end)
  }

  /** Where an expression ends with the parentheses around it, which its span leaves out. */
  endOf(expr: Expr): number {
    const rest = /^(?:\s*\))+/.exec(this.source.slice(expr.span.end))
    return expr.span.end + (rest?.[0].length ?? 0)
  }

  block(block: Block): Layout {
    const { end, start } = block.span
    const commented = this.comments[this.next] !== undefined && this.comments[this.next]!.start < end
    const inline = block.statements.length === 0 && !commented && !this.source.slice(start, end).includes("\n")
    if (inline) return group("{", indent(line, "return ", this.expr(block.result)), line, "}")
    return ["{", indent(hard, ...this.body(block, start, end)), hard, "}"]
  }

  statement(statement: Statement): Layout {
    switch (statement.kind) {
      case "bind":
        return [statement.name.name, " = ", this.expr(statement.value)]
      case "discard":
        return ["_ = ", this.expr(statement.value)]
      case "skip":
        return statement.condition === undefined ? "skip" : ["skip if ", this.operand(statement.condition, 1)]
      case "assert": {
        const parts = statement.message === undefined ? [statement.condition] : [statement.condition, statement.message]
        return this.call("assert", parts)
      }
    }
  }

  operand(expr: Expr, least: number): Layout {
    const layout = this.expr(expr)
    return strengthOf(expr) < least ? ["(", layout, ")"] : layout
  }

  call(callee: Layout, args: ReadonlyArray<Expr>): Layout {
    const only = args.length === 1 ? args[0]! : undefined
    if (only !== undefined && (only.kind === "object" || only.kind === "list")) return [callee, "(", this.expr(only), ")"]
    const items = args.map((arg) => this.expr(arg))
    return items.length === 0 ? [callee, "()"] : group(callee, "(", indent(soft, join(items, [",", line])), soft, ")")
  }

  /** Items between brackets: on one line when they fit and stood there, else one to a line with their comments. */
  bracketed<Item>(
    open: string,
    close: string,
    items: ReadonlyArray<Item>,
    spanOf: (item: Item) => Span,
    write: (item: Item) => Layout,
    whole: Span,
    pad: Layout,
  ): Layout {
    const first = items[0]
    const last = items.at(-1)
    const commented = this.comments[this.next] !== undefined && this.comments[this.next]!.start < whole.end
    if (first === undefined || last === undefined) {
      if (!commented) return open + close
      return [open, indent(hard, ...this.lines([], whole.start, whole.end)), hard, close]
    }
    const broken = commented || this.source.slice(whole.start, spanOf(first).start).includes("\n")
    if (!broken) return group(open, indent(pad, join(items.map(write), [",", line])), pad, close)
    const parts = items.map((item, at) => ({
      span: spanOf(item),
      layout: () => (at === items.length - 1 ? write(item) : [write(item), ","]),
    }))
    return [open, indent(hard, ...this.lines(parts, whole.start, whole.end)), hard, close]
  }

  entry(entry: Entry): Layout {
    if (entry.shorthand) return entry.key as string
    if (typeof entry.key !== "string") return ["[", this.expr(entry.key), "]: ", this.expr(entry.value)]
    const raw = this.source.slice(entry.keySpan.start, entry.keySpan.end)
    return [raw.startsWith('"') && isName(entry.key) ? entry.key : raw, ": ", this.expr(entry.value)]
  }

  binary(expr: Expr & { kind: "binary" }): Layout {
    const { left, op, right } = expr
    const strength = strengths[op]!
    const guard = (side: Expr, least: number) => this.operand(side, isComparison(expr) && isComparison(side) ? 10 : least)
    const sameChain = left.kind === "binary" && strengths[left.op] === strength && !isComparison(expr)
    const head = sameChain ? this.binary(left) : guard(left, strength)
    return [head, ` ${op}`, line, guard(right, strength + 1)]
  }

  expr(expr: Expr): Layout {
    switch (expr.kind) {
      case "literal":
      case "integer":
      case "number":
        return this.source.slice(expr.span.start, expr.span.end)
      case "name":
        return expr.name
      case "list":
        return this.bracketed(
          "[",
          "]",
          expr.items,
          (item) => item.span,
          (item) => this.expr(item),
          expr.span,
          soft,
        )
      case "object": {
        const spanOf = (entry: Entry) => ({ start: entry.keySpan.start, end: entry.value.span.end })
        return this.bracketed("{", "}", expr.entries, spanOf, (entry) => this.entry(entry), expr.span, line)
      }
      case "member":
        return [this.operand(expr.target, 8), ".", expr.field]
      case "index":
        return [this.operand(expr.target, 8), "[", this.expr(expr.index), "]"]
      case "call":
        return this.call(this.operand(expr.callee, 8), expr.args)
      case "unary":
        return [expr.op === "not" ? "not " : "-", this.operand(expr.operand, grouped(expr) ? 10 : 7)]
      case "binary":
        return group(indent(this.binary(expr)))
      case "conditional": {
        const { condition, other, value } = expr
        const chained = value.kind === "conditional" && value.other === undefined
        const head = [chained ? this.expr(value) : this.operand(value, 1), " if ", this.operand(condition, 1)]
        return other === undefined
          ? head
          : group(head, " else", indent(line, other.kind === "if" ? this.operand(other, 1) : this.expr(other)))
      }
      case "if": {
        const arms = expr.arms.map(({ body, condition }) => ["if ", this.expr(condition), " ", this.block(body)])
        return [join(arms, " else "), expr.otherwise === undefined ? "" : [" else ", this.block(expr.otherwise)]]
      }
      case "for":
        return ["for ", expr.item.name, " in ", this.expr(expr.collection), " ", this.block(expr.body)]
      case "fold": {
        const head = ["fold ", expr.accumulator.name, " = ", this.expr(expr.seed)]
        return [head, " for ", expr.item.name, " in ", this.expr(expr.collection), " ", this.block(expr.body)]
      }
      case "after":
        return ["after ", this.expr(expr.gate), " ", this.block(expr.body)]
      case "boundary": {
        const retry = expr.retries === 0 ? "" : ` retry ${expr.retries}`
        return [`boundary${retry} `, this.block(expr.body), ` catch ${expr.error.name} `, this.block(expr.handler)]
      }
      case "fail":
        return this.call("fail", expr.args)
    }
  }
}

/**
 * A source in its standard form: two spaces to a level, a statement to a line, lines of at most 100 characters where they can be broken,
 * comments kept. Formatting twice changes nothing more, and the program means the same. Null when the source does not parse.
 */
export const format = (source: string): string | null => {
  const parsed = parse(source)
  if (!parsed.ok) return null
  const formatter = new Formatter(source, parsed.comments)
  return `${print(formatter.body(parsed.program, 0, source.length), WIDTH)}\n`
}
