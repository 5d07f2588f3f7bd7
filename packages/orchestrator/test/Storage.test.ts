import { SubagentTools } from "@acp-kit/orchestrator/SubagentTools"
import { Disk, type DiskError } from "@acp-kit/store/Disk"
import { DiskNode } from "@acp-kit/store/DiskNode"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { failure, script, World, watch } from "./support/World.ts"

/** A disk that takes nothing more while `full` says so, and of what names `only` where that is set. */
const disk = (state: { full: boolean; only?: string; code?: string }) =>
  Layer.effect(
    Disk.Service,
    Effect.gen(function* () {
      const real = yield* Disk.Service
      const refuse = (path: string): Effect.Effect<never, DiskError> =>
        Effect.fail(new Disk.DiskError({ call: "write", path, code: state.code ?? "EDQUOT" }))
      const refuses = (path: string) => state.full && path.includes(state.only ?? "")
      return {
        ...real,
        write: (file, bytes) => (refuses(file.path) ? refuse(file.path) : real.write(file, bytes)),
        openExclusive: (path) => (refuses(path) ? refuse(path) : real.openExclusive(path)),
      }
    }),
  ).pipe(Layer.provide(DiskNode.layer))

describe("where storage is unavailable", () => {
  it.live("S102 blocks prompts, closes and starts before anything is sent, and leaves the handle as it was", () =>
    Effect.gen(function* () {
      const state = { full: false }
      const world = yield* World.make({ disk: disk(state) })
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      const received = world.received()
      state.full = true
      const prompted = yield* failure(parent.prompt({ subagent: child, prompt: "x" }))
      expect(prompted).toMatchObject({ code: "STORAGE", retryable: true })
      expect(prompted.message).toMatch(/^child checkpoint could not be persisted: /)
      expect((yield* failure(parent.close(child))).code).toBe("STORAGE")
      expect((yield* failure(parent.subagent({ prompt: "y" }))).code).toBe("STORAGE")
      expect(world.received()).toEqual(received)
      expect(yield* parent.subagents({})).toMatchObject([{ id: child.id, status: "idle", generation: 1, task: "hi" }])
      expect(world.alive()).toHaveLength(1)
      state.full = false
      expect(yield* parent.prompt({ subagent: child, prompt: "z" })).toMatchObject({ output: "echo: z", generation: 2 })
      yield* parent.close(child)
      expect(world.alive()).toEqual([])
    }),
  )

  it.live("S102 tells of a full disk in the failure only: the list is brief, and no log line says it again", () =>
    Effect.gen(function* () {
      const state: { full: boolean; only?: string; code?: string } = { full: false }
      const world = yield* World.make({ disk: disk(state) })
      const parent = yield* world.open()
      const roster = yield* watch(parent)
      state.full = true
      const error = yield* failure(parent.subagent({ prompt: "hi" }))
      expect(error.message).toMatch(/^child checkpoint could not be persisted: no space left to write /)
      yield* roster.until((event) => event.type === "removed")
      expect(roster.seen.filter(({ type }) => type !== "changed")).toMatchObject([
        { type: "removed", reason: "failed", message: "child checkpoint could not be persisted" },
      ])
      state.full = false
      const child = yield* parent.subagent({ prompt: "hi" })
      state.only = "meta.json"
      state.full = true
      yield* parent.prompt({ subagent: child, prompt: "again" })
      state.code = "EIO"
      yield* parent.prompt({ subagent: { ...child, generation: 2 }, prompt: "again" })
      yield* roster.until((event) => event.type === "changed" && event.row.generation === 3)
      const logs = roster.seen.filter((event) => event.type === "log")
      expect(logs.length).toBeGreaterThan(0)
      for (const { line } of logs) expect(line).toContain("EIO")
    }),
  )

  it.live("S163 lists a failed child without the words that its failure quotes", () =>
    Effect.gen(function* () {
      const words = "no space is left for this child"
      const world = yield* World.make({
        harnesses: {
          review: { mood: {} },
          full: { mood: { on: { "session/new": { error: { code: -32602, message: words } } } } },
        },
      })
      const parent = yield* world.open()
      const roster = yield* watch(parent)
      const start = yield* failure(parent.subagent({ prompt: "hi", harness: "acp.full" }))
      expect(start.message).toContain(`the child answered session/new with error -32602: ${words} (harness=`)
      const turn = yield* failure(
        parent.subagent({ prompt: script({ fail: { code: -32603, message: words } }), harness: "acp.review" }),
      )
      expect(turn.message).toBe(`nested agent turn failed: ${words}`)
      yield* roster.until(() => roster.seen.filter(({ type }) => type === "removed").length === 2)
      expect(roster.seen.filter(({ type }) => type === "removed")).toMatchObject([
        { message: "ACP harness protocol handshake failure: the child answered session/new with error -32602" },
        { message: "nested agent turn failed" },
      ])
      const reasons = (yield* parent.session.subagents.list()).map(({ meta }) => meta?.status_reason)
      expect(reasons.sort()).toEqual([start.message, turn.message].sort())
    }),
  )

  it.live("K15 keeps the store within reach of the session that runs", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      expect(SubagentTools.make(parent).map((tool) => tool.name)).toContain("subagent")
      const child = yield* parent.subagent({ prompt: "hi" })
      expect(yield* parent.session.subagents.list()).toMatchObject([{ id: child.id }])
    }),
  )
})
