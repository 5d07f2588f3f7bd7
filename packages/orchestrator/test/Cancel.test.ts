import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { appears, failure, isAlive, script, World, watch } from "./support/World.ts"

describe.each([1, 2] as const)("cancelling a child that speaks v%i", (version) => {
  const mood = { versions: [version] }

  it.live("S150 S151 sends session/cancel, waits until the turn has settled, and retires the child", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood } } })
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      const turn = yield* Effect.forkChild(
        parent.prompt({ subagent: child, prompt: script({ touch: world.file("in") }, { awaitCancel: true }) }),
      )
      yield* appears(world.file("in"))
      yield* Fiber.interrupt(turn)
      expect(world.received()).toEqual(["initialize", "session/new", "session/prompt", "session/prompt", "session/cancel"])
      expect(world.alive()).toEqual([])
      expect(yield* parent.subagents({})).toEqual([])
      expect((yield* failure(parent.prompt({ subagent: child, prompt: "x" }))).code).toBe("SUBAGENT_RETIRED")
      expect(yield* parent.session.subagents.list()).toMatchObject([{ id: child.id, meta: { status: "interrupted" } }])
    }),
  )

  it.live("S150 ends a child that does not settle, and with it what it started", () =>
    Effect.gen(function* () {
      const world = yield* World.make({
        harnesses: { review: { mood: { ...mood, deaf: ["cancel", "eof", "SIGTERM"] } } },
        limits: { cancelMs: 200 },
      })
      const parent = yield* world.open()
      const grandchild = { leaves: true, stubborn: true, pidFile: world.file("grandchild") }
      const turn = yield* Effect.forkChild(
        parent.subagent({ prompt: script({ grandchild }, { touch: world.file("in") }, { mute: true }) }),
      )
      yield* appears(world.file("in"))
      const [pid] = (yield* Effect.promise(() => Bun.file(world.file("grandchild")).text())).trim().split("\n")
      expect(isAlive(Number(pid))).toBe(true)
      const before = yield* Clock.currentTimeMillis
      yield* Fiber.interrupt(turn)
      expect((yield* Clock.currentTimeMillis) - before).toBeLessThan(4_000)
      expect(world.alive()).toEqual([])
      expect(isAlive(Number(pid))).toBe(false)
    }),
  )

  it.live("S151 leaves nothing where the caller gives up while the child starts", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open({
        harnesses: {
          review: { mood: { ...mood, on: { "session/new": { before: [{ touch: world.file("in") }], silent: true } } } },
        },
      })
      const start = yield* Effect.forkChild(parent.subagent({ prompt: "hi", name: "A" }))
      yield* appears(world.file("in"))
      yield* Fiber.interrupt(start)
      expect(world.alive()).toEqual([])
      expect(yield* parent.subagents({})).toEqual([])
    }),
  )

  it.live("S151 sends nothing for a caller that gives up while it waits, and the one before goes on", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood } } })
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      const gate = world.file("gate")
      const first = yield* Effect.forkChild(
        parent.prompt({ subagent: child, prompt: script({ touch: world.file("in") }, { gate }, { say: "1" }) }),
      )
      yield* appears(world.file("in"))
      const second = yield* Effect.forkChild(parent.prompt({ subagent: child, prompt: "2" }))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(second)
      yield* Effect.promise(() => Bun.write(gate, ""))
      expect(yield* Fiber.join(first)).toMatchObject({ output: "1", generation: 2 })
      expect(world.received().filter((method) => method === "session/prompt")).toHaveLength(2)
      expect((yield* parent.prompt({ subagent: { id: child.id, generation: 2 }, prompt: "3" })).output).toBe("echo: 3")
    }),
  )

  it.live("S17 S150 closes the hung session of a shared process first, and ends the process only if that fails", () =>
    Effect.gen(function* () {
      const world = yield* World.make({
        harnesses: { review: { mood: { ...mood, deaf: ["cancel"] } } },
        limits: { cancelMs: 200 },
      })
      const parent = yield* world.open()
      const source = yield* parent.subagent({ prompt: "hi" })
      const branch = yield* parent.fork({ subagent: source, prompt: "x" })
      const turn = yield* Effect.forkChild(
        parent.prompt({ subagent: branch, prompt: script({ touch: world.file("in") }, { mute: true }) }),
      )
      yield* appears(world.file("in"))
      yield* Fiber.interrupt(turn)
      expect(world.received().slice(-2)).toEqual(["session/cancel", "session/close"])
      expect((yield* parent.prompt({ subagent: source, prompt: "on" })).output).toBe("echo: on")
    }),
  )
})

describe("the end of the parent", () => {
  it.live("S150 cancels what works, fails its callers as cancelled, and leaves no process, all at once", () =>
    Effect.gen(function* () {
      const world = yield* World.make({
        harnesses: { good: {}, stubborn: { mood: { deaf: ["cancel", "eof", "SIGTERM"] } } },
        limits: { cancelMs: 500 },
      })
      const parent = yield* world.open()
      const working = ["good", "stubborn"].flatMap((name) =>
        [1, 2, 3].map((number) => ({ name, file: world.file(`${name}${number}`) })),
      )
      const turns = yield* Effect.forEach(working, ({ name, file }) =>
        Effect.forkChild(
          Effect.exit(parent.subagent({ harness: `acp.${name}`, prompt: script({ touch: file }, { mute: true }) })),
        ),
      )
      yield* Effect.forEach(working, ({ file }) => appears(file))
      const before = yield* Clock.currentTimeMillis
      yield* parent.end
      expect((yield* Clock.currentTimeMillis) - before).toBeLessThan(4_000)
      const exits = yield* Effect.forEach(turns, Fiber.join)
      for (const exit of exits)
        expect(Exit.findErrorOption(exit)).toMatchObject({ value: { code: "CANCELLED", message: "nested agent cancelled" } })
      expect([...world.alive("good"), ...world.alive("stubborn")]).toEqual([])
      expect(world.received("good").filter((method) => method === "session/cancel")).toHaveLength(3)
    }),
  )
})

describe("steering", () => {
  it.live("S30 S33 injects guidance into a working turn and returns the receipt; turn and generation stay", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      const turn = yield* Effect.forkChild(
        parent.prompt({ subagent: child, prompt: script({ touch: world.file("in") }, { awaitInject: true }) }),
      )
      yield* appears(world.file("in"))
      const receipt = yield* parent.steer({ id: child.id, prompt: "keep it small" })
      expect(receipt).toMatchObject({ messageId: expect.any(String) })
      expect(yield* Fiber.join(turn)).toMatchObject({ output: "steered: keep it small", generation: 2 })
      const inject = world.frames().find((frame) => frame.message.method === "session/inject")
      expect(inject?.message.params).toMatchObject({ mode: "steer", content: [{ type: "text", text: "keep it small" }] })
      expect(world.received()).not.toContain("session/cancel")
    }),
  )

  it.live("S31 S32 is refused for v1, without the capability, and where no turn works; nothing is sent", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open({
        harnesses: { one: { mood: { versions: [1] } }, mute: { mood: { capabilities: { inject: false } } }, able: {} },
      })
      for (const name of ["one", "mute"]) {
        const turn = yield* Effect.forkChild(
          parent.subagent({ harness: `acp.${name}`, prompt: script({ touch: world.file(name) }, { awaitCancel: true }) }),
        )
        yield* appears(world.file(name))
        const row = (yield* parent.roster).at(-1)
        expect((yield* failure(parent.steer({ id: row!.id, prompt: "x" }))).code).toBe("STEER_UNSUPPORTED")
        yield* Fiber.interrupt(turn)
        expect(world.received(name).filter((method) => method === "session/inject" || method === "session/prompt")).toEqual([
          "session/prompt",
        ])
      }
      const idle = yield* parent.subagent({ harness: "acp.able", prompt: "x" })
      expect((yield* failure(parent.steer({ id: idle.id, prompt: "x" }))).message).toBe(
        "steer requires a working subagent session",
      )
      expect((yield* failure(parent.steer({ id: "s-x", prompt: "x" }))).code).toBe("UNKNOWN_SUBAGENT")
      yield* parent.close(idle)
      expect((yield* failure(parent.steer({ id: idle.id, prompt: "x" }))).code).toBe("SUBAGENT_RETIRED")
    }),
  )

  it.live("S33 says delivery unknown where no receipt comes in time; the turn goes on", () =>
    Effect.gen(function* () {
      const world = yield* World.make({
        harnesses: { review: { mood: { on: { "session/inject": { silent: true, idle: true } } } } },
        limits: { steerMs: 150 },
      })
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      const gate = world.file("gate")
      const turn = yield* Effect.forkChild(
        parent.prompt({ subagent: child, prompt: script({ touch: world.file("in") }, { gate }, { say: "done" }) }),
      )
      yield* appears(world.file("in"))
      expect(yield* failure(parent.steer({ id: child.id, prompt: "x" }))).toMatchObject({
        code: "STEER_UNKNOWN",
        uncertain: true,
        message: "steer acknowledgement timed out; delivery is unknown",
      })
      yield* Effect.promise(() => Bun.write(gate, ""))
      expect(yield* Fiber.join(turn)).toMatchObject({ output: "done", generation: 2 })
      expect(world.received().filter((method) => method === "session/inject")).toHaveLength(1)
      expect(world.received()).not.toContain("session/cancel")
    }),
  )

  it.live("S34 is not revoked by a caller that gives up", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open({
        harnesses: {
          review: {
            mood: { on: { "session/inject": { before: [{ touch: world.file("injecting") }, { gate: world.file("gate") }] } } },
          },
        },
      })
      const events = yield* watch(parent)
      const turn = yield* Effect.forkChild(
        parent.subagent({ prompt: script({ touch: world.file("in") }, { awaitInject: true }) }),
      )
      yield* appears(world.file("in"))
      const started = yield* events.until((event) => event.type === "changed" && event.row.status === "working")
      const id = started.type === "changed" ? started.row.id : ""
      const steering = yield* Effect.forkChild(parent.steer({ id, prompt: "on" }))
      yield* appears(world.file("injecting"))
      yield* Fiber.interrupt(steering)
      yield* Effect.promise(() => Bun.write(world.file("gate"), ""))
      expect((yield* Fiber.join(turn)).output).toBe("steered: on")
      expect(world.received()).not.toContain("$/cancel_request")
    }),
  )
})
