import * as Effect from "effect/Effect"

/** Makes an effect interruptible again, as `Effect.uninterruptibleMask` gives it. */
export type Restore = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** One at a time, first come first served; leaving is synchronous, so that an answer can pass the gate on in wire order. */
export class Gate {
  private busy = false
  private open = false
  private waiting: Array<() => void> = []

  /**
   * Succeeds when it is the caller's turn. For an uninterruptible caller: only the wait that `restore` frees can be interrupted, which
   * leaves the line, and passes a turn on that had just come.
   */
  enter(restore: Restore): Effect.Effect<void> {
    return Effect.suspend(() => {
      let inside = false
      const turn = Effect.callback<void>((resume) => {
        const admit = () => {
          inside = true
          resume(Effect.void)
        }
        if (this.open || !this.busy) {
          this.busy = true
          admit()
          return
        }
        this.waiting.push(admit)
        return Effect.sync(() => {
          this.waiting = this.waiting.filter((other) => other !== admit)
        })
      })
      return Effect.onInterrupt(restore(turn), () =>
        Effect.sync(() => {
          if (inside) this.leave()
        }),
      )
    })
  }

  leave(): void {
    const next = this.waiting.shift()
    if (next === undefined) this.busy = false
    else next()
  }

  /** Lets in all who wait and whoever comes: what is behind the gate is gone, each will see it. */
  tearDown(): void {
    this.open = true
    const waiting = this.waiting
    this.waiting = []
    for (const admit of waiting) admit()
  }
}
