import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { Failed, Later, Outcome, type Result as Outcomes, toEffect } from "./Outcome.ts"
import type { Value } from "./Value.ts"

type Running = Fiber.Fiber<Value, Failed>

/** The failure inside a cause; a defect or an interruption that nobody here asked for is RL8104. */
export const failedOf = (cause: Cause.Cause<Failed>): Failed => {
  const failed = Cause.findError(cause)
  if (Result.isSuccess(failed)) return failed.success
  const defect = Cause.findDefect(cause)
  const text = Result.isSuccess(defect)
    ? `internal error: ${defect.success instanceof Error ? defect.success.message : String(defect.success)}`
    : "interrupted"
  return new Failed("RL8104", text, undefined)
}

const ended = (fibers: ReadonlyArray<Running>): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    let open = 1
    const done = () => {
      if (--open === 0) resume(Effect.void)
    }
    for (const fiber of fibers) {
      open++
      fiber.addObserver(done)
    }
    done()
  })

/** Starts a task from a callback, where whatever is thrown would be lost. */
const begin = (start: (index: number) => Outcomes, index: number): Outcomes => {
  try {
    return start(index)
  } catch (cause) {
    return new Failed("RL8104", `internal error: ${cause instanceof Error ? cause.message : String(cause)}`, undefined)
  }
}

/** Decides when a long synchronous stretch gives way to other fibers. */
export interface Pace {
  readonly due: () => boolean
}

const steady: Pace = { due: () => false }

/**
 * Runs `start(0)`, `start(1)`, … with at most `lanes` of them waiting at a time, handing each value to `keep`. The failure with the
 * lowest index is the failure of all: nothing beyond it is started, what runs beyond it is interrupted, what comes before it settles.
 * Stays synchronous as long as nothing has to be waited for. Every fiber has ended when the result is known, on interruption too.
 */
export const lanes = (
  count: number,
  width: number,
  start: (index: number) => Outcomes,
  keep: (index: number, value: Value) => void,
  finish: () => Outcomes,
  pace: Pace,
): Outcomes => {
  for (let index = 0; index < count; index++) {
    const result = pace.due()
      ? new Later(
          Effect.andThen(
            Effect.yieldNow,
            Effect.suspend(() => toEffect(start(index))),
          ),
        )
      : start(index)
    if (!(result instanceof Outcome)) keep(index, result)
    else if (result instanceof Failed) return result
    else {
      const work = { count, width, next: index + 1, start, keep, pace }
      return new Later(Effect.flatMap(settled(work, [[index, result as Later]], [], undefined), () => toEffect(finish())))
    }
  }
  return finish()
}

/** Tasks that are all needed: from `next` on they are started here, `width` of them waiting at a time. */
interface Work {
  readonly count: number
  readonly width: number
  readonly next: number
  readonly start: (index: number) => Outcomes
  readonly keep: (index: number, value: Value) => void
  readonly pace: Pace
}

/**
 * Waits for tasks that have `begun`, for those that `wait` until everything ahead of them has succeeded, in order, and for those still
 * to be started. `lost` is a failure that is known already.
 */
const settled = (
  { count, keep, next: from, pace, start, width }: Work,
  begun: ReadonlyArray<readonly [index: number, later: Later]>,
  wait: Array<number>,
  lost: { readonly index: number; readonly failed: Failed } | undefined,
): Effect.Effect<void, Failed> =>
  Effect.withFiber<void, Failed>((parent) =>
    Effect.callback<void, Failed>((resume) => {
      const fork = Effect.runForkWith(parent.context)
      const fibers = new Map<number, Running>()
      let pausing: Fiber.Fiber<void> | undefined
      let next = from
      let turn = 0
      let best = lost?.index ?? count
      let failure = lost?.failed
      let closing = false
      let pumping = true

      const lose = (index: number, failed: Failed) => {
        if (index >= best) return
        best = index
        failure = failed
        for (const [other, fiber] of fibers) if (other > index) fiber.interruptUnsafe()
      }
      const launch = (index: number, later: Later) => {
        const fiber = fork(later.effect)
        fibers.set(index, fiber)
        fiber.addObserver((exit) => {
          fibers.delete(index)
          if (closing) return
          if (Exit.isSuccess(exit)) keep(index, exit.value)
          else lose(index, failedOf(exit.cause))
          pump()
        })
      }
      const run = (index: number) => {
        const result = begin(start, index)
        if (!(result instanceof Outcome)) keep(index, result)
        else if (result instanceof Failed) lose(index, result)
        else launch(index, result as Later)
      }
      const pause = (): boolean => {
        pausing = fork(Effect.yieldNow)
        pausing.addObserver(() => {
          pausing = undefined
          if (!closing) pump()
        })
        return pausing !== undefined
      }
      const isTurn = (index: number): boolean => {
        for (const other of fibers.keys()) if (other < index) return false
        return index < best
      }
      const pump = () => {
        if (pumping || pausing !== undefined) return
        pumping = true
        while (fibers.size < width && next < count && next < best) {
          if (pace.due() && pause()) break
          run(next++)
        }
        while (turn < wait.length && isTurn(wait[turn]!)) run(wait[turn++]!)
        pumping = false
        const open = next < Math.min(count, best) || (turn < wait.length && wait[turn]! < best)
        if (fibers.size === 0 && pausing === undefined && !open)
          resume(failure === undefined ? Effect.void : Effect.fail(failure))
      }

      for (const [index, later] of begun) if (index < best) launch(index, later)
      pumping = false
      pump()
      return Effect.suspend(() => {
        closing = true
        const open = [...fibers.values()]
        for (const fiber of open) fiber.interruptUnsafe()
        pausing?.interruptUnsafe()
        return ended(open)
      })
    }),
  )

/**
 * Evaluates tasks that are all needed, each started at once. `starts` is called in order; a task that must not begin before everything
 * ahead of it has succeeded says so in `ordered`. Failure as in {@link lanes}.
 */
export const strict = (
  count: number,
  start: (index: number) => Outcomes,
  ordered: ((index: number) => boolean) | undefined,
  finish: (values: Array<Value>) => Outcomes,
): Outcomes => {
  const values = new Array<Value>(count)
  for (let index = 0; index < count; index++) {
    const result = start(index)
    if (!(result instanceof Outcome)) values[index] = result
    else if (result instanceof Failed) return result
    else return gathering(count, start, ordered, finish, values, index, result as Later)
  }
  return finish(values)
}

const gathering = (
  count: number,
  start: (index: number) => Outcomes,
  ordered: ((index: number) => boolean) | undefined,
  finish: (values: Array<Value>) => Outcomes,
  values: Array<Value>,
  first: number,
  pending: Later,
): Later => {
  const begun: Array<readonly [index: number, later: Later]> = [[first, pending]]
  const wait: Array<number> = []
  let lost: { readonly index: number; readonly failed: Failed } | undefined
  for (let index = first + 1; index < count && lost === undefined; index++) {
    if (ordered?.(index)) {
      wait.push(index)
      continue
    }
    const result = start(index)
    if (!(result instanceof Outcome)) values[index] = result
    else if (result instanceof Failed) lost = { index, failed: result }
    else begun.push([index, result as Later])
  }
  const keep = (index: number, value: Value) => {
    values[index] = value
  }
  const only = begun.length === 1 && wait.length === 0 && lost === undefined
  const work = { count, width: Number.POSITIVE_INFINITY, next: count, start, keep, pace: steady }
  const all = only ? Effect.map(pending.effect, (value) => keep(first, value)) : settled(work, begun, wait, lost)
  return new Later(Effect.flatMap(all, () => toEffect(finish(values))))
}
