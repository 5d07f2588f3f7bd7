import { SdkAgents } from "@acp-kit/testing/SdkAgents"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { World } from "./support/World.ts"

const agents = [
  ["the official SDK, v1", SdkAgents.v1],
  ["the official SDK, v2", SdkAgents.v2],
  ["the official SDK's router", SdkAgents.router],
] as const

describe("an agent that nobody here wrote", () => {
  it.live.each(agents)(
    "S10 S11 S13 S110 starts, goes on and ends: %s",
    ([, launch]) =>
      Effect.gen(function* () {
        const world = yield* World.make({ harnesses: { peer: { command: launch.command, args: launch.args } } })
        const parent = yield* world.open()
        const first = yield* parent.subagent({ prompt: "hello" })
        expect(first).toMatchObject({ generation: 1, output: expect.stringContaining("hello") })
        const second = yield* parent.prompt({ subagent: first, prompt: "again" })
        expect(second).toMatchObject({ id: first.id, generation: 2, output: expect.stringContaining("again") })
        yield* parent.close(second)
        expect(yield* parent.subagents({})).toEqual([])
      }),
    30_000,
  )

  it.live(
    "S10 S13 S140 works with the example agent of an old SDK, permissions included",
    () =>
      Effect.gen(function* () {
        const { command, args } = SdkAgents.example
        const world = yield* World.make({ harnesses: { peer: { command, args } } })
        const parent = yield* world.open()
        const value = yield* parent.subagent({ prompt: "hello" })
        expect(value).toMatchObject({ generation: 1, output: expect.stringMatching(/\S/) })
        expect(value.updates).toMatchObject({ truncated: false })
        yield* parent.close(value)
      }),
    60_000,
  )
})
