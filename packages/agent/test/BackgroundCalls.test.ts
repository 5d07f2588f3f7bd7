import type { Tool as RunletTool } from "@acp-kit/runlet/Host"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as TestClock from "effect/testing/TestClock"
import { Background } from "../src/BackgroundCalls.ts"
import { CloseCall } from "../src/CloseCall.ts"
import type { Item } from "../src/Item.ts"
import type { Outcome } from "../src/TurnLoop.ts"

const done: Outcome = { status: "completed", output: 1 }

const calls = Effect.gen(function* () {
  const delivered = yield* Queue.unbounded<Item>()
  const background = yield* Background.make((result) => Effect.asVoid(Queue.offer(delivered, result)))
  return { background, delivered: Queue.take(delivered) }
})

/** Work that ends when it is told to, and knows whether it was interrupted. */
const work = Effect.map(Deferred.make<Outcome>(), (end) => {
  const state = { interrupted: false }
  const run = Effect.onInterrupt(Deferred.await(end), () =>
    Effect.sync(() => {
      state.interrupted = true
    }),
  )
  return { run, state, end: Deferred.succeed(end, done) }
})

describe("calls in the background", () => {
  it.effect("give their own outcome where they end in time, and deliver nothing", () =>
    Effect.gen(function* () {
      const { background } = yield* calls
      expect(yield* background.run("a", 5, Effect.succeed(done))).toEqual(done)
      expect(background.running()).toEqual([])
    }),
  )

  it.effect("are detached after their seconds in front, and deliver their result when they have ended", () =>
    Effect.gen(function* () {
      const { background, delivered } = yield* calls
      const { run, end } = yield* work
      const fiber = yield* Effect.forkChild(background.run("a", 5, run))
      yield* TestClock.adjust("5 seconds")
      expect(yield* Fiber.join(fiber)).toEqual({ status: "detached", output: { call_id: "a", status: "running" } })
      expect(background.running()).toEqual(["a"])
      yield* end
      expect(yield* delivered).toEqual({ type: "result", id: "a", ...done })
      yield* Effect.yieldNow
      expect(background.running()).toEqual([])
    }),
  )

  it.effect("go to the background when they are sent there, and only those that are in front", () =>
    Effect.gen(function* () {
      const { background, delivered } = yield* calls
      const { run, end } = yield* work
      expect(yield* background.detach).toBe(false)
      const fiber = yield* Effect.forkChild(background.run("a", undefined, run))
      yield* TestClock.adjust("1 day")
      expect(fiber.pollUnsafe()).toBeUndefined()
      expect(yield* background.detach).toBe(true)
      expect(yield* Fiber.join(fiber)).toEqual({ status: "detached", output: { call_id: "a", status: "running" } })
      expect(yield* background.detach).toBe(false)
      yield* end
      expect(yield* delivered).toEqual({ type: "result", id: "a", ...done })
    }),
  )

  it.effect("stop with their caller while they are in front, and survive it from then on", () =>
    Effect.gen(function* () {
      const { background } = yield* calls
      const [front, back] = [yield* work, yield* work]
      const waiting = yield* Effect.forkChild(background.run("a", 5, front.run))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(waiting)
      expect(front.state.interrupted).toBe(true)
      const fiber = yield* Effect.forkChild(Effect.andThen(background.run("b", 0, back.run), Effect.never))
      yield* TestClock.adjust(0)
      yield* Fiber.interrupt(fiber)
      expect([back.state.interrupted, background.running()]).toEqual([false, ["b"]])
    }),
  )

  it.effect("can be stopped, which is delivered as a failure", () =>
    Effect.gen(function* () {
      const { background, delivered } = yield* calls
      const { run, state } = yield* work
      const starting = yield* Effect.forkChild(background.run("a", 0, run))
      yield* TestClock.adjust(0)
      yield* Fiber.join(starting)
      const close: RunletTool = {
        name: "close",
        summary: "",
        parameters: [],
        output: true,
        policy: "at_most_once",
        schemaVersion: "1",
        handler: ([input]) => Effect.succeed(input ?? null),
      }
      const context = { operationId: "o", dispatchId: "o:0", attempt: 0, line: 1, column: 1 }
      const wrapped = CloseCall.wrap(close, background)
      expect(yield* wrapped.handler([{ call_id: "a" }], context)).toEqual({ call_id: "a" })
      expect(state.interrupted).toBe(true)
      expect(yield* delivered).toMatchObject({ id: "a", status: "failed", output: { code: "CANCELLED" } })
      expect(yield* Effect.flip(wrapped.handler([{ call_id: "a" }], context))).toMatchObject({ code: "UNKNOWN_CALL" })
      expect(yield* wrapped.handler([{ id: "s-1" }], context)).toEqual({ id: "s-1" })
    }),
  )

  it.effect("end with their session", () =>
    Effect.gen(function* () {
      const { run, state } = yield* work
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { background } = yield* calls
          const starting = yield* Effect.forkChild(background.run("a", 0, run))
          yield* TestClock.adjust(0)
          yield* Fiber.join(starting)
        }),
      )
      expect(state.interrupted).toBe(true)
    }),
  )
})
