import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { appears, failure, script, touch, World } from "./support/World.ts"

describe.each([1, 2] as const)("forking a child that speaks v%i", (version) => {
  const mood = { versions: [version] }

  it.live("S12 S19 branches the completed context: own id and name, generation of the value + 1, the source stays", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood } } })
      const parent = yield* world.open()
      const first = yield* parent.subagent({ prompt: "hi", name: "Main" })
      const second = yield* parent.prompt({ subagent: first, prompt: "more" })
      const branch = yield* parent.fork({ subagent: second, prompt: script({ recall: true }), name: "Other" })
      expect(branch).toMatchObject({ name: "Other", output: '["hi","more"]', generation: 3 })
      expect(branch.id).not.toBe(first.id)
      expect(world.received()).toEqual([
        "initialize",
        "session/new",
        "session/prompt",
        "session/prompt",
        "session/fork",
        "session/prompt",
      ])
      expect(world.alive()).toHaveLength(1)
      const twins = yield* Effect.all(
        [parent.fork({ subagent: second, prompt: "x" }), parent.fork({ subagent: second, prompt: "y" })],
        {
          concurrency: 2,
        },
      )
      expect(twins.map(({ generation }) => generation)).toEqual([3, 3])
      expect(yield* parent.prompt({ subagent: second, prompt: script({ recall: true }) })).toMatchObject({
        output: '["hi","more"]',
        generation: 3,
      })
      expect(yield* parent.prompt({ subagent: branch, prompt: "on" })).toMatchObject({ generation: 4, name: "Other" })
    }),
  )

  it.live("S19 S32 reserves the source until the branch exists, then lets it work beside it", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const gate = world.file("gate")
      const parent = yield* world.open({
        harnesses: { review: { mood: { ...mood, on: { "session/fork": { before: [{ touch: world.file("in") }, { gate }] } } } } },
      })
      const source = yield* parent.subagent({ prompt: "hi" })
      const forking = yield* Effect.forkChild(
        parent.fork({ subagent: source, prompt: script({ gate: world.file("late") }, { say: "branch" }) }),
      )
      yield* appears(world.file("in"))
      expect(yield* parent.subagents({})).toMatchObject([{ id: source.id, status: "idle" }, { status: "starting" }])
      expect(yield* failure(parent.steer({ id: source.id, prompt: "x" }))).toMatchObject({
        code: "NOT_WORKING",
        message: "steer requires a working subagent session",
      })
      const waiting = yield* Effect.forkChild(parent.prompt({ subagent: source, prompt: "beside" }))
      yield* touch(gate)
      expect((yield* Fiber.join(waiting)).output).toBe("echo: beside")
      yield* touch(world.file("late"))
      expect((yield* Fiber.join(forking)).output).toBe("branch")
    }),
  )

  it.live("S156 ends a branch whose first turn fails, and leaves the source", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood } } })
      const parent = yield* world.open()
      const source = yield* parent.subagent({ prompt: "hi" })
      const error = yield* failure(parent.fork({ subagent: source, prompt: script({ stop: "refusal" }) }))
      expect(error.code).toBe("REFUSED")
      expect(yield* parent.subagents({})).toMatchObject([{ id: source.id, status: "idle", generation: 1 }])
      expect(world.received().at(-1)).toBe("session/close")
      expect((yield* parent.prompt({ subagent: source, prompt: "on" })).generation).toBe(2)
    }),
  )

  it.live(
    "S152 S162 gives up a fork that takes too long, asks to cancel it, and cleans up its late session before the next prompt",
    () =>
      Effect.gen(function* () {
        const world = yield* World.make()
        const gate = world.file("gate")
        const parent = yield* world.open({
          harnesses: {
            review: { mood: { ...mood, deaf: ["cancel_request"], on: { "session/fork": { before: [{ gate }] } } } },
          },
          limits: { forkMs: 300 },
        })
        const source = yield* parent.subagent({ prompt: "hi" })
        const error = yield* failure(parent.fork({ subagent: source, prompt: "x" }))
        expect(error).toMatchObject({
          code: "FORK_TIMEOUT",
          uncertain: true,
          message: "ACP harness did not answer session/fork within 0.3 seconds",
        })
        const next = yield* Effect.forkChild(parent.prompt({ subagent: source, prompt: "next" }))
        yield* touch(gate)
        expect((yield* Fiber.join(next)).output).toBe("echo: next")
        expect(world.received()).toEqual([
          "initialize",
          "session/new",
          "session/prompt",
          "session/fork",
          "$/cancel_request",
          "session/close",
          "session/prompt",
        ])
        expect(yield* parent.subagents({})).toMatchObject([{ id: source.id }])
      }),
  )

  it.live("S151 S152 cancels a fork of a caller that gives up, and leaves no branch", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open({
        harnesses: {
          review: { mood: { ...mood, on: { "session/fork": { before: [{ touch: world.file("in") }, { awaitCancel: true }] } } } },
        },
      })
      const source = yield* parent.subagent({ prompt: "hi" })
      const forking = yield* Effect.forkChild(parent.fork({ subagent: source, prompt: "x" }))
      yield* appears(world.file("in"))
      yield* Fiber.interrupt(forking)
      expect(yield* parent.subagents({})).toMatchObject([{ id: source.id, status: "idle" }])
      expect((yield* parent.prompt({ subagent: source, prompt: "on" })).output).toBe("echo: on")
      expect(world.received()).toContain("$/cancel_request")
    }),
  )
})

describe("forking", () => {
  it.live("S130 S132 is refused where the child does not advertise it; its session goes on", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood: { capabilities: { fork: false } } } } })
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      expect(yield* failure(parent.fork({ subagent: child, prompt: "x" }))).toMatchObject({
        code: "FORK_UNSUPPORTED",
        message: 'ACP harness "acp.review" does not advertise session/fork; transcript fallback is only available for Kit',
      })
      expect((yield* parent.prompt({ subagent: child, prompt: "on" })).generation).toBe(2)
      expect(world.received()).not.toContain("session/fork")
    }),
  )

  it.live("S18 refuses an old value, and sends nothing", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const first = yield* parent.subagent({ prompt: "hi" })
      yield* parent.prompt({ subagent: first, prompt: "x" })
      expect((yield* failure(parent.fork({ subagent: first, prompt: "x" }))).code).toBe("STALE_GENERATION")
      expect(world.received()).not.toContain("session/fork")
    }),
  )

  it.live("fails as retired where the source is closed meanwhile", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open({
        harnesses: {
          review: { mood: { on: { "session/fork": { before: [{ touch: world.file("in") }, { gate: world.file("never") }] } } } },
        },
      })
      const source = yield* parent.subagent({ prompt: "hi" })
      const forking = yield* Effect.forkChild(failure(parent.fork({ subagent: source, prompt: "x" })))
      yield* appears(world.file("in"))
      yield* parent.close(source)
      expect((yield* Fiber.join(forking)).code).toBe("SUBAGENT_RETIRED")
      expect(yield* parent.subagents({})).toEqual([])
      expect(world.alive()).toEqual([])
    }),
  )
})
