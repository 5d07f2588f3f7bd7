import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { failure, script, World } from "./support/World.ts"

const id = /^s-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe.each([1, 2] as const)("a child that speaks v%i", (version) => {
  const review = { harnesses: { review: { mood: { versions: [version] } } } }

  it.live("S10 S11 S18 starts, continues and refuses an old value, in one session", () =>
    Effect.gen(function* () {
      const world = yield* World.make(review)
      const parent = yield* world.open()
      const first = yield* parent.subagent({ prompt: "hello", name: "Reviewer" })
      expect(first).toEqual({ id: expect.stringMatching(id), name: "Reviewer", output: "echo: hello", generation: 1 })
      const second = yield* parent.prompt({ subagent: first, prompt: "again" })
      expect(second).toEqual({ ...first, output: "echo: again", generation: 2 })
      const stale = yield* failure(parent.prompt({ subagent: first, prompt: "old" }))
      expect(stale).toMatchObject({ code: "STALE_GENERATION", message: "stale subagent generation 1; current generation is 2" })
      expect(world.received()).toEqual(["initialize", "session/new", "session/prompt", "session/prompt"])
      const third = yield* parent.prompt({ subagent: { id: first.id, generation: 2 }, prompt: script({ recall: true }) })
      expect(third.output).toBe('["hello","again"]')
    }),
  )
})
