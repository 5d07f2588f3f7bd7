import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { Failed, Later, Outcome, type Result } from "./Outcome.ts"
import type { Run } from "./Run.ts"
import { failedOf } from "./Scheduler.ts"
import type { Span } from "./Span.ts"
import type { Value } from "./Value.ts"

/** Evaluates an expression in a frame. `depth` counts nested evaluations. */
export type Code = (frame: Frame, task: Task, depth: number) => Result

/** What is true of the evaluation in progress, wherever in the program it stands. */
export class Task {
  readonly run: Run
  /** Within a boundary that may retry: the failed pure bindings this attempt has read. */
  readonly consumed: Array<Consumed> | undefined

  constructor(run: Run, consumed: Array<Consumed> | undefined) {
    this.run = run
    this.consumed = consumed
  }
}

interface Consumed {
  readonly frame: Frame
  readonly slot: number
  readonly failed: Failed
}

/**
 * The bindings of one evaluation of one block. A slot is undefined before its first demand, then the value, the remembered failure, or
 * the {@link Join} of an evaluation in progress.
 */
export class Frame {
  readonly parent: Frame | undefined
  readonly thunks: ReadonlyArray<Code | undefined>
  readonly slots: Array<Value | Failed | Join | undefined>
  /** Which iteration of a loop this is, -1 for other blocks; with those around it, where a call stands in the run. */
  readonly index: number
  readonly item: Value
  /** Zero-based attempt of the innermost boundary around what stands here. */
  attempt: number
  /** Graph: the node that owns what is evaluated here, and the gates before it. */
  owner: string | undefined
  gate: string | undefined
  /** Graph: expressions evaluated here, each followed by the node it has made. */
  #made: Array<object | string> | undefined
  #index: Map<object, string> | undefined

  constructor(parent: Frame | undefined, thunks: ReadonlyArray<Code | undefined>, index = -1, item: Value = null) {
    this.parent = parent
    this.thunks = thunks
    this.slots = new Array(thunks.length)
    this.index = index
    this.item = item
    this.attempt = parent?.attempt ?? 0
    this.owner = parent?.owner
    this.gate = parent?.gate
  }

  /** Graph: notes the node that an expression has made here. */
  note(expr: object, node: string): void {
    this.#made ??= []
    this.#made.push(expr, node)
    if (this.#made.length < FEW) return
    this.#index ??= new Map()
    for (let at = 0; at < this.#made.length; at += 2) this.#index.set(this.#made[at] as object, this.#made[at + 1] as string)
    this.#made = undefined
  }

  /** Graph: the node that an expression made here last. */
  noted(expr: object): string | undefined {
    const at = this.#made?.lastIndexOf(expr) ?? -1
    return at >= 0 ? (this.#made![at + 1] as string) : this.#index?.get(expr)
  }
}

/** Entries that a frame keeps in a plain array; most frames have a handful. */
const FEW = 32

/** An evaluation that several demands wait for. It runs once, in a fiber of its own, and ends when the last demand is gone. */
export class Join extends Outcome {
  readonly settled = false
  readonly later: Later
  readonly #frame: Frame
  readonly #slot: number
  readonly #source: Later
  readonly #run: Run
  #fiber: Fiber.Fiber<Value, Failed> | undefined
  readonly #waiting = new Set<(result: Value | Failed) => void>()

  constructor(frame: Frame, slot: number, source: Later, task: Task) {
    super()
    this.#frame = frame
    this.#slot = slot
    this.#source = source
    this.#run = task.run
    this.later = new Later(this.#await())
  }

  #await(): Effect.Effect<Value, Failed> {
    return Effect.withFiber<Value, Failed>((parent) => {
      const known = this.#frame.slots[this.#slot]
      if (known !== this && known !== undefined) {
        if (known instanceof Join) return known.later.effect
        return known instanceof Failed ? Effect.fail(known) : Effect.succeed(known)
      }
      return Effect.callback<Value, Failed>((resume) => {
        const listener = (result: Value | Failed) =>
          resume(result instanceof Failed ? Effect.fail(result) : Effect.succeed(result))
        this.#waiting.add(listener)
        if (this.#fiber === undefined) this.#start(parent)
        return Effect.suspend(() => {
          this.#waiting.delete(listener)
          return this.#waiting.size === 0 ? this.#abandon() : Effect.void
        })
      })
    })
  }

  #start(parent: Fiber.Fiber<unknown, unknown>): void {
    const source = this.#run.enterFork() ? this.#source.effect : Effect.andThen(Effect.yieldNow, this.#source.effect)
    this.#frame.slots[this.#slot] = this
    const fiber = Effect.runForkWith(parent.context)(source)
    this.#run.leaveFork()
    this.#fiber = fiber
    fiber.addObserver((exit) => {
      if (this.#fiber !== fiber) return
      const result = Exit.isSuccess(exit) ? exit.value : failedOf(exit.cause)
      this.#frame.slots[this.#slot] = result
      const listeners = [...this.#waiting]
      this.#waiting.clear()
      for (const listener of listeners) listener(result)
    })
  }

  #abandon(): Effect.Effect<void> {
    const fiber = this.#fiber
    this.#fiber = undefined
    if (this.#frame.slots[this.#slot] === this) this.#frame.slots[this.#slot] = undefined
    if (fiber === undefined) return Effect.void
    return Effect.callback<void>((resume) => {
      fiber.addObserver(() => resume(Effect.void))
      fiber.interruptUnsafe()
    })
  }
}

/**
 * The value of a binding, evaluated on first demand, which stands at `span`, and remembered, failure included. What is `pure` may be
 * evaluated again for a retry that has read its failure.
 */
export const force = (frame: Frame, slot: number, task: Task, depth: number, span: Span, pure: boolean): Result => {
  const known = frame.slots[slot]
  if (known === undefined) {
    if (depth >= task.run.limits.evaluationDepth) return task.run.tooDeep(span)
    const result = frame.thunks[slot]!(frame, task, depth + 1)
    if (!(result instanceof Later)) {
      frame.slots[slot] = result
      return result instanceof Failed && pure ? read(frame, slot, result, task) : result
    }
    const join = new Join(frame, slot, result, task)
    frame.slots[slot] = join
    return pure ? watched(join, frame, slot, task) : join.later
  }
  if (!(known instanceof Outcome)) return known
  if (!pure) return known instanceof Join ? known.later : (known as Failed)
  return known instanceof Failed ? read(frame, slot, known, task) : watched(known as Join, frame, slot, task)
}

const read = (frame: Frame, slot: number, failed: Failed, task: Task): Failed => {
  task.consumed?.push({ frame, slot, failed })
  return failed
}

const watched = (join: Join, frame: Frame, slot: number, task: Task): Later =>
  task.consumed === undefined
    ? join.later
    : new Later(Effect.tapError(join.later.effect, (failed) => Effect.sync(() => read(frame, slot, failed, task))))

/** Forgets the failures that an attempt has read, so that the next one evaluates those bindings again. */
export const forget = (consumed: ReadonlyArray<Consumed>): void => {
  for (const { frame, slot, failed } of consumed) if (frame.slots[slot] === failed) frame.slots[slot] = undefined
}
