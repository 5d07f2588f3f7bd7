import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Item } from "./Item.ts"
import type { Outcome } from "./TurnLoop.ts"

type Result = Item & { readonly type: "result" }

/** The calls of one session that go on beyond the turn that made them. They end with the session. */
export interface BackgroundCalls {
  /**
   * Runs a call for so many seconds in front, and from then on in the background; the outcome is its own, or that it was detached.
   * Until it is detached an interruption stops it; from then on its result is delivered when it has ended.
   */
  readonly run: (id: string, seconds: number, work: Effect.Effect<Outcome>) => Effect.Effect<Outcome>
  /** Stops a detached call; its result is delivered. `false` where there is none of this id. */
  readonly stop: (id: string) => Effect.Effect<boolean>
  readonly stopAll: Effect.Effect<void>
  /** The calls that are detached and whose result was not delivered yet, in the order in which they were made. */
  readonly running: () => ReadonlyArray<string>
}

/** The calls of a session; `deliver` is given each result of a detached call, which counts no longer as running then. */
export const make = Effect.fnUntraced(function* (
  deliver: (result: Result) => Effect.Effect<void>,
): Effect.fn.Return<BackgroundCalls, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const detached = new Map<string, Fiber.Fiber<Outcome>>()

  const run = Effect.fn("BackgroundCalls.run")((id: string, seconds: number, work: Effect.Effect<Outcome>) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkIn(Effect.interruptible(work), scope)
        const inFront = restore(Effect.timeoutOption(Fiber.await(fiber), seconds * 1000))
        const exit = yield* Effect.onInterrupt(inFront, () => Fiber.interrupt(fiber))
        if (Option.isSome(exit)) return yield* exit.value
        detached.set(id, fiber)
        const delivery = Effect.flatMap(Fiber.await(fiber), (exit) => {
          detached.delete(id)
          return deliver({ type: "result", id, ...outcomeOf(exit) })
        })
        yield* Effect.forkIn(delivery, scope)
        return { status: "detached", output: { call_id: id, status: "running" } } as const
      }),
    ),
  )

  const stop = Effect.fn("BackgroundCalls.stop")(function* (id: string) {
    const fiber = detached.get(id)
    if (fiber === undefined) return false
    yield* Fiber.interrupt(fiber)
    return true
  })

  return {
    run,
    stop,
    stopAll: Effect.suspend(() => Effect.forEach([...detached.keys()], stop, { concurrency: "unbounded", discard: true })),
    running: () => [...detached.keys()],
  }
})

const outcomeOf = (exit: Exit.Exit<Outcome>): Outcome =>
  Exit.isSuccess(exit)
    ? exit.value
    : { status: "failed", output: { code: "CANCELLED", message: "the call was stopped; its effects may have happened" } }

export * as Background from "./BackgroundCalls.ts"
