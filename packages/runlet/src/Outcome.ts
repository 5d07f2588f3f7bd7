import * as Effect from "effect/Effect"
import type { Entries } from "./Row.ts"
import type { Span } from "./Span.ts"
import type { Value } from "./Value.ts"

/** What an expression comes to when it is not a value at once. */
export abstract class Outcome {
  abstract readonly settled: boolean
}

export interface FailedDetails {
  readonly retryable?: boolean
  readonly uncertain?: boolean
  readonly details?: Entries<Value>
  readonly retryAfterMs?: number | undefined
}

/** A failure on its way to the nearest `boundary`, or the signal of a taken `skip` on its way to its loop. */
export class Failed extends Outcome {
  readonly settled = true
  readonly code: string
  readonly message: string
  readonly span: Span | undefined
  readonly retryable: boolean
  readonly uncertain: boolean
  readonly details: Entries<Value>
  readonly retryAfterMs: number | undefined

  constructor(code: string, message: string, span: Span | undefined, more: FailedDetails = {}) {
    super()
    this.code = code
    this.message = message
    this.span = span
    this.retryable = more.retryable ?? false
    this.uncertain = more.uncertain ?? false
    this.details = more.details ?? none
    this.retryAfterMs = more.retryAfterMs
  }

  /** This failure at `span`, unless an inner expression has claimed it. */
  at(span: Span): Failed {
    return this.span === undefined ? new Failed(this.code, this.message, span, this) : this
  }
}

const none: Entries<Value> = new Map()

/** The signal of a taken `skip`; never visible to a program. */
export const skipped = new Failed("RL4107", "skip", undefined)

/** A value that has to be waited for. Nothing has started yet: running `effect` starts it. */
export class Later extends Outcome {
  readonly settled = false
  readonly effect: Effect.Effect<Value, Failed>
  constructor(effect: Effect.Effect<Value, Failed>) {
    super()
    this.effect = effect
  }
}

/** What evaluating an expression gives: at once when it can. */
export type Result = Value | Failed | Later

export const toEffect = (result: Result): Effect.Effect<Value, Failed> => {
  if (!(result instanceof Outcome)) return Effect.succeed(result)
  return result instanceof Failed ? Effect.fail(result) : (result as Later).effect
}

/** Goes on with the value, now or later. */
export const andThen = (result: Result, next: (value: Value) => Result): Result => {
  if (!(result instanceof Outcome)) return next(result)
  if (result instanceof Failed) return result
  return new Later(Effect.flatMap((result as Later).effect, (value) => toEffect(next(value))))
}

/** Goes on with the value or the failure, now or later. */
export const whenSettled = (result: Result, next: (settled: Value | Failed) => Result): Result => {
  if (!(result instanceof Later)) return next(result)
  return new Later(
    Effect.matchEffect(result.effect, {
      onSuccess: (value) => toEffect(next(value)),
      onFailure: (failed) => toEffect(next(failed)),
    }),
  )
}
