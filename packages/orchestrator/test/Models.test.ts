import type { ConfigOption, Mood } from "@acp-kit/testing/Mood"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { failure, type HarnessSpec, isObject, World } from "./support/World.ts"

const choices = (...values: ReadonlyArray<string>) => values.map((value) => ({ value, name: value.toUpperCase() }))
const model = (currentValue = "a", more: Partial<ConfigOption> = {}): ConfigOption => ({
  id: "model",
  category: "model",
  currentValue,
  options: choices("a", "b", "vendor/c"),
  ...more,
})
const effort = (currentValue = "low"): ConfigOption => ({
  id: "reasoning_effort",
  category: "thought_level",
  currentValue,
  options: choices("low", "high"),
})
const compact: ConfigOption = { id: "auto_compact", type: "boolean", currentValue: false }

const sets = (world: World.World, harness?: string) =>
  world
    .frames(harness)
    .filter((frame) => frame.dir === "in" && frame.message.method === "session/set_config_option")
    .map(({ message }) => (isObject(message.params) ? [message.params.configId, message.params.value] : []))

const open = Effect.fnUntraced(function* (mood: Mood, policy: HarnessSpec["policy"] = {}) {
  const world = yield* World.make({ harnesses: { review: { mood, policy } } })
  return { world, parent: yield* world.open() }
})

describe.each([1, 2] as const)("the model of a child that speaks v%i", (version) => {
  const versions = [version]

  it.live("S22 S126 is selected before the first prompt, by id or alias", () =>
    Effect.gen(function* () {
      const { world, parent } = yield* open({ versions, options: [model()] }, { aliases: new Map([["designer", "vendor/c"]]) })
      yield* parent.subagent({ prompt: "x", model: "b" })
      yield* parent.subagent({ prompt: "x", model: "designer" })
      yield* parent.subagent({ prompt: "x" })
      expect(sets(world)).toEqual([
        ["model", "b"],
        ["model", "vendor/c"],
      ])
      expect(world.received().slice(0, 4)).toEqual(["initialize", "session/new", "session/set_config_option", "session/prompt"])
    }),
  )

  it.live("S22 is the only option of category model where none has that id", () =>
    Effect.gen(function* () {
      const { world, parent } = yield* open({ versions, options: [model("a", { id: "llm" }), effort()] })
      yield* parent.subagent({ prompt: "x", model: "b" })
      expect(sets(world)).toEqual([["llm", "b"]])
    }),
  )

  it.live("S22 fails before the first prompt where there is no such option, or the child rejects the value", () =>
    Effect.gen(function* () {
      const none = yield* open({ versions, options: [effort()] })
      expect(yield* failure(none.parent.subagent({ prompt: "x", model: "b" }))).toMatchObject({
        code: "MODEL_REJECTED",
        message: 'ACP harness "acp.review" does not advertise a selectable model session option',
      })
      const two = yield* open({ versions, options: [model("a", { id: "m1" }), model("a", { id: "m2" })] })
      expect((yield* failure(two.parent.subagent({ prompt: "x", model: "b" }))).code).toBe("MODEL_REJECTED")
      const rejects = yield* open({
        versions,
        options: [model()],
        on: { "session/set_config_option": { error: { code: -32602, message: "no such model" } } },
      })
      const error = yield* failure(rejects.parent.subagent({ prompt: "x", model: "bb" }))
      expect(error.code).toBe("MODEL_REJECTED")
      expect(error.message).toMatch(/^ACP harness "acp\.review" rejected model selection "bb": no such model/)
      for (const { world } of [none, two, rejects]) {
        expect(world.received()).not.toContain("session/prompt")
        expect(world.alive()).toEqual([])
      }
    }),
  )

  it.live("S124 S125 sets model first, then options in key order, by id or category, each against the last list", () =>
    Effect.gen(function* () {
      const { world, parent } = yield* open(
        {
          versions,
          options: [model(), effort()],
          optionEffects: [{ id: "model", value: "b", options: [model("b"), effort(), compact] }],
        },
        {
          options: [
            ["auto_compact", true],
            ["thought_level", "high"],
          ],
        },
      )
      yield* parent.subagent({ prompt: "x", model: "b" })
      expect(sets(world)).toEqual([
        ["model", "b"],
        ["auto_compact", true],
        ["reasoning_effort", "high"],
      ])
    }),
  )

  it.live.each([
    ["missing", [["mode", "code"]], 'ACP harness does not advertise an unambiguous config option "mode"'],
    ["incompatible", [["auto_compact", "yes"]], 'ACP config option "auto_compact" has an incompatible value type'],
    ["of another kind", [["reasoning_effort", true]], 'ACP config option "reasoning_effort" has an incompatible value type'],
    ["the model by category", [["chat", "b"]], "use the subagent model override instead of a model config option"],
  ] as const)("S124 fails the start where an option is %s", ([, options, message]) =>
    Effect.gen(function* () {
      const { world, parent } = yield* open({ versions, options: [model("a", { id: "chat" }), effort(), compact] }, { options })
      expect(yield* failure(parent.subagent({ prompt: "x" }))).toMatchObject({ code: "OPTION_REJECTED", message })
      expect(world.received()).not.toContain("session/prompt")
    }),
  )

  it.live("S125 leaves a fork as its source is, and selects only the source's explicit model again", () =>
    Effect.gen(function* () {
      const { world, parent } = yield* open({ versions, options: [model(), effort()] }, { options: [["thought_level", "high"]] })
      const source = yield* parent.subagent({ prompt: "x", model: "b" })
      const plain = yield* parent.subagent({ prompt: "x" })
      const before = sets(world).length
      yield* parent.fork({ subagent: source, prompt: "y" })
      yield* parent.fork({ subagent: plain, prompt: "y" })
      expect(sets(world).slice(before)).toEqual([["model", "b"]])
    }),
  )

  it.live("S125 S162 gives a fork up whose model selection is never answered; the source goes on", () =>
    Effect.gen(function* () {
      const on: Mood["on"] = { "session/set_config_option": { call: 2, silent: true } }
      const world = yield* World.make({
        harnesses: { review: { mood: { versions, options: [model()], on } } },
        limits: { forkMs: 300 },
      })
      const parent = yield* world.open()
      const source = yield* parent.subagent({ prompt: "x", model: "b" })
      expect(yield* failure(parent.fork({ subagent: source, prompt: "y" }))).toMatchObject({
        code: "FORK_TIMEOUT",
        message: "ACP harness did not answer session/set_config_option within 0.3 seconds",
      })
      expect(yield* parent.subagents({})).toMatchObject([{ id: source.id }])
      expect((yield* parent.prompt({ subagent: source, prompt: "on" })).output).toBe("echo: on")
    }),
  )
})

describe("the policy of models", () => {
  it.live("S126 allows by list, none by an empty one, and never restricts the default", () =>
    Effect.gen(function* () {
      const some = yield* open({ options: [model()] }, { aliases: new Map([["fast", "a"]]), allowed: ["a"] })
      const error = yield* failure(some.parent.subagent({ prompt: "x", model: "b" }))
      expect(error).toMatchObject({
        code: "MODEL_REJECTED",
        message: expect.stringContaining('model override "b" resolves to "b", which is not allowed for ACP harness "acp.review"'),
      })
      expect(some.world.events()).toEqual([])
      yield* some.parent.subagent({ prompt: "x", model: "fast" })
      const none = yield* open({ options: [model()] }, { allowed: [] })
      expect((yield* failure(none.parent.subagent({ prompt: "x", model: "a" }))).code).toBe("MODEL_REJECTED")
      expect((yield* none.parent.subagent({ prompt: "x" })).output).toBe("echo: x")
      expect(sets(none.world)).toEqual([])
    }),
  )

  it.live("S70 S74 reports the snapshot only when it changed, and then the whole latest one", () =>
    Effect.gen(function* () {
      const { parent } = yield* open({ options: [model(), effort()] })
      const script = (...steps: ReadonlyArray<unknown>) => JSON.stringify({ script: steps })
      const first = yield* parent.subagent({ prompt: "x", model: "b" })
      expect(first.updates).toBeUndefined()
      const second = yield* parent.prompt({ subagent: first, prompt: script({ options: [model("a")] }, { say: "changed" }) })
      expect(second.updates).toMatchObject({
        items: [{ sessionUpdate: "config_option_update", configOptions: [{ currentValue: "a" }] }],
        truncated: false,
      })
      const third = yield* parent.prompt({ subagent: second, prompt: "same" })
      expect(third.updates).toBeUndefined()
    }),
  )
})
