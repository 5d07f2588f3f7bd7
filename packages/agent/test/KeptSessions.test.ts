import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { SessionStore } from "@acp-kit/store/SessionStore"
import { expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import type { Tool } from "../src/TurnLoop.ts"
import { directory, machine, say, sessionsOf, shape, text, view } from "./Sessions.ts"

it.layer(machine)("sessions that are opened again", (it) => {
  it.effect("opens a closed session again with its whole conversation and its choices", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const sessions = yield* sessionsOf()
      const before = yield* sessions.create({ cwd, view })
      yield* before.setOption("reasoning_effort", "high")
      yield* say(before, "one")
      yield* sessions.close(before.id)
      const after = yield* sessions.load(before.id, { cwd, view })
      expect(after.history.items()).toEqual(before.history.items())
      expect(yield* after.options).toMatchObject([{}, { current: "high" }])
      yield* say(after, "two")
      expect(shape(after)).toEqual(["selection", "prompt", "answer", "stop", "prompt", "answer", "stop"])
      expect(yield* Effect.flip(sessions.load("nobody", { cwd, view }))).toMatchObject({ _tag: "UnknownSession" })
      expect(yield* Effect.flip(sessions.load("../etc", { cwd, view }))).toMatchObject({ _tag: "UnknownSession" })
    }),
  )

  it.effect("gives the open session where its directories are the same, and opens it anew where they are not", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      mkdirSync(join(cwd, "a"))
      const sessions = yield* sessionsOf()
      const open = yield* sessions.create({ cwd, view })
      yield* say(open, "one")
      expect(yield* sessions.load(open.id, { cwd, view })).toBe(open)
      const moved = yield* sessions.load(open.id, { cwd, view, additionalDirectories: [join(cwd, "a")] })
      expect(moved).not.toBe(open)
      expect([moved.additionalDirectories, shape(moved)]).toEqual([[join(cwd, "a")], shape(open)])
    }),
  )

  it.effect("opens the first session again where it is told to resume it, and creates none in its place", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const first = yield* sessionsOf({ first: { id: "mine", resume: false } })
      yield* say(yield* first.create({ cwd, view }), "one")
      yield* first.shutdown
      const second = yield* sessionsOf({ first: { id: "mine", resume: true } })
      expect(shape(yield* second.create({ cwd, view }))).toEqual(["prompt", "answer", "stop"])
      const third = yield* sessionsOf({ first: { id: "lost", resume: true } })
      expect(yield* Effect.flip(third.create({ cwd, view }))).toMatchObject({ _tag: "UnknownSession" })
      expect((yield* third.list({})).sessions.map(({ id }) => id)).not.toContain("lost")
    }),
  )

  it.effect("finishes what a crash left unfinished when it opens a session", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const store = yield* SessionStore.Service
      yield* Effect.scoped(
        Effect.gen(function* () {
          const writer = yield* store.create({ id: "crashed", cwd })
          yield* writer.appendItem({ type: "prompt", id: "p", content: [] })
          yield* writer.appendItem({ type: "call", id: "c", name: "compose", input: {} })
          yield* writer.appendItem({ type: "from the future", id: "x" })
        }),
      )
      const session = yield* (yield* sessionsOf()).load("crashed", { cwd, view })
      expect(session.history.items().slice(2)).toMatchObject([
        { type: "result", id: "c", status: "interrupted", output: { code: "INTERRUPTED" } },
        { type: "stop", reason: "cancelled" },
      ])
      expect(yield* say(session, "next")).toBe("end_turn")
    }),
  )

  it.effect("opens a session that is being closed once it is closed, and leaves only then", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const [closing, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const releases = Effect.addFinalizer(() => Effect.andThen(Deferred.succeed(closing, undefined), Deferred.await(gate)))
      const sessions = yield* sessionsOf({ tools: () => Effect.as(releases, []) })
      const { id } = yield* sessions.create({ cwd, view })
      const close = yield* Effect.forkChild(sessions.close(id))
      yield* Deferred.await(closing)
      const order: Array<string> = []
      const noted = <A, E>(name: string, effect: Effect.Effect<A, E>) =>
        Effect.forkChild(
          Effect.tap(effect, () => Effect.sync(() => order.push(name))),
          { startImmediately: true },
        )
      const left = yield* noted("left", sessions.shutdown)
      const loaded = yield* noted("loaded", sessions.load(id, { cwd, view }))
      yield* Effect.yieldNow
      expect(order).toEqual([])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(close)
      yield* Fiber.join(left)
      expect((yield* Fiber.join(loaded)).id).toBe(id)
    }),
  )

  it.effect("branches a session that is being closed once its last turn has stopped", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const [started, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const deaf: Tool = {
        spec: { name: "compose", description: "", input: {} },
        run: () =>
          Deferred.succeed(started, undefined).pipe(
            Effect.andThen(Deferred.await(gate)),
            Effect.as({ status: "completed", output: null } as const),
            Effect.uninterruptible,
          ),
      }
      const sessions = yield* sessionsOf({ tools: () => Effect.succeed([deaf]) })
      const source = yield* sessions.create({ cwd, view })
      yield* source.begin(text("```runlet\nreturn 1\n```"), Effect.void)
      yield* Deferred.await(started)
      const close = yield* Effect.forkChild(sessions.close(source.id), { startImmediately: true })
      const forking = yield* Effect.forkChild(sessions.fork(source.id, { cwd, view }), { startImmediately: true })
      yield* Effect.yieldNow
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(close)
      expect(shape(yield* Fiber.join(forking))).toEqual(["prompt", "call", "result", "stop"])
    }),
  )

  it.effect("refuses to open a session that another writer holds, and says who", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const [one, other] = [yield* sessionsOf(), yield* sessionsOf()]
      const { id } = yield* one.create({ cwd, view })
      const loading = yield* Effect.forkChild(Effect.flip(other.load(id, { cwd, view })))
      const refusal = yield* Effect.raceFirst(Fiber.join(loading), Effect.forever(TestClock.adjust("1 second")))
      expect(refusal.message).toContain("is open for writing")
    }),
  )

  it.effect("branches the completed turns of a session, waiting for one that runs", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const sessions = yield* sessionsOf()
      const source = yield* sessions.create({ cwd, view })
      yield* source.setOption("reasoning_effort", "low")
      yield* say(source, "one")
      const gate = yield* Deferred.make<void>()
      yield* source.begin(text("two"), Deferred.await(gate))
      const forking = yield* Effect.forkChild(sessions.fork(source.id, { cwd, view }))
      yield* Deferred.succeed(gate, undefined)
      const branch = yield* Fiber.join(forking)
      expect(branch.id).not.toBe(source.id)
      expect(shape(branch)).toEqual(["selection", "prompt", "answer", "stop", "prompt", "answer", "stop"])
      expect(yield* branch.options).toMatchObject([{}, { current: "low" }])
      yield* say(branch, "three")
      expect(shape(source).length).toBe(7)
      yield* sessions.close(source.id)
      expect(shape(yield* sessions.fork(source.id, { cwd, view })).length).toBe(7)
      expect(yield* Effect.flip(sessions.fork("nobody", { cwd, view }))).toMatchObject({ _tag: "UnknownSession" })
    }),
  )

  it.effect("gives a branch what was chosen since the last turn of its source", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const sessions = yield* sessionsOf()
      const source = yield* sessions.create({ cwd, view })
      yield* source.setOption("reasoning_effort", "low")
      expect(yield* (yield* sessions.fork(source.id, { cwd, view })).options).toMatchObject([{}, { current: "low" }])
      yield* say(source, "one")
      yield* source.setOption("reasoning_effort", "high")
      expect(yield* (yield* sessions.fork(source.id, { cwd, view })).options).toMatchObject([{}, { current: "high" }])
    }),
  )

  it.effect("gives a branch the id that its parent has for it, where that is an agent's", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const sessions = yield* sessionsOf()
      const source = yield* sessions.create({ cwd, view })
      const id = "s-01a22ebc-1d16-7fc7-a5c8-4773db9c93aa"
      expect((yield* sessions.fork(source.id, { cwd, view, id })).id).toBe(id)
      expect((yield* sessions.fork(source.id, { cwd, view, id: "anything" })).id).not.toBe("anything")
    }),
  )
})
