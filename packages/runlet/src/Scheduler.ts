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

const ended = (fibers: ReadonlyArray<Running | undefined>): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    let open = 1
    const done = () => {
      if (--open === 0) resume(Effect.void)
    }
    for (const fiber of fibers) {
      if (fiber === undefined) continue
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
    else return waiting(count, width, start, keep, finish, pace, index, result as Later)
  }
  return finish()
}

const waiting = (
  count: number,
  width: number,
  start: (index: number) => Outcomes,
  keep: (index: number, value: Value) => void,
  finish: () => Outcomes,
  pace: Pace,
  first: number,
  pending: Later,
): Later => {
  const all = Effect.withFiber<void, Failed>((parent) =>
    Effect.callback<void, Failed>((resume) => {
      const fork = Effect.runForkWith(parent.context)
      const fibers = new Map<number, Running>()
      let pausing: Fiber.Fiber<void> | undefined
      let next = first + 1
      let best = count
      let failure: Failed | undefined
      let closing = false
      let pumping = false

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
      const pump = () => {
        if (pumping || pausing !== undefined) return
        pumping = true
        while (fibers.size < width && next < count && next < best) {
          if (pace.due()) {
            pausing = fork(Effect.yieldNow)
            pausing.addObserver(() => {
              pausing = undefined
              if (!closing) pump()
            })
            if (pausing !== undefined) break
          }
          const index = next++
          const result = begin(start, index)
          if (!(result instanceof Outcome)) keep(index, result)
          else if (result instanceof Failed) lose(index, result)
          else launch(index, result as Later)
        }
        pumping = false
        if (fibers.size === 0 && pausing === undefined && (next >= count || next >= best))
          resume(failure === undefined ? Effect.void : Effect.fail(failure))
      }

      pumping = true
      launch(first, pending)
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
  return new Later(Effect.flatMap(all, () => toEffect(finish())))
}

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
  const tasks: Array<{ readonly index: number; readonly later: Later | undefined }> = [{ index: first, later: pending }]
  let last: Failed | undefined
  for (let index = first + 1; index < count && last === undefined; index++) {
    if (ordered?.(index)) {
      tasks.push({ index, later: undefined })
      continue
    }
    const result = start(index)
    if (!(result instanceof Outcome)) values[index] = result
    else if (result instanceof Failed) last = result
    else tasks.push({ index, later: result as Later })
  }
  const keep = (index: number, value: Value) => {
    values[index] = value
  }
  const only = tasks.length === 1 && last === undefined
  const all = only ? Effect.map(pending.effect, (value) => keep(first, value)) : together(tasks, start, keep, last)
  return new Later(Effect.flatMap(all, () => toEffect(finish(values))))
}

const together = (
  tasks: ReadonlyArray<{ readonly index: number; readonly later: Later | undefined }>,
  start: (index: number) => Outcomes,
  keep: (index: number, value: Value) => void,
  last: Failed | undefined,
): Effect.Effect<void, Failed> =>
  Effect.withFiber<void, Failed>((parent) =>
    Effect.callback<void, Failed>((resume) => {
      const fork = Effect.runForkWith(parent.context)
      const fibers = new Array<Running | undefined>(tasks.length)
      const done = new Array<boolean>(tasks.length).fill(false)
      let failure = last
      let best = tasks.length
      let open = 0
      let from = 0
      let closing = false
      let pumping = true

      const lose = (at: number, failed: Failed) => {
        if (at >= best) return
        best = at
        failure = failed
        for (let other = at + 1; other < tasks.length; other++) fibers[other]?.interruptUnsafe()
      }
      const launch = (at: number, later: Later) => {
        open++
        const fiber = fork(later.effect)
        fibers[at] = fiber
        fiber.addObserver((exit) => {
          open--
          done[at] = true
          if (closing) return
          if (Exit.isSuccess(exit)) keep(tasks[at]!.index, exit.value)
          else lose(at, failedOf(exit.cause))
          pump()
        })
      }
      const pump = () => {
        if (pumping) return
        pumping = true
        while (from < best) {
          const task = tasks[from]!
          if (task.later === undefined && !done[from]) {
            if (fibers[from] !== undefined) break
            const result = begin(start, task.index)
            if (result instanceof Outcome) {
              if (result instanceof Failed) {
                done[from] = true
                lose(from, result)
              } else {
                launch(from, result as Later)
                if (!done[from]) break
              }
            } else {
              done[from] = true
              keep(task.index, result)
            }
          } else if (!done[from]) break
          from++
        }
        pumping = false
        if (open === 0 && from >= best) resume(failure === undefined ? Effect.void : Effect.fail(failure))
      }

      for (let at = 0; at < tasks.length && at < best; at++) {
        const { later } = tasks[at]!
        if (later !== undefined) launch(at, later)
      }
      pumping = false
      pump()
      return Effect.suspend(() => {
        closing = true
        for (const fiber of fibers) fiber?.interruptUnsafe()
        return ended(fibers)
      })
    }),
  )
