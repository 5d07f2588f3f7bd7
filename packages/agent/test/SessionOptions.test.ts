import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ScriptedProvider } from "../src/ScriptedProvider.ts"
import { SessionOptions } from "../src/SessionOptions.ts"

const provider = ScriptedProvider.make()
const start = { model: "scripted", effort: "default" } as const
const set = (id: string, value: unknown) => SessionOptions.set(provider, start, id, value)

describe("session options", () => {
  it("offers the model and Default, Low, Medium, High", () => {
    const [model, effort] = SessionOptions.list(provider, start)
    expect(model).toMatchObject({ id: "model", category: "model", current: "scripted" })
    expect(effort).toMatchObject({ id: "reasoning_effort", category: "thought_level", current: "default" })
    expect(effort?.choices.map(({ name }) => name)).toEqual(["Default", "Low", "Medium", "High"])
  })

  it.effect("changes one option and leaves the other", () =>
    Effect.gen(function* () {
      expect(yield* set("reasoning_effort", "high")).toEqual({ model: "scripted", effort: "high" })
      expect(yield* set("model", "scripted")).toEqual(start)
    }),
  )

  it.effect("refuses an unknown option, another kind of value, and an unknown value, naming the valid ones", () =>
    Effect.gen(function* () {
      const message = (id: string, value: unknown) => Effect.map(Effect.flip(set(id, value)), (error) => error.message)
      expect(yield* message("colour", "red")).toContain("unknown session configuration option")
      expect(yield* message("model", true)).toBe("selection requires an id value")
      expect(yield* message("model", "gpt-9")).toBe("model is not in the advertised catalog; valid values: scripted")
      expect(yield* message("reasoning_effort", "extreme")).toContain("valid values: default, low, medium, high")
    }),
  )
})
