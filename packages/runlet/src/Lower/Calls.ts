import { convert } from "../Convert.ts"
import { dispatch, type Site } from "../Dispatch.ts"
import type { Code, Frame, Task } from "../Frame.ts"
import { Failed, type Result } from "../Outcome.ts"
import { isTool } from "../Registry.ts"
import { strict } from "../Scheduler.ts"
import type { Call, Fail } from "../Syntax.ts"
import { kindOf, Obj, sizeOf, type Value } from "../Value.ts"
import { orderOf } from "./Literals.ts"
import { observed, told } from "./Observe.ts"
import { type Lowering, producers, type Scope } from "./Scope.ts"

/** What looking at values costs, as {@link Run.charge} counts it. */
const weigh = (values: ReadonlyArray<Value>): number => {
  let size = 0
  for (const value of values) size += sizeOf(value)
  return size
}

const labelled = (name: string, first: Value | undefined) =>
  typeof first === "string" ? `${name} · ${Array.from(first).slice(0, 80).join("")}` : name

export const call = (lowering: Lowering, expr: Call, scope: Scope): Code => {
  const { span, path } = expr
  const callable = path === undefined ? undefined : lowering.registry.lookup(path)
  if (callable === undefined) throw new Error(`unresolved callable ${path}`)
  const args = expr.args.map((arg) => lowering.expr(arg, scope))
  const ordered = orderOf(lowering, expr.args)
  const { implementation, parameters } = callable
  const converting = parameters.some((parameter) => parameter.type.kind !== "any")

  const converted = (values: Array<Value>, frame: Frame, task: Task, depth: number): Failed | undefined => {
    for (const [at, value] of values.entries()) {
      const result = convert(parameters[at]!.type, value)
      if (result === value) continue
      const over = task.run.node(depth, span)
      if (over !== undefined) return over
      const argument = expr.args[at]!
      const node = task.run.graph?.add("convert", "convert", argument.span, frame.attempt, frame.owner)
      if (result instanceof Failed) {
        task.run.graph?.update(node, "failed", { error: result })
        return new Failed(result.code, `argument ${at + 1} of \`${callable.name}\`: ${result.message}`, argument.span)
      }
      task.run.graph?.update(node, "succeeded", { output: result })
      values[at] = result
    }
    return undefined
  }

  const apply: (values: Array<Value>, frame: Frame, task: Task, depth: number, node: string | undefined) => Result = isTool(
    implementation,
  )
    ? toolCall(
        { callable, tool: implementation, span, place: lowering.lines.place(span.start) },
        converting ? converted : undefined,
      )
    : (values, frame, task, depth) => {
        task.run.charge(2 * weigh(values))
        const problem = converted(values, frame, task, depth)
        if (problem !== undefined) return problem
        const result = implementation.apply(values, task.run)
        if (result instanceof Failed) return result.at(span)
        task.run.charge(2 * sizeOf(result))
        const bounded = task.run.bounded(result)
        return bounded instanceof Failed ? bounded.at(span) : bounded
      }

  return (frame, task, depth) => {
    const { run } = task
    const over = run.node(depth, span)
    if (over !== undefined) return over
    const start = (at: number) => args[at]!(frame, task, depth + 1)
    const { graph } = run
    if (graph === undefined) return strict(args.length, start, ordered, (values) => apply(values, frame, task, depth, undefined))
    const node = graph.add("call", callable.name, span, frame.attempt, frame.owner)
    if (node !== undefined) {
      frame.note(expr, node)
      if (frame.gate !== undefined) graph.edge({ kind: "orders", from: frame.gate, to: node })
    }
    const result = strict(args.length, start, ordered, (values) => {
      for (const [at, arg] of expr.args.entries())
        for (const from of producers(arg, scope, frame))
          if (node !== undefined) graph.edge({ kind: "data", from, to: node, fromPath: "output", toPath: `argument[${at}]` })
      graph.update(node, "ready", { label: labelled(callable.name, values[0]) })
      return apply(values, frame, task, depth, node)
    })
    return told(result, (state, more) => graph.update(node, state, more))
  }
}

const toolCall =
  (site: Site, converted: ((values: Array<Value>, frame: Frame, task: Task, depth: number) => Failed | undefined) | undefined) =>
  (values: Array<Value>, frame: Frame, task: Task, depth: number, node: string | undefined): Result => {
    task.run.charge(2 * weigh(values))
    return converted?.(values, frame, task, depth) ?? dispatch(site, frame, task, values, node)
  }

/** `fail(code, message[, details])`. */
export const fail = (lowering: Lowering, expr: Fail, scope: Scope): Code => {
  const { span } = expr
  const args = expr.args.map((arg) => lowering.expr(arg, scope))
  const ordered = orderOf(lowering, expr.args)
  const raise = ([code, message, details]: ReadonlyArray<Value>): Failed => {
    for (const [at, value] of [code, message].entries())
      if (typeof value !== "string")
        return new Failed(
          "RL5201",
          `fail ${at === 0 ? "code" : "message"} must be a string, got ${kindOf(value!)}`,
          expr.args[at]!.span,
        )
    if (details !== undefined && !(details instanceof Obj))
      return new Failed("RL5201", `fail details must be an object, got ${kindOf(details)}`, expr.args[2]!.span)
    return new Failed(code as string, message as string, span, details === undefined ? {} : { details: details.entries })
  }
  return observed("compute", "fail", expr, (frame, task, depth) => {
    const over = task.run.node(depth, span)
    if (over !== undefined) return over
    return strict(args.length, (at) => args[at]!(frame, task, depth + 1), ordered, raise)
  })
}
