import * as Effect from "effect/Effect"

/** One at a time, first come first served; leaving is synchronous, so that an answer can pass the gate on in wire order. */
export class Gate {
  private busy = false
  private readonly waiting: Array<(effect: Effect.Effect<void>) => void> = []

  /** Succeeds when it is the caller's turn; interruption while waiting leaves the line. */
  readonly enter: Effect.Effect<void> = Effect.callback<void>((resume) => {
    if (!this.busy) {
      this.busy = true
      resume(Effect.void)
      return
    }
    this.waiting.push(resume)
    return Effect.sync(() => {
      const at = this.waiting.indexOf(resume)
      if (at !== -1) this.waiting.splice(at, 1)
    })
  })

  leave(): void {
    const next = this.waiting.shift()
    if (next === undefined) this.busy = false
    else next(Effect.void)
  }
}
