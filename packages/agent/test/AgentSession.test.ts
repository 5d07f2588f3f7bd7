import { expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as TestClock from "effect/testing/TestClock"
import type { SessionEvent } from "../src/AgentSession.ts"
import type { Item } from "../src/Item.ts"
import type { Tool } from "../src/TurnLoop.ts"
import { directory, machine, sessionsOf, settings, shape, text, view } from "./Sessions.ts"

/** A tool that starts and does not end. */
const stuck = Effect.map(Deferred.make<void>(), (started) => ({
  started: Deferred.await(started),
  tool: {
    spec: { name: "compose", description: "", input: {} },
    run: () => Effect.andThen(Deferred.succeed(started, undefined), Effect.never),
  } satisfies Tool,
}))

const block = text("```runlet\nreturn 1\n```")

it.layer(machine)("a session at work", (it) => {
  it.effect("refuses a second prompt while one runs, and takes one as soon as the stop is seen", () =>
    Effect.gen(function* () {
      const { started, tool } = yield* stuck
      const sessions = yield* sessionsOf({ tools: () => Effect.succeed([tool]) })
      const again = yield* Deferred.make<string>()
      const onStop = (_id: string, event: SessionEvent): Effect.Effect<void> =>
        event.type === "stopped" && event.stop.reason === "cancelled"
          ? Effect.flatMap(session.begin(text("next"), Effect.void), ({ messageId }) => Deferred.succeed(again, messageId)).pipe(
              Effect.orDie,
              Effect.asVoid,
            )
          : Effect.void
      const session = yield* sessions.create({ cwd: yield* directory, view: onStop })
      const first = yield* session.begin(block, Effect.void)
      yield* started
      expect((yield* Effect.flip(session.begin(block, Effect.void))).message).toBe("session is already running a prompt")
      yield* session.cancel
      expect(yield* first.result).toBe("cancelled")
      yield* Deferred.await(again)
      yield* sessions.idle
    }),
  )

  it.effect("cancels a turn that has not started yet and records its prompt", () =>
    Effect.gen(function* () {
      const sessions = yield* sessionsOf()
      const session = yield* sessions.create({ cwd: yield* directory, view })
      const gate = yield* Deferred.make<void>()
      const turn = yield* session.begin(text("hello"), Deferred.await(gate))
      const cancelled = yield* Effect.forkChild(session.cancel)
      yield* Effect.yieldNow
      yield* Deferred.succeed(gate, undefined)
      expect(yield* turn.result).toBe("cancelled")
      yield* Effect.asVoid(Effect.yieldNow)
      expect(cancelled).toBeDefined()
      expect(session.history.items().map(({ type }) => type)).toEqual(["prompt", "stop"])
    }),
  )

  it.effect("closes a session after cancelling its work, and releases its tools", () =>
    Effect.gen(function* () {
      const { started, tool } = yield* stuck
      const log: Array<string> = []
      const tools = () =>
        Effect.as(
          Effect.addFinalizer(() => Effect.sync(() => log.push("released"))),
          [tool],
        )
      const sessions = yield* sessionsOf({ tools })
      const session = yield* sessions.create({
        cwd: yield* directory,
        view: (_id, event) => Effect.sync(() => event.type === "stopped" && log.push(event.stop.reason)),
      })
      yield* session.begin(block, Effect.void)
      yield* started
      yield* sessions.close(session.id)
      expect(log).toEqual(["cancelled", "released"])
      expect(yield* Effect.flip(sessions.close(session.id))).toMatchObject({ _tag: "UnknownSession" })
      yield* sessions.shutdown
    }),
  )

  it.effect("applies a changed option from the next turn on", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const provider = {
        ...settings.provider,
        stream: (request: Parameters<typeof settings.provider.stream>[0]) => {
          asked.push(request.effort)
          return settings.provider.stream(request)
        },
      }
      const sessions = yield* sessionsOf({ provider })
      const session = yield* sessions.create({ cwd: yield* directory, view })
      yield* (yield* session.begin(text("a"), Effect.void)).result
      expect(yield* session.setOption("reasoning_effort", "low")).toMatchObject([{ id: "model" }, { current: "low" }])
      yield* (yield* session.begin(text("b"), Effect.void)).result
      expect(asked).toEqual(["default", "low"])
    }),
  )

  /** A session whose compose calls go to the background at once and end when they are told to. */
  const withBackground = Effect.fnUntraced(function* (structured: boolean) {
    const end = yield* Deferred.make<void>()
    const events: Array<string> = []
    const results: Array<Item> = []
    const sessions = yield* sessionsOf({
      structured,
      tools: ({ background }) =>
        Effect.succeed([
          {
            spec: { name: "compose", description: "", input: {} },
            run: (id) => background.run(id, 0, Effect.as(Deferred.await(end), { status: "completed", output: "done" } as const)),
          },
        ]),
    })
    const stops = yield* Queue.unbounded<SessionEvent & { type: "stopped" }>()
    const session = yield* sessions.create({
      cwd: yield* directory,
      view: (_id, event) =>
        Effect.suspend(() => {
          events.push(event.type === "item" ? event.item.type : event.type)
          if (event.type === "item" && event.item.type === "result") results.push(event.item)
          return event.type === "stopped" ? Effect.asVoid(Queue.offer(stops, event)) : Effect.void
        }),
    })
    const turn = yield* session.begin(block, Effect.void)
    return { session, sessions, turn, end: Deferred.succeed(end, undefined), stopped: Queue.take(stops), events, results }
  })

  it.effect("ends a turn while its call goes on in the background, and wakes when that has ended", () =>
    Effect.gen(function* () {
      const { session, turn, end, stopped } = yield* withBackground(false)
      yield* TestClock.adjust(0)
      expect(yield* turn.result).toBe("end_turn")
      const { background } = yield* stopped
      expect(background).toEqual(session.history.items().flatMap((item) => (item.type === "call" ? [item.id] : [])))
      yield* end
      expect(yield* stopped).toMatchObject({ stop: { reason: "end_turn" }, background: [] })
      expect(shape(session)).toEqual(["prompt", "call", "result", "stop", "result", "answer", "stop"])
      expect(session.history.items().at(-2)).toMatchObject({ text: "done" })
    }),
  )

  it.effect("says that a call in the background was cancelled when the session is closed", () =>
    Effect.gen(function* () {
      const { session, sessions, stopped, results } = yield* withBackground(false)
      yield* TestClock.adjust(0)
      const [id] = (yield* stopped).background
      yield* sessions.close(session.id)
      expect(results.at(-1)).toMatchObject({ id, status: "cancelled", output: { code: "CANCELLED" } })
      const again = yield* sessions.load(session.id, { cwd: session.cwd, view })
      expect(again.history.items().slice(-2)).toEqual([results.at(-1), { type: "stop", reason: "cancelled" }])
    }),
  )

  it.effect("ends a structured turn only when its background calls have ended, and cancels them with it", () =>
    Effect.gen(function* () {
      const nested = yield* withBackground(true)
      yield* TestClock.adjust(0)
      yield* nested.end
      expect(yield* nested.turn.result).toBe("end_turn")
      expect(shape(nested.session)).toEqual(["prompt", "call", "result", "result", "answer", "stop"])
      const cancelled = yield* withBackground(true)
      yield* TestClock.adjust(0)
      yield* cancelled.session.cancel
      expect(yield* cancelled.turn.result).toBe("cancelled")
      yield* cancelled.sessions.close(cancelled.session.id)
    }),
  )
})
