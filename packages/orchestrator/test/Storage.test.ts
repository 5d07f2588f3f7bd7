import { SubagentTools } from "@acp-kit/orchestrator/SubagentTools"
import { Disk, type DiskError } from "@acp-kit/store/Disk"
import { DiskNode } from "@acp-kit/store/DiskNode"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { failure, World } from "./support/World.ts"

/** A disk that takes nothing more while `full` says so. */
const disk = (state: { full: boolean }) =>
  Layer.effect(
    Disk.Service,
    Effect.gen(function* () {
      const real = yield* Disk.Service
      const refuse = (path: string): Effect.Effect<never, DiskError> =>
        Effect.fail(new Disk.DiskError({ call: "write", path, code: "EDQUOT" }))
      return {
        ...real,
        write: (file, bytes) => (state.full ? refuse(file.path) : real.write(file, bytes)),
        openExclusive: (path) => (state.full ? refuse(path) : real.openExclusive(path)),
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
