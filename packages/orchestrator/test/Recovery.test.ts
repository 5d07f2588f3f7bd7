import { SubagentRunner } from "@acp-kit/orchestrator/SubagentRunner"
import { make as makeSpec } from "@acp-kit/store/AgentLaunchSpec"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { appears, failure, script, touch, World } from "./support/World.ts"

describe.each([1, 2] as const)("a child that speaks v%i, after a restart of its parent", (version) => {
  const mood = { versions: [version] }
  const attach = version === 1 ? "session/load" : "session/resume"

  it.live("S100 S101 S103 S104 is a handle again without a process; the first prompt attaches to the same session", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood } } })
      const before = yield* world.open()
      const first = yield* before.subagent({ prompt: "one", name: "Reviewer" })
      const second = yield* before.prompt({ subagent: first, prompt: "two" })
      yield* before.end
      const starts = world.events().length
      const parent = yield* world.open()
      expect(yield* parent.subagents({})).toEqual([
        { id: first.id, name: "Reviewer", status: "idle", generation: 2, task: "two" },
      ])
      expect(world.events()).toHaveLength(starts)
      const [row] = yield* parent.subagents({})
      const third = yield* parent.prompt({ subagent: row!, prompt: script({ recall: true }) })
      expect(third).toMatchObject({ id: first.id, name: "Reviewer", output: '["one","two"]', generation: 3 })
      expect(second.id).toBe(first.id)
      const attached = world.frames().find((frame) => frame.message.method === attach)
      const [opened] = yield* parent.session.children
      expect(attached?.message.params).toMatchObject({
        sessionId: opened?.acp_session_id,
        cwd: world.root,
        ...(version === 1 ? {} : { replayFrom: { type: "start" } }),
      })
      expect(world.received().filter((method) => method === "session/new")).toHaveLength(1)
    }),
  )

  it.live("S105 stays a handle where it cannot be attached: nothing is created in its place", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood } } })
      const before = yield* world.open()
      const child = yield* before.subagent({ prompt: "one" })
      yield* before.end
      const forgets = { ...mood, on: { [attach]: { call: 1, error: { code: -32002, message: "gone" } } } }
      const parent = yield* world.open({ harnesses: { review: { mood: forgets } } })
      const error = yield* failure(parent.prompt({ subagent: child, prompt: "two" }))
      expect(error).toMatchObject({ code: "RECONNECT_FAILED", retryable: true })
      expect(world.alive()).toEqual([])
      expect(yield* parent.subagents({})).toMatchObject([{ id: child.id, status: "idle", generation: 1 }])
      expect(yield* parent.session.children).toMatchObject([{ lifecycle: "Idle", generation: 1 }])
      const again = yield* failure(parent.prompt({ subagent: child, prompt: "two" }))
      expect(again.code).toBe("RECONNECT_FAILED")
      expect(world.received().filter((method) => method === attach)).toHaveLength(2)
      expect(world.received().filter((method) => method === "session/new")).toHaveLength(1)
    }),
  )

  it.live("S19 S101 is reconnected once where two prompts race for it", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood } } })
      const before = yield* world.open()
      const child = yield* before.subagent({ prompt: "one" })
      yield* before.end
      const parent = yield* world.open()
      const [first, second] = yield* Effect.all(
        [parent.prompt({ subagent: child, prompt: "two" }), failure(parent.prompt({ subagent: child, prompt: "three" }))],
        { concurrency: 2 },
      )
      expect(first).toMatchObject({ output: "echo: two", generation: 2 })
      expect(second.code).toBe("STALE_GENERATION")
      expect(world.received().filter((method) => method === attach)).toHaveLength(1)
    }),
  )

  it.live("S108 is closed and deleted at the harness, and never comes back", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood } } })
      const before = yield* world.open()
      const child = yield* before.subagent({ prompt: "one" })
      yield* before.end
      const between = yield* world.open()
      yield* between.close({ id: child.id })
      expect(world.received().slice(-3)).toEqual([attach, "session/close", "session/delete"])
      expect(world.alive()).toEqual([])
      yield* between.end
      const parent = yield* world.open()
      expect(yield* parent.subagents({})).toEqual([])
      expect((yield* failure(parent.prompt({ subagent: child, prompt: "x" }))).code).toBe("SUBAGENT_RETIRED")
    }),
  )

  it.live("S106 cannot be closed while it reconnects, keeps its handle, and can be closed after a cancelled reconnect", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood } } })
      const before = yield* world.open()
      const child = yield* before.subagent({ prompt: "one" })
      yield* before.end
      const slow = { ...mood, on: { [attach]: { before: [{ touch: world.file("in") }, { gate: world.file("gate") }] } } }
      const parent = yield* world.open({ harnesses: { review: { mood: slow } } })
      const reconnect = yield* Effect.forkChild(parent.prompt({ subagent: child, prompt: "two" }))
      yield* appears(world.file("in"))
      expect(yield* parent.subagents({})).toMatchObject([{ id: child.id, status: "starting" }])
      expect(yield* failure(parent.close(child))).toMatchObject({
        code: "CLOSE_FAILED",
        message: "subagent reconnect is still starting; retry close after startup finishes",
      })
      yield* Fiber.interrupt(reconnect)
      expect(world.alive()).toEqual([])
      expect(yield* parent.subagents({})).toMatchObject([{ id: child.id, status: "idle", generation: 1 }])
      expect(yield* parent.session.children).toMatchObject([{ lifecycle: "Idle" }])
      yield* touch(world.file("gate"))
      yield* parent.close(child)
      expect(yield* parent.session.children).toMatchObject([{ lifecycle: "Closed" }])
    }),
  )
})

describe("after a restart", () => {
  it.live("S18 refuses an old value of a restored handle without starting anything", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const before = yield* world.open()
      const first = yield* before.subagent({ prompt: "one" })
      yield* before.prompt({ subagent: first, prompt: "two" })
      yield* before.end
      const starts = world.events().length
      const parent = yield* world.open()
      expect((yield* failure(parent.prompt({ subagent: first, prompt: "x" }))).code).toBe("STALE_GENERATION")
      expect((yield* failure(parent.fork({ subagent: first, prompt: "x" }))).code).toBe("STALE_GENERATION")
      expect(world.events()).toHaveLength(starts)
    }),
  )

  it.live("S103 knows a child that was in a turn as retired, and keeps its last output readable", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const before = yield* world.open()
      const child = yield* before.subagent({ prompt: "one" })
      yield* Effect.forkChild(
        Effect.exit(before.prompt({ subagent: child, prompt: script({ touch: world.file("in") }, { awaitCancel: true }) })),
      )
      yield* appears(world.file("in"))
      yield* before.end
      const parent = yield* world.open()
      expect(yield* parent.subagents({})).toEqual([])
      const reuse = yield* failure(parent.prompt({ subagent: child, prompt: "x" }))
      expect(reuse).toMatchObject({ code: "SUBAGENT_RETIRED", message: "subagent session is retired" })
      const loaded = yield* parent.session.subagents.load(child.id)
      expect(loaded.meta.status).toBe("interrupted")
      expect(loaded.context).toMatchObject({ last_output: "echo: one" })
      expect(world.received().filter((method) => method === "session/prompt")).toHaveLength(2)
    }),
  )

  it.live("S104 never counts a replay as output, and the first prompt waits for its end", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const before = yield* world.open()
      const child = yield* before.subagent({ prompt: script({ say: "first answer" }) })
      yield* before.end
      const parent = yield* world.open()
      const second = yield* parent.prompt({ subagent: child, prompt: "two" })
      expect(second).toEqual({ id: child.id, name: child.name, output: "echo: two", generation: 2 })
      const order = world.received()
      expect(order.slice(order.indexOf("session/resume"))).toEqual(["session/resume", "session/prompt"])
    }),
  )

  it.live("S105 S108 keeps a handle whose harness is gone until it is closed, which says what was left behind", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const before = yield* world.open()
      const child = yield* before.subagent({ prompt: "one" })
      yield* before.end
      const parent = yield* world.open({ harnesses: { other: {} } })
      expect(yield* failure(parent.prompt({ subagent: child, prompt: "two" }))).toMatchObject({
        code: "RECONNECT_FAILED",
        message: expect.stringContaining('durable child harness "acp.review" is no longer configured'),
      })
      expect(yield* parent.subagents({})).toMatchObject([{ id: child.id, status: "idle" }])
      const [record] = yield* parent.session.children
      const error = yield* failure(parent.close(child))
      expect(error.code).toBe("CLOSE_FAILED")
      expect(error.message).toContain(`session ${JSON.stringify(record?.acp_session_id)} of acp.review was left behind`)
      expect(yield* parent.subagents({})).toEqual([])
      expect(yield* parent.session.children).toMatchObject([{ id: child.id, lifecycle: "Closed" }])
    }),
  )

  it.live("S104 S105 is refused by a v1 harness that cannot load", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood: { versions: [1], capabilities: { load: false } } } } })
      const before = yield* world.open()
      const child = yield* before.subagent({ prompt: "one" })
      yield* before.end
      const parent = yield* world.open()
      const error = yield* failure(parent.prompt({ subagent: child, prompt: "two" }))
      expect(error.code).toBe("RECONNECT_FAILED")
      expect(error.message).toContain("does not advertise session/load for restart recovery")
      expect(world.received().filter((method) => method === "session/new")).toHaveLength(1)
    }),
  )

  it.live("S126 checks the model again by the policy of now, before anything starts", () =>
    Effect.gen(function* () {
      const options = [
        {
          id: "model",
          category: "model",
          currentValue: "a",
          options: [
            { value: "a", name: "A" },
            { value: "b", name: "B" },
          ],
        },
      ]
      const world = yield* World.make({ harnesses: { review: { mood: { options } } } })
      const before = yield* world.open()
      const child = yield* before.subagent({ prompt: "one", model: "b" })
      yield* before.end
      const starts = world.events().length
      const parent = yield* world.open({ harnesses: { review: { mood: { options }, policy: { allowed: ["a"] } } } })
      const error = yield* failure(parent.prompt({ subagent: child, prompt: "two" }))
      expect(error).toMatchObject({ code: "RECONNECT_FAILED", details: { cause: "MODEL_REJECTED" } })
      expect(world.events()).toHaveLength(starts)
    }),
  )

  it.live("S101 S161 takes a place only when it is connected again", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ limits: { liveChildren: 1 } })
      const before = yield* world.open()
      const child = yield* before.subagent({ prompt: "one" })
      yield* before.end
      const parent = yield* world.open()
      const other = yield* parent.subagent({ prompt: "x" })
      expect(yield* failure(parent.prompt({ subagent: child, prompt: "two" }))).toMatchObject({ code: "CAPACITY" })
      yield* parent.close(other)
      expect((yield* parent.prompt({ subagent: child, prompt: "two" })).generation).toBe(2)
    }),
  )

  it.live("S101 forks a restored child natively", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const before = yield* world.open()
      const child = yield* before.subagent({ prompt: "one" })
      yield* before.end
      const parent = yield* world.open()
      const branch = yield* parent.fork({ subagent: child, prompt: script({ recall: true }) })
      expect(branch).toMatchObject({ output: '["one"]', generation: 2 })
      yield* parent.end
      const last = yield* world.open()
      expect(yield* last.subagents({})).toMatchObject([
        { id: child.id, generation: 1 },
        { id: branch.id, generation: 2 },
      ])
      expect((yield* last.prompt({ subagent: branch, prompt: script({ recall: true }) })).generation).toBe(3)
    }),
  )
})

describe("a runner", () => {
  it.live("K09 K14 continues an agent by its id over restarts, with prompt and context restored", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const before = yield* world.open()
      const child = yield* before.subagent({ prompt: "one" })
      yield* before.end
      for (const round of [2, 3]) {
        const parent = yield* world.open()
        const runner = yield* Effect.orDie(SubagentRunner.load(parent.session, parent, child.id))
        expect(runner.agent.context).toMatchObject({ generation: round - 1 })
        expect(yield* runner.run(script({ recall: true }))).toMatchObject({ id: child.id, name: child.name, generation: round })
        yield* parent.end
      }
      const last = yield* world.open()
      const runner = yield* Effect.orDie(SubagentRunner.load(last.session, last, child.id))
      expect((yield* runner.run(script({ recall: true }))).output).toMatch(/^\["one"/)
      expect((yield* runner.run("again")).generation).toBe(5)
      expect(world.received().filter((method) => method === "session/new")).toHaveLength(1)
    }),
  )

  it.live("K07 K09 begins an agent whose parent died right after its launch", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const before = yield* world.open()
      const meta = yield* Effect.orDie(
        before.session.subagents.create(makeSpec({ name: "subagent", harness: "acp.review", cwd: world.root }), "Be brief."),
      )
      yield* before.end
      const parent = yield* world.open()
      expect(yield* parent.subagents({})).toEqual([])
      const runner = yield* Effect.orDie(SubagentRunner.load(parent.session, parent, meta.agent_id))
      const value = yield* runner.run("hello")
      expect(value).toMatchObject({ id: meta.agent_id, output: "echo: Be brief.\nhello", generation: 1 })
      expect(yield* parent.subagents({})).toMatchObject([{ id: meta.agent_id, generation: 1 }])
      yield* parent.end
      const last = yield* world.open()
      expect((yield* last.prompt({ subagent: value, prompt: "more" })).generation).toBe(2)
    }),
  )

  it.live("K10 K16 refuses an unknown agent, and one that was closed", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "one" })
      const runner = yield* Effect.orDie(SubagentRunner.load(parent.session, parent, child.id))
      yield* parent.close(child)
      expect((yield* failure(runner.run("x"))).code).toBe("SUBAGENT_RETIRED")
      const again = yield* Effect.orDie(SubagentRunner.load(parent.session, parent, child.id))
      expect(again.agent.meta.status).toBe("closed")
      const unknown = yield* Effect.flip(SubagentRunner.load(parent.session, parent, "s-0199aaaa-0000-7000-8000-000000000000"))
      expect(unknown.code).toBe("NOT_FOUND")
      expect((yield* failure(parent.resume({ id: "s-x", prompt: "x" }))).code).toBe("UNKNOWN_SUBAGENT")
    }),
  )
})
