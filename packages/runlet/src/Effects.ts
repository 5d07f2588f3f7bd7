import type { Registry } from "./Registry.ts"
import { type Block, blocks, type Expr, expressions, operands, type Statement } from "./Syntax.ts"

/** What a walk over the syntax tells about expressions, whatever branch is taken when they run. Answers are remembered per tree. */
export class Effects {
  readonly #registry: Registry
  readonly #effectful = new WeakMap<Expr, boolean>()

  constructor(registry: Registry) {
    this.#registry = registry
  }

  /** Holds a call of a tool that is not pure or not known, or a `fail`, in itself or in a block within. */
  effectful(expr: Expr): boolean {
    const known = this.#effectful.get(expr)
    if (known !== undefined) return known
    const answer =
      expr.kind === "fail" ||
      (expr.kind === "call" && this.#dispatches(expr.path)) ||
      operands(expr).some((operand) => this.effectful(operand)) ||
      blocks(expr).some((block) => this.effectfulBlock(block))
    this.#effectful.set(expr, answer)
    return answer
  }

  effectfulBlock(block: Block): boolean {
    return (
      block.statements.some((statement) => expressions(statement).some((expr) => this.effectful(expr))) ||
      this.effectful(block.result)
    )
  }

  #dispatches(path: string | undefined): boolean {
    return path === undefined || this.#registry.lookup(path)?.policy !== "pure"
  }

  /** Evaluated whenever its block runs, needed or not. */
  isRoot(statement: Statement): boolean {
    return (
      statement.kind === "discard" || (statement.kind === "bind" && (this.effectful(statement.value) || guarded(statement.value)))
    )
  }
}

/** Holds an `assert`, or a `skip` that would leave the expression. */
export const guarded = (expr: Expr): boolean => holdsGuard(expr, true)

const holdsGuard = (expr: Expr, skips: boolean): boolean => {
  const inner = skips && expr.kind !== "for" && expr.kind !== "fold" && expr.kind !== "boundary"
  return (
    operands(expr).some((operand) => holdsGuard(operand, skips)) || blocks(expr).some((block) => blockHoldsGuard(block, inner))
  )
}

const blockHoldsGuard = (block: Block, skips: boolean): boolean =>
  block.statements.some(
    (statement) =>
      statement.kind === "assert" ||
      (statement.kind === "skip" && skips) ||
      expressions(statement).some((expr) => holdsGuard(expr, skips)),
  ) || holdsGuard(block.result, skips)

/** Whether running a loop body may take a `skip` of that loop. */
export const maySkip = (body: Block): boolean =>
  body.statements.some((statement) => statement.kind === "skip" || expressions(statement).some(leadsToSkip)) ||
  leadsToSkip(body.result)

const leadsToSkip = (expr: Expr): boolean =>
  operands(expr).some(leadsToSkip) || ((expr.kind === "if" || expr.kind === "after") && blocks(expr).some(maySkip))
