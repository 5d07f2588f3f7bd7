import * as Deferred from "effect/Deferred"
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
   * Runs a call for so many seconds in front (`undefined`: until {@link BackgroundCalls.detach}), and from then on in the background; the outcome is its own, or that it was detached.
   * Until it is detached an interruption stops it; from then on its result is delivered when it has ended.
   */
  readonly run: (id: string, seconds: number | undefined, work: Effect.Effect<Outcome>) => Effect.Effect<Outcome>
  /** Sends the calls that run in front to the background; `false` where there are none. */
  readonly detach: Effect.Effect<boolean>
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
  const front = new Set<Deferred.Deferred<void>>()
  const detached = new Map<string, Fiber.Fiber<Outcome>>()

  const run = Effect.fn("BackgroundCalls.run")((id: string, seconds: number | undefined, work: Effect.Effect<Outcome>) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkIn(Effect.interruptible(work), scope)
        const sent = Deferred.makeUnsafe<void>()
        front.add(sent)
        const long = seconds === undefined ? Effect.never : Effect.sleep(seconds * 1000)
        const inFront = Effect.raceFirst(
          Effect.asSome(Fiber.await(fiber)),
          Effect.as(Effect.raceFirst(long, Deferred.await(sent)), Option.none()),
        )
        const exit = yield* restore(inFront).pipe(
          Effect.onInterrupt(() => Fiber.interrupt(fiber)),
          Effect.ensuring(Effect.sync(() => front.delete(sent))),
        )
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
    detach: Effect.sync(() => {
      const running = [...front]
      for (const sent of running) Deferred.doneUnsafe(sent, Exit.void)
      return running.length > 0
    }),
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
