import * as Effect from "effect/Effect"
import { notBoolean } from "../Arithmetic.ts"
import { convert } from "../Convert.ts"
import { maySkip } from "../Effects.ts"
import { type Code, Frame, type Task } from "../Frame.ts"
import { andThen, Failed, Later, Outcome, type Result, skipped, toEffect, whenSettled } from "../Outcome.ts"
import { iterate } from "../Projection.ts"
import { lanes } from "../Scheduler.ts"
import type { After, Conditional, Expr, Fold, For, If } from "../Syntax.ts"
import { List, list, Obj, type Value } from "../Value.ts"
import { observed, told } from "./Observe.ts"
import type { Body, Lowering, Scope } from "./Scope.ts"

const inside =
  (body: Body): Code =>
  (frame, task, depth) =>
    body.run(new Frame(frame, body.thunks), task, depth + 1)

const nothing: Code = () => null

const choose = (
  arms: ReadonlyArray<{ readonly test: Code; readonly condition: Expr; readonly then: Code }>,
  otherwise: Code,
): Code => {
  const from = (at: number, frame: Frame, task: Task, depth: number): Result => {
    for (let arm = at; arm < arms.length; arm++) {
      const { test, condition, then } = arms[arm]!
      const value = test(frame, task, depth + 1)
      if (value === true) return then(frame, task, depth + 1)
      if (value === false) continue
      if (!(value instanceof Outcome)) return notBoolean(value).at(condition.span)
      return andThen(value, (known) => {
        if (known === true) return then(frame, task, depth + 1)
        return known === false ? from(arm + 1, frame, task, depth) : notBoolean(known).at(condition.span)
      })
    }
    return otherwise(frame, task, depth + 1)
  }
  return (frame, task, depth) => from(0, frame, task, depth)
}

const branch = (expr: Expr, code: Code): Code =>
  observed("branch", "if", expr, (frame, task, depth) => task.run.node(depth, expr.span) ?? code(frame, task, depth))

export const conditional = (lowering: Lowering, expr: Conditional, scope: Scope): Code => {
  const test = lowering.expr(expr.condition, scope)
  const then = lowering.expr(expr.value, scope)
  const otherwise = expr.other === undefined ? nothing : lowering.expr(expr.other, scope)
  return branch(expr, choose([{ test, condition: expr.condition, then }], otherwise))
}

export const conditionalBlock = (lowering: Lowering, expr: If, scope: Scope): Code => {
  const arms = expr.arms.map(({ condition, body }) => ({
    test: lowering.expr(condition, scope),
    condition,
    then: inside(lowering.block(body, scope, [])),
  }))
  return branch(expr, choose(arms, expr.otherwise === undefined ? nothing : inside(lowering.block(expr.otherwise, scope, []))))
}

export const after = (lowering: Lowering, expr: After, scope: Scope): Code => {
  const gate = lowering.expr(expr.gate, scope)
  const body = lowering.block(expr.body, scope, [])
  return (frame, task, depth) =>
    task.run.node(depth, expr.span) ??
    andThen(gate(frame, task, depth + 1), () => {
      const inner = new Frame(frame, body.thunks)
      if (task.run.graph !== undefined) inner.gate = task.run.graph.gate("after", expr.span, frame.attempt, frame.owner)
      return body.run(inner, task, depth + 1)
    })
}

/** What a dropped element leaves in the results until the loop ends. */
const dropped = new List([], 0, 0, 0)

const titled = (name: string, index: number, item: Value): string => {
  const title = item instanceof Obj ? item.get("name") : item
  return typeof title === "string" ? `${name}[${index}] ${Array.from(title).slice(0, 80).join("")}` : `${name}[${index}]`
}

const withoutSkip = (result: Result, instead: Value): Result =>
  result instanceof Later
    ? whenSettled(result, (settled) => (settled === skipped ? instead : settled))
    : result === skipped
      ? instead
      : result

interface Iterating {
  readonly name: string
  readonly expr: For | Fold
  readonly body: Body
  readonly skips: boolean
}

const iteration = (
  loop: Iterating,
  frame: Frame,
  owner: string | undefined,
  task: Task,
  depth: number,
  index: number,
  item: Value,
  slots: (inner: Frame) => void,
): Result => {
  const { body, expr, name } = loop
  const { run } = task
  const over = run.node(depth, expr.span)
  if (over !== undefined) return over
  const inner = new Frame(frame, body.thunks, index, item)
  slots(inner)
  if (run.graph === undefined) return body.run(inner, task, depth + 1)
  const node = run.graph.add("iteration", titled(name, index, item), expr.body.span, frame.attempt, owner ?? frame.owner)
  inner.owner = node
  run.graph.update(node, "running")
  return told(body.run(inner, task, depth + 1), (state, more) =>
    more.error?.code === skipped.code ? run.graph?.update(node, "succeeded") : run.graph?.update(node, state, more),
  )
}

export const loop = (lowering: Lowering, expr: For, scope: Scope): Code => {
  const collection = lowering.expr(expr.collection, scope)
  const body = lowering.block(expr.body, scope, [expr.item.name])
  const loop: Iterating = { name: expr.item.name, expr, body, skips: maySkip(expr.body) }
  const each = (items: List, frame: Frame, task: Task, depth: number): Result => {
    const results = new Array<Value>(items.length)
    let kept = items.length
    const owner = frame.noted(expr)
    return lanes(
      items.length,
      Math.max(1, task.run.limits.loopConcurrency) || 1,
      (index) => {
        const item = items.buffer[index]!
        const result = iteration(loop, frame, owner, task, depth, index, item, (inner) => {
          inner.slots[0] = item
        })
        return loop.skips ? withoutSkip(result, dropped) : result
      },
      (index, value) => {
        results[index] = value
        if (value === dropped) kept--
      },
      () => {
        const bounded = task.run.bounded(list(kept === results.length ? results : results.filter((value) => value !== dropped)))
        return bounded instanceof Failed ? bounded.at(expr.span) : bounded
      },
      task.run,
    )
  }
  const code: Code = (frame, task, depth) => {
    const over = task.run.node(depth, expr.span)
    if (over !== undefined) return over
    return andThen(collection(frame, task, depth + 1), (value) => {
      const items = iterate(value)
      return items instanceof Failed ? items.at(expr.collection.span) : each(items, frame, task, depth + 1)
    })
  }
  return (frame, task, depth) => {
    if (task.run.graph === undefined) return code(frame, task, depth)
    return observed("loop", `for concurrency ${task.run.limits.loopConcurrency}`, expr, code)(frame, task, depth)
  }
}

export const fold = (lowering: Lowering, expr: Fold, scope: Scope): Code => {
  const seed = lowering.expr(expr.seed, scope)
  const collection = lowering.expr(expr.collection, scope)
  const body = lowering.block(expr.body, scope, [expr.accumulator.name, expr.item.name])
  const loop: Iterating = { name: expr.item.name, expr, body, skips: maySkip(expr.body) }
  const type = lowering.foldTypes.get(expr)

  const step = (accumulator: Value, index: number, items: List, frame: Frame, task: Task, depth: number): Result => {
    const item = items.buffer[index]!
    const owner = frame.noted(expr)
    const result = iteration(loop, frame, owner, task, depth, index, item, (inner) => {
      inner.slots[0] = accumulator
      inner.slots[1] = item
    })
    const kept = loop.skips ? withoutSkip(result, accumulator) : result
    if (type === undefined) return kept
    return andThen(kept, (value) => {
      const converted = convert(type, value)
      return converted instanceof Failed ? converted.at(expr.body.result.span) : converted
    })
  }
  const walk = (start: number, first: Value, items: List, frame: Frame, task: Task, depth: number): Result => {
    let accumulator = first
    for (let index = start; index < items.length; index++) {
      if (index > start && task.run.due()) {
        const from = index
        const so = accumulator
        return new Later(Effect.flatMap(Effect.yieldNow, () => toEffect(walk(from, so, items, frame, task, depth))))
      }
      const result = step(accumulator, index, items, frame, task, depth)
      if (!(result instanceof Outcome)) accumulator = result
      else if (result instanceof Failed) return result
      else return andThen(result, (value) => walk(index + 1, value, items, frame, task, depth))
    }
    return accumulator
  }
  return observed("loop", "fold", expr, (frame, task, depth) => {
    const over = task.run.node(depth, expr.span)
    if (over !== undefined) return over
    return andThen(seed(frame, task, depth + 1), (first) =>
      andThen(collection(frame, task, depth + 1), (value) => {
        const items = iterate(value)
        return items instanceof Failed ? items.at(expr.collection.span) : walk(0, first, items, frame, task, depth + 1)
      }),
    )
  })
}
