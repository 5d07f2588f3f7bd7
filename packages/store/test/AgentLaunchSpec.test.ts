import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as AgentLaunchSpec from "../src/AgentLaunchSpec.ts"

describe("launch specs", () => {
  it("K13 store values, but secrets by name only", () => {
    const spec = AgentLaunchSpec.make({
      name: "code-reviewer",
      definition: { path: "/p/.kit/agents/code-reviewer.md", sha256: "0".repeat(64) },
      env: { REPO_PATH: "/home/user/project", GITHUB_TOKEN: "s3cret", DATABASE_URL: "s3cret", EDITOR: "vi" },
      secrets: ["DATABASE_URL", "LATER"],
    })
    expect(JSON.stringify(spec)).not.toContain("s3cret")
    expect(spec).toEqual({
      name: "code-reviewer",
      definition: { path: "/p/.kit/agents/code-reviewer.md", sha256: "0".repeat(64) },
      env: { REPO_PATH: "/home/user/project", EDITOR: "vi" },
      secret_env: ["DATABASE_URL", "GITHUB_TOKEN", "LATER"],
    })
  })

  it.effect("K13 a resume without the secrets fails naming them, and with them has all", () =>
    Effect.gen(function* () {
      const spec = AgentLaunchSpec.make({ name: "a", env: { A: "1", API_KEY: "x" }, secrets: ["B"] })
      const error = yield* Effect.flip(AgentLaunchSpec.environment(spec, { A: "other" }))
      expect(error.names).toEqual(["API_KEY", "B"])
      expect(error.message).toContain("API_KEY, B")
      expect(yield* AgentLaunchSpec.environment(spec, { API_KEY: "k", B: "", C: "not ours" })).toEqual({
        A: "1",
        API_KEY: "k",
        B: "",
      })
    }),
  )

  it("knows the names that say secret, and those that do not", () => {
    const secret = [
      "API_KEY",
      "OPENAI_API_KEY",
      "apiKey",
      "NPM_TOKEN",
      "DB_PASSWORD",
      "AWS_SECRET_ACCESS_KEY",
      "GH_PAT",
      "authToken",
      "X-Auth",
    ]
    const plain = ["PATH", "HOME", "KEYBOARD", "TOKENIZER", "PATTERN", "AUTHOR", "LANG", "MONKEY", "COMPASS"]
    expect(secret.filter((name) => !AgentLaunchSpec.looksSecret(name))).toEqual([])
    expect(plain.filter(AgentLaunchSpec.looksSecret)).toEqual([])
  })
})
