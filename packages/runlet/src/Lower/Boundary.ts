import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type Code, Frame, forget, Task } from "../Frame.ts"
import { Failed, Later, type Result, skipped, toEffect, whenSettled } from "../Outcome.ts"
import type { Run } from "../Run.ts"
import type { Lines } from "../Span.ts"
import type { Boundary } from "../Syntax.ts"
import { object, record, type Value } from "../Value.ts"
import { observed } from "./Observe.ts"
import type { Lowering, Scope } from "./Scope.ts"

/** The value that `catch` binds: the details of the failure, under the standard fields. */
const caught = (failed: Failed, attempt: number, lines: Lines): Value => {
  const span =
    failed.span === undefined ? null : record({ start: lines.bytes(failed.span.start), end: lines.bytes(failed.span.end) })
  const standard = new Map<string, Value>([
    ["code", failed.code],
    ["message", failed.message],
    ["retryable", failed.retryable],
    ["node_id", ""],
    ["attempt", attempt],
    ["uncertain", failed.uncertain],
    ["span", span],
  ])
  return object(new Map([...failed.details, ...standard]))
}

const delay = (run: Run, failed: Failed, retry: number): number => {
  if (run.backoff === undefined) return failed.retryAfterMs ?? 0
  const { baseMs, capMs, factor } = run.backoff
  return Math.min(capMs, failed.retryAfterMs ?? baseMs * factor ** (retry - 1))
}

export const boundary = (lowering: Lowering, expr: Boundary, scope: Scope): Code => {
  const body = lowering.block(expr.body, scope, [])
  const handler = lowering.block(expr.handler, scope, [expr.error.name])

  const handle = (failed: Failed, attempt: number, frame: Frame, task: Task, depth: number): Result => {
    const inner = new Frame(frame, handler.thunks)
    inner.slots[0] = caught(failed, attempt, lowering.lines)
    return handler.run(inner, task, depth + 1)
  }
  const from = (attempt: number, frame: Frame, task: Task, depth: number): Result => {
    const trying = expr.retries === 0 ? task : new Task(task.run, [])
    const inner = new Frame(frame, body.thunks)
    inner.attempt = attempt
    const node = frame.noted(expr)
    if (node !== undefined) inner.owner = node
    return whenSettled(body.run(inner, trying, depth + 1), (settled) => {
      if (!(settled instanceof Failed) || settled === skipped) return settled
      const again = settled.retryable && attempt < expr.retries
      if (again) forget(trying.consumed!)
      else if (trying !== task) task.consumed?.push(...trying.consumed!)
      if (!again) return handle(settled, attempt, frame, task, depth)
      const wait = delay(task.run, settled, attempt + 1)
      const pause = wait > 0 ? Effect.sleep(Duration.millis(wait)) : Effect.yieldNow
      return new Later(Effect.flatMap(pause, () => toEffect(from(attempt + 1, frame, task, depth))))
    })
  }
  return observed("boundary", `boundary retry ${expr.retries}`, expr, (frame, task, depth) => {
    return task.run.node(depth, expr.span) ?? from(0, frame, task, depth)
  })
}
