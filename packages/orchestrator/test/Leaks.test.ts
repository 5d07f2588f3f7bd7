import { rounds } from "@acp-kit/testing/Rounds"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import { script, World } from "./support/World.ts"

const count = rounds({ quick: 20, ci: 200, long: 1_000 })

describe("interrupted at any time", () => {
  it.live(
    "S43 S151 S161 leaves no process, name or place behind, and what it left of others works",
    () =>
      Effect.gen(function* () {
        const world = yield* World.make({ harnesses: { review: {} }, limits: { liveChildren: 8, cancelMs: 1_000 } })
        const parent = yield* world.open()
        const keeper = yield* parent.subagent({ prompt: "hi", name: "Keeper" })
        const branch = yield* parent.fork({ subagent: keeper, prompt: "hi", name: "Branch" })
        const [keeperPid] = world.alive()
        const slow = script({ wait: 20 }, { say: "x" })
        const source = { id: keeper.id, generation: 1 }
        const verbs = [
          () => parent.subagent({ prompt: slow, name: "Reviewer" }),
          () => parent.subagent({ prompt: slow, name: "Reviewer" }),
          () => parent.fork({ subagent: source, prompt: slow, name: "Reviewer" }),
          () =>
            Effect.flatMap(parent.subagent({ prompt: "x" }), (child) =>
              Effect.andThen(
                parent.prompt({ subagent: child, prompt: slow }),
                Effect.uninterruptible(parent.close({ id: child.id })),
              ),
            ),
          () => Effect.flatMap(parent.subagent({ prompt: "x" }), (child) => Effect.uninterruptible(parent.close(child))),
        ]
        for (let round = 0; round < count; round++) {
          const verb = verbs[yield* Random.nextIntBetween(0, verbs.length, { halfOpen: true })]!
          const delay = yield* Random.nextIntBetween(0, 140)
          const fiber = yield* Effect.forkChild(Effect.exit(verb()), { startImmediately: true })
          yield* Effect.timeoutOption(Fiber.await(fiber), delay)
          yield* Fiber.interrupt(fiber)
          const left = (yield* parent.roster).filter((row) => row.id !== keeper.id && row.id !== branch.id)
          for (const row of left) {
            expect(row.status).toBe("idle")
            yield* parent.close({ id: row.id })
          }
          expect((yield* parent.subagents({})).length).toBe(2)
          expect(world.alive()).toEqual([keeperPid])
        }
        const reviewer = yield* parent.subagent({ prompt: "x", name: "Reviewer" })
        expect(reviewer.name).toBe("Reviewer")
        expect(yield* parent.prompt({ subagent: source, prompt: "on" })).toMatchObject({ output: "echo: on", generation: 2 })
        expect(yield* parent.prompt({ subagent: branch, prompt: "on" })).toMatchObject({ output: "echo: on", generation: 3 })
        yield* parent.end
        expect(world.alive()).toEqual([])
      }),
    600_000,
  )

  it.live("S151 leaves nothing where the parent ends while children start, work and close", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ limits: { cancelMs: 1_000 } })
      for (let round = 0; round < 6; round++) {
        const parent = yield* world.open()
        for (let child = 0; child < 4; child++) {
          yield* Effect.forkChild(
            Effect.exit(
              Effect.flatMap(parent.subagent({ prompt: script({ wait: 10 }, { say: "x" }) }), (first) =>
                Effect.andThen(parent.prompt({ subagent: first, prompt: "y" }), parent.close(first)),
              ),
            ),
            { startImmediately: true },
          )
        }
        yield* Effect.sleep(yield* Random.nextIntBetween(0, 250))
        yield* parent.end
        expect(world.alive()).toEqual([])
      }
    }),
  )
})
