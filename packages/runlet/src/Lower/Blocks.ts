import { notBoolean } from "../Arithmetic.ts"
import { type Code, type Frame, force } from "../Frame.ts"
import { andThen, Failed, type Result, skipped } from "../Outcome.ts"
import { strict } from "../Scheduler.ts"
import type { Span } from "../Span.ts"
import type { Assert, Block, Expr, Skip } from "../Syntax.ts"
import { kindOf, type Value } from "../Value.ts"
import { certainNames } from "./Certain.ts"
import { type Body, type Lowering, producers, Scope } from "./Scope.ts"

/** Statements up to a guard: what has to have been evaluated before it, in order. */
interface Group {
  readonly tasks: Array<Code>
  guard: Code | undefined
}

const forcing =
  (slot: number, span: Span): Code =>
  (frame, task, depth) =>
    force(frame, slot, task, depth, span, false)

const skip = (lowering: Lowering, statement: Skip, scope: Scope): Code => {
  const { condition } = statement
  if (condition === undefined) return () => skipped
  const code = lowering.expr(condition, scope)
  return (frame, task, depth) =>
    andThen(code(frame, task, depth + 1), (value) =>
      value === true ? skipped : value === false ? null : notBoolean(value).at(condition.span),
    )
}

const assert = (lowering: Lowering, statement: Assert, scope: Scope): Code => {
  const { condition, message, span } = statement
  const test = lowering.expr(condition, scope)
  const text = message === undefined ? undefined : lowering.expr(message, scope)
  const raise = (value: Value): Failed =>
    typeof value === "string"
      ? new Failed("ASSERTION_FAILED", value, span)
      : new Failed("RL5201", `assert message must be a string, got ${kindOf(value)}`, message!.span)
  return (frame, task, depth) => {
    const over = task.run.node(depth, span)
    if (over !== undefined) return over
    const node = task.run.graph?.add("branch", "assert", span, frame.attempt, frame.owner)
    return andThen(test(frame, task, depth + 1), (value): Result => {
      if (typeof value !== "boolean") return notBoolean(value).at(condition.span)
      task.run.graph?.update(
        node,
        value ? "succeeded" : "failed",
        value ? {} : { error: { code: "ASSERTION_FAILED", message: "assertion failed" } },
      )
      if (value) return null
      return text === undefined ? raise("assertion failed") : andThen(text(frame, task, depth + 1), raise)
    })
  }
}

/** The `after` that an expression is, directly or through names of its own block. */
const gated = (expr: Expr, scope: Scope): (Expr & { kind: "after" }) | undefined => {
  let at: Expr | undefined = expr
  for (let step = 0; at !== undefined && step < 1_000; step++) {
    if (at.kind === "after") return at
    if (at.kind !== "name") return undefined
    const slot = scope.slots.get(at.name)
    at = slot === undefined ? undefined : scope.sources[slot]
  }
  return undefined
}

/** Lowers a block: cells for its bindings, and the groups in which its roots, guards and result are evaluated. */
export const block = (lowering: Lowering, source: Block, parent: Scope | undefined, names: ReadonlyArray<string>): Body => {
  const scope = new Scope(parent, names)
  const thunks: Array<Code | undefined> = names.map(() => undefined)
  const groups: Array<Group> = []
  let early = new Set<number>()
  let group: Group = { tasks: [], guard: undefined }

  const foresee = (expr: Expr) => {
    const gate = gated(expr, scope)
    if (gate === undefined) return
    for (const name of certainNames(gate.body)) {
      const slot = scope.slots.get(name)
      if (slot !== undefined && scope.sources[slot] !== undefined) early.add(slot)
    }
  }
  const close = (guard: Code | undefined) => {
    groups.push({
      tasks: [...[...early].sort((a, b) => a - b).map((slot) => forcing(slot, scope.sources[slot]!.span)), ...group.tasks],
      guard,
    })
    early = new Set()
    group = { tasks: [], guard: undefined }
  }

  for (const statement of source.statements) {
    switch (statement.kind) {
      case "bind": {
        thunks.push(lowering.expr(statement.value, scope))
        if (lowering.effects.isRoot(statement)) {
          foresee(statement.value)
          group.tasks.push(forcing(thunks.length - 1, statement.value.span))
        }
        scope.declare(statement.name.name, statement.value, lowering.effects.isRoot(statement))
        break
      }
      case "discard":
        foresee(statement.value)
        group.tasks.push(lowering.expr(statement.value, scope))
        break
      case "skip":
        close(skip(lowering, statement, scope))
        break
      case "assert":
        close(assert(lowering, statement, scope))
        break
    }
  }
  const result = lowering.expr(source.result, scope)
  foresee(source.result)
  group.tasks.push(result)
  close(undefined)

  const made = (frame: Frame) => producers(source.result, scope, frame)
  const last = groups.length - 1
  if (last === 0 && groups[0]!.tasks.length === 1) return { thunks, run: result, made }
  const from = (at: number): Code => {
    const { tasks, guard } = groups[at]!
    const next = at === last ? undefined : from(at + 1)
    const start = tasks.length
    return (frame, task, depth) =>
      strict(
        start,
        (index) => tasks[index]!(frame, task, depth + 1),
        undefined,
        (values) => {
          if (next === undefined) return values[start - 1]!
          return andThen(guard!(frame, task, depth), () => next(frame, task, depth))
        },
      )
  }
  return { thunks, run: from(0), made }
}
