import * as Effect from "effect/Effect"

/** What stands on stderr from an interruption to the end of what it has to wait for. */
export const line = "kit: cancelling; Ctrl-C again kills"

/** Runs work that takes time to end; where it is interrupted, `tell` runs at once, beside its finalizers. */
export const told =
  (tell: Effect.Effect<void>) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      let over = false
      const ends = Effect.onExit(work, () =>
        Effect.sync(() => {
          over = true
        }),
      )
      const watches = Effect.onInterrupt(Effect.never, () => Effect.suspend(() => (over ? Effect.void : tell)))
      return Effect.raceFirst(ends, watches)
    })

export * as Cancelling from "./Cancelling.ts"
