import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { appears, failure, script, touch, World, watch } from "./support/World.ts"

const gone = { code: "SUBAGENT_RETIRED" }

describe("what other programs of this kind got wrong", () => {
  it.live(
    "S108 S161 the close of a restored child that its caller gave up frees the place at once and still deletes the history",
    () =>
      Effect.gen(function* () {
        const world = yield* World.make({ limits: { liveChildren: 1 } })
        const before = yield* world.open()
        const child = yield* before.subagent({ prompt: "one" })
        yield* before.end
        const slow = {
          before: [{ touch: world.file("in") }, { gate: world.file("gate") }],
          after: [{ touch: world.file("out") }],
        }
        const parent = yield* world.open({ harnesses: { review: { mood: { on: { "session/delete": slow } } } } })
        const closing = yield* Effect.forkChild(parent.close({ id: child.id }))
        yield* appears(world.file("in"))
        yield* Fiber.interrupt(closing)
        expect((yield* parent.subagent({ prompt: "x" })).output).toBe("echo: x")
        yield* touch(world.file("gate"))
        yield* appears(world.file("out"))
        expect(world.received().filter((method) => method === "session/delete")).toHaveLength(1)
      }),
  )

  it.live("S19 S151 a caller that gives up does not open the gate of a turn that has not settled", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      const stuck = script({ touch: world.file("in") }, { deafly: [{ gate: world.file("gate") }] })
      const turn = yield* Effect.forkChild(parent.prompt({ subagent: child, prompt: stuck }))
      yield* appears(world.file("in"))
      const next = yield* Effect.forkChild(failure(parent.prompt({ subagent: child, prompt: "next" })))
      const branch = yield* Effect.forkChild(failure(parent.fork({ subagent: child, prompt: "branch" })))
      const dropped = yield* Effect.forkChild(Fiber.interrupt(turn), { startImmediately: true })
      yield* touch(world.file("gate"))
      yield* Fiber.join(dropped)
      expect(yield* Fiber.join(next)).toMatchObject(gone)
      expect(yield* Fiber.join(branch)).toMatchObject(gone)
      expect(world.received().filter((method) => method === "session/prompt" || method === "session/fork")).toHaveLength(2)
    }),
  )

  it.live("S13 S152 a close does not wait behind a prompt that waits behind a fork that is never answered", () =>
    Effect.gen(function* () {
      const world = yield* World.make({
        harnesses: { review: { mood: { on: { "session/fork": { silent: true } }, deaf: ["cancel_request"] } } },
        limits: { forkMs: 100 },
      })
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      const roster = yield* watch(parent)
      expect(yield* failure(parent.fork({ subagent: child, prompt: "x" }))).toMatchObject({ code: "FORK_TIMEOUT" })
      const waiting = yield* Effect.forkChild(failure(parent.prompt({ subagent: child, prompt: "waits" })))
      yield* roster.until((event) => "row" in event && event.row.task === "waits")
      expect(yield* parent.close({ id: child.id })).toEqual({ id: child.id })
      expect(yield* Fiber.join(waiting)).toMatchObject(gone)
      expect(world.received().slice(-2)).toEqual(["session/close", "session/delete"])
      expect(world.received().filter((method) => method === "session/prompt")).toHaveLength(1)
      expect(world.alive()).toEqual([])
    }),
  )

  it.live("S13 S108 S154 a child whose process died between turns can be closed, and does not come back", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const before = yield* world.open()
      const child = yield* before.subagent({ prompt: "hi" })
      const roster = yield* watch(before)
      process.kill(world.alive()[0]!, "SIGKILL")
      yield* roster.until((event) => event.type === "removed" && event.id === child.id)
      expect(yield* failure(before.prompt({ subagent: child, prompt: "x" }))).toMatchObject({ code: "LOST" })
      const closes = yield* Effect.all([Effect.exit(before.close(child)), Effect.exit(before.close(child))], { concurrency: 2 })
      expect(closes.filter((exit) => exit._tag === "Success")).toHaveLength(1)
      expect(world.received().slice(-2)).toEqual(["session/close", "session/delete"])
      expect(world.alive()).toEqual([])
      yield* before.end
      const parent = yield* world.open()
      expect(yield* parent.subagents({})).toEqual([])
      expect(yield* failure(parent.prompt({ subagent: child, prompt: "x" }))).toMatchObject(gone)
    }),
  )

  it.live("S50 a child that is closed while it starts is never shown idle", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open({
        harnesses: { review: { mood: { on: { "session/new": { before: [{ touch: world.file("in") }], silent: true } } } } },
      })
      const roster = yield* watch(parent)
      const start = yield* Effect.forkChild(failure(parent.subagent({ prompt: "hi" })))
      yield* appears(world.file("in"))
      const [row] = yield* parent.roster
      yield* parent.close({ id: row!.id })
      expect(yield* Fiber.join(start)).toMatchObject(gone)
      yield* roster.until((event) => event.type === "removed" && event.id === row!.id)
      const shown = roster.seen.flatMap((event) => ("row" in event && event.row.id === row!.id ? event.row.status : []))
      expect(shown).toContain("starting")
      expect(shown).not.toContain("idle")
    }),
  )

  it.live.each([
    ["an error of", { error: { code: -32603, message: "no" } }],
    ["no answer to", { silent: true }],
  ] as const)("S14 S17 S152 %s a branch's close or delete leaves its source promptable", ([, behaviour]) =>
    Effect.gen(function* () {
      for (const method of ["session/close", "session/delete"] as const) {
        const world = yield* World.make({
          harnesses: { review: { mood: { on: { [method]: { ...behaviour, call: 1 } } } } },
          limits: { closeMs: 150, deleteMs: 150 },
        })
        const parent = yield* world.open()
        const source = yield* parent.subagent({ prompt: "one" })
        const branch = yield* parent.fork({ subagent: source, prompt: "two" })
        yield* failure(parent.close({ id: branch.id }))
        expect(yield* parent.prompt({ subagent: source, prompt: "three" })).toMatchObject({ output: "echo: three" })
        expect(yield* parent.close({ id: source.id })).toEqual({ id: source.id })
        expect(world.alive()).toEqual([])
      }
    }),
  )

  it.live("S163 sixty-four starts of a program that is missing fail alike, and tell no path of ours", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open({ harnesses: { review: { command: "kit-no-such-program", args: [] } } })
      const starts = Array.from({ length: 64 }, (_, number) => failure(parent.subagent({ prompt: "hi", name: `N ${number}` })))
      const errors = yield* Effect.all(starts, { concurrency: "unbounded" })
      expect(new Set(errors.map((error) => error.code))).toEqual(new Set(["SPAWN"]))
      for (const error of errors) expect(error.message).not.toContain(world.home)
      expect(yield* parent.subagents({})).toEqual([])
    }),
  )
})
