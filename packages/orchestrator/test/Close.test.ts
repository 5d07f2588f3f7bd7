import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { appears, failure, script, World } from "./support/World.ts"

describe.each([1, 2] as const)("closing a child that speaks v%i", (version) => {
  const mood = { versions: [version] }

  it.live("S13 S14 S16 closes, then deletes where advertised, ends the process and retires the handle", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood } } })
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      expect(yield* parent.close(child)).toEqual({ id: child.id })
      expect(world.received()).toEqual(["initialize", "session/new", "session/prompt", "session/close", "session/delete"])
      expect(world.alive()).toEqual([])
      expect(yield* parent.subagents({})).toEqual([])
      expect(yield* parent.session.children).toMatchObject([{ id: child.id, lifecycle: "Closed" }])
      for (const reuse of [parent.close({ id: child.id }), parent.prompt({ subagent: child, prompt: "x" })]) {
        expect(yield* failure<unknown>(reuse)).toMatchObject({ code: "SUBAGENT_RETIRED", message: "subagent session is retired" })
      }
    }),
  )

  it.live("S14 fails where the history cannot be deleted, says what was left, and the handle is gone all the same", () =>
    Effect.gen(function* () {
      const world = yield* World.make({
        harnesses: { review: { mood: { ...mood, on: { "session/delete": { error: { code: -32603, message: "disk full" } } } } } },
      })
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      const error = yield* failure(parent.close({ id: child.id }))
      expect(error.code).toBe("DELETE_FAILED")
      expect(error.message).toMatch(/^session\/delete failed: disk full.* was left behind$/)
      expect(error.message).toContain("acp.review")
      expect(world.alive()).toEqual([])
      expect((yield* failure(parent.prompt({ subagent: child, prompt: "x" }))).code).toBe("SUBAGENT_RETIRED")
    }),
  )

  it.live("S152 asks a child that does not answer a close to cancel it, fails, and ends the process", () =>
    Effect.gen(function* () {
      const world = yield* World.make({
        harnesses: { review: { mood: { ...mood, on: { "session/close": { silent: true } }, deaf: ["cancel_request"] } } },
        limits: { closeMs: 200 },
      })
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      const error = yield* failure(parent.close(child))
      expect(error).toMatchObject({ code: "CLOSE_FAILED", uncertain: true })
      expect(error.message).toMatch(/^ACP harness did not answer session\/close within 0\.2 seconds/)
      expect(world.received()).toEqual(["initialize", "session/new", "session/prompt", "session/close", "$/cancel_request"])
      expect(world.alive()).toEqual([])
    }),
  )

  it.live("cancels a turn at work, which then fails as retired", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood } } })
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      const turn = yield* Effect.forkChild(
        failure(parent.prompt({ subagent: child, prompt: script({ touch: world.file("in") }, { awaitCancel: true }) })),
      )
      yield* appears(world.file("in"))
      yield* parent.close(child)
      expect(yield* Fiber.join(turn)).toMatchObject({ code: "SUBAGENT_RETIRED", message: "subagent session is retired" })
      expect(world.received().slice(-3)).toEqual(["session/cancel", "session/close", "session/delete"])
      expect(world.alive()).toEqual([])
    }),
  )

  it.live("cuts a start short, which then fails as retired and leaves no process", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open({
        harnesses: {
          review: { mood: { ...mood, on: { "session/new": { before: [{ touch: world.file("in") }], silent: true } } } },
        },
      })
      const start = yield* Effect.forkChild(failure(parent.subagent({ prompt: "hi" })))
      yield* appears(world.file("in"))
      const [row] = yield* parent.subagents({})
      yield* parent.close(row!)
      expect((yield* Fiber.join(start)).code).toBe("SUBAGENT_RETIRED")
      expect(world.alive()).toEqual([])
    }),
  )

  it.live("S19 lets those who wait in front of a closed session fail as retired", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood } } })
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      const turns = yield* Effect.forkChild(
        Effect.all(
          [script({ touch: world.file("in") }, { awaitCancel: true }), "b", "c"].map((prompt) =>
            failure(parent.prompt({ subagent: child, prompt })),
          ),
          { concurrency: "unbounded" },
        ),
      )
      yield* appears(world.file("in"))
      yield* parent.close(child)
      expect((yield* Fiber.join(turns)).map((error) => error.code)).toEqual([
        "SUBAGENT_RETIRED",
        "SUBAGENT_RETIRED",
        "SUBAGENT_RETIRED",
      ])
      expect(world.received().filter((method) => method === "session/prompt")).toHaveLength(2)
    }),
  )
})

describe("closing", () => {
  it.live("S13 knows no id that it has not given out", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const error = yield* failure(parent.close({ id: "s-nobody" }))
      expect(error.code).toBe("UNKNOWN_SUBAGENT")
      expect(error.message).toContain("unknown subagent session")
    }),
  )

  it.live("S16 ends a v1 process without close capability", () =>
    Effect.gen(function* () {
      const world = yield* World.make({
        harnesses: { review: { mood: { versions: [1], capabilities: { close: false, delete: false } } } },
      })
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      expect(world.alive()).toHaveLength(1)
      yield* parent.close(child)
      expect(world.received()).toEqual(["initialize", "session/new", "session/prompt"])
      expect(world.alive()).toEqual([])
    }),
  )

  it.live("S15 is not what the end of the parent does: nothing is closed, nothing deleted", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      yield* parent.subagent({ prompt: "hi" })
      yield* parent.end
      expect(world.received()).toEqual(["initialize", "session/new", "session/prompt"])
      expect(world.alive()).toEqual([])
    }),
  )

  it.live("S17 leaves the siblings of a native fork alone: refused without the capability, else only one is closed", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open({
        harnesses: {
          able: { mood: { versions: [1] } },
          unable: { mood: { versions: [1], capabilities: { close: false, delete: false } } },
        },
      })
      for (const name of ["able", "unable"]) {
        const source = yield* parent.subagent({ prompt: "hi", harness: `acp.${name}` })
        const branch = yield* parent.fork({ subagent: source, prompt: "branch" })
        const pids = world.alive(name)
        expect(pids).toHaveLength(1)
        if (name === "unable") {
          const error = yield* failure(parent.close(branch))
          expect(error).toMatchObject({
            code: "CLOSE_FAILED",
            message: "ACP harness does not support closing one session while sibling sessions share its process",
          })
          expect((yield* parent.prompt({ subagent: branch, prompt: "on" })).output).toBe("echo: on")
        } else yield* parent.close(branch)
        expect((yield* parent.prompt({ subagent: source, prompt: "on" })).output).toBe("echo: on")
        expect(world.alive(name)).toEqual(pids)
      }
      expect(world.received("able").filter((method) => method === "session/close")).toHaveLength(1)
    }),
  )

  it.live("answers two at once: one closes, the other finds it retired", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      const both = yield* Effect.all([Effect.exit(parent.close(child)), Effect.exit(parent.close(child))], { concurrency: 2 })
      expect(both.map((exit) => exit._tag).sort()).toEqual(["Failure", "Success"])
    }),
  )
})
