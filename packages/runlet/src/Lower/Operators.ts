import { type Computed, binary as compute, negate, not, notBoolean } from "../Arithmetic.ts"
import type { Code, Frame, Task } from "../Frame.ts"
import { andThen, Failed, Outcome, type Result } from "../Outcome.ts"
import { index as indexOf, member as memberOf } from "../Projection.ts"
import { strict } from "../Scheduler.ts"
import type { Span } from "../Span.ts"
import type { Binary, BinaryOperator, Index, Member, Unary } from "../Syntax.ts"
import { integer, MIN_INTEGER, sizeOf, type Value } from "../Value.ts"
import { observed } from "./Observe.ts"
import type { Lowering, Scope } from "./Scope.ts"

const names: { readonly [op in BinaryOperator]: string } = {
  or: "Or",
  and: "And",
  "==": "Equal",
  "!=": "NotEqual",
  "<": "Less",
  "<=": "LessEqual",
  ">": "Greater",
  ">=": "GreaterEqual",
  in: "In",
  "+": "Add",
  "-": "Subtract",
  "*": "Multiply",
  "/": "Divide",
  "%": "Remainder",
}

const placed = (result: Computed, span: Span): Computed => (result instanceof Failed ? result.at(span) : result)

const heavy = (value: Value) => typeof value !== "number"

export const unary = (lowering: Lowering, expr: Unary, scope: Scope): Code => {
  const { op, operand, span } = expr
  if (op === "-" && operand.kind === "integer") {
    const value = integer(-BigInt(operand.text))
    if (BigInt(value) >= MIN_INTEGER) return () => value
  }
  const inner = lowering.expr(operand, scope)
  const apply = op === "not" ? not : negate
  return observed("compute", op === "not" ? "Not" : "Negate", expr, (frame, task, depth) => {
    const over = task.run.node(depth, span)
    if (over !== undefined) return over
    return andThen(inner(frame, task, depth + 1), (value) => placed(apply(value), span))
  })
}

/** `and` and `or`: the right side is evaluated unless a Boolean on the left decides. */
const logic = (lowering: Lowering, expr: Binary, scope: Scope): Code => {
  const { op, left, right, span } = expr
  const first = lowering.expr(left, scope)
  const second = lowering.expr(right, scope)
  const decides = op === "or"
  return observed("branch", names[op], expr, (frame, task, depth) => {
    const over = task.run.node(depth, span)
    if (over !== undefined) return over
    return andThen(first(frame, task, depth + 1), (a) => {
      if (a === decides) return a
      return andThen(second(frame, task, depth + 1), (b) => {
        if (typeof a !== "boolean") return notBoolean(a).at(left.span)
        return typeof b === "boolean" ? b : notBoolean(b).at(right.span)
      })
    })
  })
}

export const binary = (lowering: Lowering, expr: Binary, scope: Scope): Code => {
  const { op, span } = expr
  if (op === "and" || op === "or") return logic(lowering, expr, scope)
  const left = lowering.expr(expr.left, scope)
  const right = lowering.expr(expr.right, scope)
  const ordered = lowering.effects.effectful(expr.right) ? () => true : undefined
  const apply = (task: Task, a: Value, b: Value): Result => {
    if (heavy(a) && heavy(b)) task.run.charge(sizeOf(a) + sizeOf(b))
    const result = compute(op, a, b)
    if (result instanceof Failed) return result.at(span)
    if (op !== "+" || typeof result === "number") return result
    const bounded = task.run.bounded(result)
    return bounded instanceof Failed ? bounded.at(span) : bounded
  }
  return observed("compute", names[op], expr, (frame, task, depth) => {
    const over = task.run.node(depth, span)
    if (over !== undefined) return over
    const a = left(frame, task, depth + 1)
    if (a instanceof Outcome) {
      if (a instanceof Failed) return a
      return strict(
        2,
        (at) => (at === 0 ? a : right(frame, task, depth + 1)),
        ordered,
        ([x, y]) => apply(task, x!, y!),
      )
    }
    const b = right(frame, task, depth + 1)
    return b instanceof Outcome ? andThen(b, (value) => apply(task, a, value)) : apply(task, a, b)
  })
}

export const member = (lowering: Lowering, expr: Member, scope: Scope): Code => {
  const { field, span } = expr
  const target = lowering.expr(expr.target, scope)
  return observed("project", `.${field}`, expr, (frame, task, depth) => {
    const over = task.run.node(depth, span)
    if (over !== undefined) return over
    const value = target(frame, task, depth + 1)
    return value instanceof Outcome
      ? andThen(value, (v) => placed(memberOf(v, field), span))
      : placed(memberOf(value, field), span)
  })
}

export const index = (lowering: Lowering, expr: Index, scope: Scope): Code => {
  const { span } = expr
  const target = lowering.expr(expr.target, scope)
  const key = lowering.expr(expr.index, scope)
  const ordered = lowering.effects.effectful(expr.index) ? () => true : undefined
  return observed("project", "index", expr, (frame: Frame, task: Task, depth: number) => {
    const over = task.run.node(depth, span)
    if (over !== undefined) return over
    const parts = (at: number) => (at === 0 ? target : key)(frame, task, depth + 1)
    return strict(2, parts, ordered, ([value, position]) => {
      if (typeof value === "string") task.run.charge(value.length)
      return placed(indexOf(value!, position!), span)
    })
  })
}
