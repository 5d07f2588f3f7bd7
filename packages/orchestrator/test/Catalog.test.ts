import { compileSchema } from "@acp-kit/json-schema/JsonSchemas"
import { Catalog } from "@acp-kit/orchestrator/Catalog"
import { Config } from "@acp-kit/orchestrator/Config"
import { Harness } from "@acp-kit/orchestrator/Harness"
import { defaults } from "@acp-kit/orchestrator/Limits"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const source = `
[acp.claude]
command = "npx"
args = ["-y", "@agentclientprotocol/claude-agent-acp@0.69.0"]
permissions = "allow"

[subagent.harnesses."acp.claude".models]
designer = "opus"
`

const entries = (depth: number, agents: ReadonlyArray<string> = []) =>
  Effect.map(Config.decode("config.toml", source), (settings) =>
    Catalog.entries({ harnesses: Harness.fromTables(settings, ["kit"]), depth, limits: defaults, agents }),
  )

const accepts = (schema: unknown, value: unknown): boolean => Result.getOrThrow(compileSchema(schema)).check(value).length === 0

describe("Catalog", () => {
  it.effect("S127 lists harnesses and aliases as choices and tells the model to omit both unless asked", () =>
    Effect.gen(function* () {
      const [subagent] = yield* entries(0)
      expect(subagent?.description).toContain("Omit harness and model unless")
      const { harness, model } = (subagent as any).input.properties
      expect(harness.enum).toEqual(["acp.kit", "acp.claude"])
      expect(model.description).toContain("designer (acp.claude)")
      expect(model.description).toContain("no recommendations")
    }),
  )

  it.effect("S44 asks the model for a concise role name", () =>
    Effect.gen(function* () {
      const all = yield* entries(0)
      for (const name of ["subagent", "fork"]) {
        expect(all.find((entry) => entry.name === name)?.description).toMatch(/concise, role-oriented name/)
      }
    }),
  )

  it.effect("S160 leaves subagent and fork out at the deepest level", () =>
    Effect.gen(function* () {
      const names = (depth: number) => Effect.map(entries(depth), (all) => all.map((entry) => entry.name))
      expect(yield* names(1)).toEqual(["subagent", "prompt", "fork", "steer", "close", "subagents"])
      expect(yield* names(2)).toEqual(["prompt", "steer", "close", "subagents"])
    }),
  )

  it.effect("S10 S11 S12 S13 S23 S30 has schemas that take what the verbs take, and nothing else", () =>
    Effect.gen(function* () {
      const all = new Map((yield* entries(0, ["reviewer"])).map((entry) => [entry.name, entry]))
      const value = { id: "s-1", name: "A", output: null, generation: 1, updates: { items: [{}], truncated: false } }
      const good: ReadonlyArray<readonly [string, unknown]> = [
        ["subagent", { prompt: "x" }],
        [
          "subagent",
          {
            prompt: [{ type: "text", text: "x" }],
            agent: "reviewer",
            harness: "acp.claude",
            model: "designer",
            output_schema: true,
          },
        ],
        ["prompt", { subagent: value, prompt: "x", output_schema: {} }],
        ["fork", { subagent: value, prompt: "x", name: "B" }],
        ["steer", { id: "s-1", prompt: "x" }],
        ["close", value],
        ["close", { id: "s-1" }],
        ["subagents", {}],
      ]
      for (const [verb, input] of good)
        expect([verb, input, accepts(all.get(verb as never)?.input, input)]).toEqual([verb, input, true])
      const bad: ReadonlyArray<readonly [string, unknown]> = [
        ["subagent", {}],
        ["subagent", { prompt: [] }],
        ["subagent", { prompt: "x", harness: "acp.nobody" }],
        ["subagent", { prompt: "x", promt: "y" }],
        ["prompt", { subagent: value, prompt: "x", model: "m" }],
        ["prompt", { subagent: value, prompt: "x", output_schema: null }],
        ["subagents", { all: true }],
      ]
      for (const [verb, input] of bad)
        expect([verb, input, accepts(all.get(verb as never)?.input, input)]).toEqual([verb, input, false])
    }),
  )
})
