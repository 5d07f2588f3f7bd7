import * as Fs from "node:fs"
import { Compose } from "@acp-kit/orchestrator/Compose"
import { Config } from "@acp-kit/orchestrator/Config"
import { Harness } from "@acp-kit/orchestrator/Harness"
import { SubagentTools } from "@acp-kit/orchestrator/SubagentTools"
import type { ConfigOption, Mood } from "@acp-kit/testing/Mood"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { appears, type HarnessSpec, isObject, script, World } from "./support/World.ts"

/** The harnesses of a configuration, each started as a scripted agent: the policy is the document's, the agent is ours. */
const harnesses = Effect.fnUntraced(function* (toml: string, moods: Readonly<Record<string, Mood>> = {}) {
  const settings = yield* Effect.orDie(Config.decode("config.toml", toml))
  expect(settings.warnings).toEqual([])
  const { profiles, default: reference } = Harness.fromTables(settings, ["kit"])
  const specs = profiles.map(({ name, policy, isKit }): [string, HarnessSpec] => [
    name,
    { policy, isKit, mood: moods[name] ?? {} },
  ])
  const first = specs.findIndex(([name]) => `acp.${name}` === reference)
  return { profiles, specs: Object.fromEntries([specs[first]!, ...specs.filter((_, at) => at !== first)]) }
})

const run = (parent: World.Parent, source: string) => Compose.run({ source, tools: SubagentTools.make(parent), author: "person" })

const prompts = (world: World.World, harness: string) =>
  world
    .frames(harness)
    .filter((frame) => frame.dir === "in" && frame.message.method === "session/prompt")
    .map(({ message }) => (isObject(message.params) ? message.params.prompt : undefined))

const model: ConfigOption = {
  id: "model",
  category: "model",
  currentValue: "default",
  options: ["default", "opus", "provider:model-a", "provider:model-b"].map((value) => ({ value, name: value })),
}

describe("the programs of the document", () => {
  it.live("C07 S02 S03 passes links and embedded files as they are", () =>
    Effect.gen(function* () {
      const { specs } = yield* harnesses("")
      const world = yield* World.make({ harnesses: specs })
      const parent = yield* world.open()
      const value = yield* run(
        parent,
        `child = subagent({
  prompt: [
    { type: "text", text: "Review this interface against the requirements." },
    { type: "resource_link", uri: "file:///project/src/interface.rs", name: "interface.rs", mimeType: "text/x-rust" },
    { type: "resource", resource: { uri: "file:///project/requirements.txt", mimeType: "text/plain", text: "Keep existing callers compatible." } }
  ]
})
return child.output`,
      )
      expect(value).toContain("Review this interface against the requirements.")
      expect(prompts(world, "kit")[0]).toMatchObject([
        { type: "text" },
        { type: "resource_link", uri: "file:///project/src/interface.rs" },
        { type: "resource", resource: { text: "Keep existing callers compatible." } },
      ])
    }),
  )

  it.live("C07 S126 asks a configured specialist by its alias", () =>
    Effect.gen(function* () {
      const { specs, profiles } = yield* harnesses(
        `[acp.claude]
command = "npx"
args = ["-y", "@agentclientprotocol/claude-agent-acp@0.69.0"]
permissions = "allow"

[subagent.harnesses."acp.claude".models]
designer = "opus"
`,
        { claude: { options: [model] } },
      )
      expect(profiles[1]).toMatchObject({ command: "npx", args: ["-y", "@agentclientprotocol/claude-agent-acp@0.69.0"] })
      const world = yield* World.make({ harnesses: specs })
      const parent = yield* world.open()
      const value = yield* run(
        parent,
        `design = subagent({
  name: "Visual Designer",
  harness: "acp.claude",
  model: "designer",
  prompt: "Review the existing dashboard and propose a coherent visual direction for the new analytics view. Return design guidance, not code."
})
return design.output`,
      )
      expect(value).toMatch(/^echo: Review the existing dashboard/)
      const set = world.frames("claude").find((frame) => frame.message.method === "session/set_config_option")
      expect(set?.message.params).toMatchObject({ configId: "model", value: "opus" })
      expect(yield* parent.roster).toMatchObject([{ name: "Visual Designer", harness: "acp.claude" }])
    }),
  )

  it.live("C07 S10 S11 S12 S21 starts in another directory, continues, and branches", () =>
    Effect.gen(function* () {
      const { specs } = yield* harnesses("")
      const world = yield* World.make({ harnesses: specs })
      Fs.mkdirSync(world.file("parser-worktree"))
      const parent = yield* world.open()
      const value = yield* run(
        parent,
        `first = subagent({
  name: "Implementer",
  cwd: "../parser-worktree",
  prompt: "Inspect the parser and identify the smallest risk."
})
second = prompt({
  subagent: first,
  prompt: "Now propose a minimal fix."
})
branch = fork({
  subagent: second,
  name: "Alternative Reviewer",
  prompt: "Explore an alternative without changing the original session."
})
return { main: second.output, alternative: branch.output }`,
      )
      expect(value).toEqual({
        main: "echo: Now propose a minimal fix.",
        alternative: "echo: Explore an alternative without changing the original session.",
      })
      expect(world.events("kit")[0]?.detail.cwd).toBe(world.file("parser-worktree"))
      expect(yield* parent.roster).toMatchObject([
        { name: "Implementer", generation: 2 },
        { name: "Alternative Reviewer", generation: 3 },
      ])
    }),
  )

  it.live("C07 S30 S34 steers a child from another program", () =>
    Effect.gen(function* () {
      const { specs } = yield* harnesses("")
      const world = yield* World.make({ harnesses: specs })
      const parent = yield* world.open()
      const working = yield* Effect.forkChild(
        parent.subagent({ prompt: script({ touch: world.file("in") }, { awaitInject: true }) }),
      )
      yield* appears(world.file("in"))
      const [row] = yield* parent.roster
      const receipt = yield* run(
        parent,
        `return steer({
  id: "${row?.id}",
  prompt: "Keep the change limited to the parser; do not modify the public API."
})`,
      )
      expect(receipt).toMatchObject({ messageId: expect.any(String) })
      expect((yield* Fiber.join(working)).output).toBe(
        "steered: Keep the change limited to the parser; do not modify the public API.",
      )
    }),
  )

  it.live("C07 S61 reads a structured answer", () =>
    Effect.gen(function* () {
      const answer = '{"approved":false,"reason":"too wide"}'
      const { specs } = yield* harnesses("", { kit: { replies: [{ match: "Review the proposed", script: [{ say: answer }] }] } })
      const world = yield* World.make({ harnesses: specs })
      const parent = yield* world.open()
      const value = yield* run(
        parent,
        `review = subagent({
  prompt: "Review the proposed change.",
  output_schema: {
    type: "object",
    properties: {
      approved: { type: "boolean" },
      reason: { type: "string" }
    },
    required: ["approved", "reason"],
    additionalProperties: false
  }
})
return { approved: review.output.approved, reason: review.output.reason }`,
      )
      expect(value).toEqual({ approved: false, reason: "too wide" })
    }),
  )
})

describe("the configurations of the document", () => {
  it.live("C07 S92 overrides the executable of acp.kit and keeps its own arguments", () =>
    Effect.gen(function* () {
      const { profiles } = yield* harnesses(`[acp.kit]
command = "kit"
args = ["acp"]
`)
      expect(profiles).toMatchObject([
        { reference: "acp.kit", command: "kit", args: ["acp"], source: "configured acp.kit profile" },
      ])
    }),
  )

  it.live("C07 S120 makes a generic harness the default, and sets its options", () =>
    Effect.gen(function* () {
      const effort: ConfigOption = {
        id: "reasoning_effort",
        category: "thought_level",
        currentValue: "low",
        options: ["low", "high"].map((value) => ({ value, name: value })),
      }
      const mode: ConfigOption = {
        id: "mode",
        currentValue: "ask",
        options: ["ask", "code"].map((value) => ({ value, name: value })),
      }
      const compact: ConfigOption = { id: "auto_compact", type: "boolean", currentValue: false }
      const { specs } = yield* harnesses(
        `[acp.review]
command = "review-agent"
args = ["acp"]
permissions = "allow"

[subagent]
harness = "acp.review"

[subagent.harnesses."acp.review".config_options]
thought_level = "high"
mode = "code"
auto_compact = true
`,
        { review: { options: [effort, mode, compact] } },
      )
      const world = yield* World.make({ harnesses: specs })
      const parent = yield* world.open()
      yield* parent.subagent({ prompt: "x" })
      const sets = world
        .frames("review")
        .filter((frame) => frame.dir === "in" && frame.message.method === "session/set_config_option")
        .map(({ message }) => (isObject(message.params) ? [message.params.configId, message.params.value] : []))
      expect(sets).toEqual([
        ["auto_compact", true],
        ["mode", "code"],
        ["reasoning_effort", "high"],
      ])
    }),
  )

  it.live("C07 S126 allows models by list and alias", () =>
    Effect.gen(function* () {
      const { specs } = yield* harnesses(
        `[acp.review]
command = "review-agent"

[subagent]
harness = "acp.review"

[subagent.harnesses."acp.review"]
allow_model_overrides = ["provider:model-a", "provider:model-b"]

[subagent.harnesses."acp.review".models]
review = "provider:model-a"
fast = "provider:model-b"
`,
        { review: { options: [model] } },
      )
      const world = yield* World.make({ harnesses: specs })
      const parent = yield* world.open()
      const value = yield* run(
        parent,
        `a = subagent({ prompt: "x", model: "fast" })
b = subagent({ prompt: "y", model: "provider:model-a" })
c = boundary { return subagent({ prompt: "z", model: "opus" }) } catch e { return e.code }
return [a.output, b.output, c]`,
      )
      expect(value).toEqual(["echo: x", "echo: y", "MODEL_REJECTED"])
    }),
  )
})
