import type { Code, Task } from "../Frame.ts"
import { Failed, type Result } from "../Outcome.ts"
import { MAX_ROW, Row } from "../Row.ts"
import { strict } from "../Scheduler.ts"
import type { Span } from "../Span.ts"
import type { Expr, IntegerLiteral, ListLiteral, NumberLiteral, ObjectLiteral } from "../Syntax.ts"
import { Float, float, integer, isInteger, kindOf, list as listOf, object as objectOf, type Value } from "../Value.ts"
import { observed } from "./Observe.ts"
import type { Lowering, Scope } from "./Scope.ts"

export const numeral = (expr: IntegerLiteral | NumberLiteral): Code => {
  const value = expr.kind === "integer" ? integer(BigInt(expr.text)) : float(Number(expr.text))
  return () => value
}

/** Whether each of several expressions has to wait for those before it: effects keep their order, pure work does not. */
export const orderOf = (lowering: Lowering, exprs: ReadonlyArray<Expr>): ((index: number) => boolean) | undefined => {
  const flags = exprs.map((expr) => lowering.effects.effectful(expr))
  return flags.includes(true) ? (index) => flags[index]! : undefined
}

export const list = (lowering: Lowering, expr: ListLiteral, scope: Scope): Code => {
  const { span } = expr
  const items = expr.items.map((item) => lowering.expr(item, scope))
  const ordered = orderOf(lowering, expr.items)
  return observed("composite", "list", expr, (frame, task, depth) => {
    const over = task.run.node(depth, span)
    if (over !== undefined) return over
    const start = (at: number) => items[at]!(frame, task, depth + 1)
    return strict(items.length, start, ordered, (values) => bounded(task, listOf(values), span))
  })
}

const bounded = (task: Task, value: Exclude<Value, Float>, span: Span): Result => {
  const result = task.run.bounded(value)
  return result instanceof Failed ? result.at(span) : result
}

const keyText = (key: Value, span: Span): string | Failed => {
  if (typeof key === "string") return key
  if (isInteger(key) || typeof key === "boolean") return String(key)
  if (key instanceof Float) return String(key.value)
  return new Failed("RL5209", `computed property keys must be strings or scalar values, got ${kindOf(key)}`, span)
}

export const object = (lowering: Lowering, expr: ObjectLiteral, scope: Scope): Code => {
  const { entries, span } = expr
  const parts = entries.flatMap((entry) => (typeof entry.key === "string" ? [entry.value] : [entry.key, entry.value]))
  const codes = parts.map((part) => lowering.expr(part, scope))
  const ordered = orderOf(lowering, parts)
  const fixed = entries.every((entry) => typeof entry.key === "string") && entries.length <= MAX_ROW
  const keys = entries.map((entry) => entry.key as string)
  const build = (task: Task, values: ReadonlyArray<Value>): Result => {
    if (fixed) return bounded(task, objectOf(new Row(keys, values)), span)
    const map = new Map<string, Value>()
    let at = 0
    for (const { key, keySpan } of entries) {
      const text = typeof key === "string" ? key : keyText(values[at++]!, keySpan)
      if (text instanceof Failed) return text
      map.set(text, values[at++]!)
    }
    return bounded(task, objectOf(map), span)
  }
  return observed("composite", "object", expr, (frame, task, depth) => {
    const over = task.run.node(depth, span)
    if (over !== undefined) return over
    const start = (at: number) => codes[at]!(frame, task, depth + 1)
    return strict(codes.length, start, ordered, (values) => build(task, values))
  })
}
