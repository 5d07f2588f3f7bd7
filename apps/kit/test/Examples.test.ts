import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

const root = join(import.meta.dirname, "../../..")

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
})
afterEach(() => kit.dispose())

describe("examples/first-run.rnlt", () => {
  it("C06 S90 starts three agents at once on this repository, continues one, and returns one JSON value", async () => {
    const { code, out, err } = await kit.run(["compose", "examples/first-run.rnlt"], { cwd: root })
    expect(code).toBe(0)
    const value = JSON.parse(out)
    expect(value.packages).toContainEqual({ name: "cli", files: expect.any(Number), lines: expect.any(Number) })
    expect(value.services).toContain("orchestrator/Subagents")
    expect(value.tests.tests).toBeGreaterThan(100)
    expect(value.longest_file_of_the_largest_package).toMatch(/^packages\/\S+\.ts, \d+ lines$/)
    expect(value.turns).toEqual({ packages: 2, services: 1, tests: 1 })
    const events = err.split("\n").map((line) =>
      line
        .trim()
        .split(/\s{2,}/)
        .slice(1, 3)
        .join(" "),
    )
    const firstIdle = events.findIndex((event) => event.endsWith("idle"))
    const starts = ["Packages starting", "Services starting", "Tests starting"]
    expect(events.slice(0, firstIdle)).toEqual(expect.arrayContaining(starts))
  })
})

describe("the examples", () => {
  it("stand in the standard form, and compile without a warning", async () => {
    const names = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".rnlt"))
    const files = names.map((name) => `examples/${name}`)
    expect(files.length).toBeGreaterThan(2)
    expect(await kit.run(["fmt", "--check", ...files], { cwd: root })).toMatchObject({ code: 0, out: "", err: "" })
    for (const file of files) expect(await kit.run(["check", file], { cwd: root })).toMatchObject({ code: 0, err: "" })
  })
})

describe("examples/branch.rnlt", () => {
  it("S12 S130 branches what one agent read into two, each with its own name and the next generation", async () => {
    const { code, out } = await kit.run(["compose", "examples/branch.rnlt"], { cwd: root })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({
      words: expect.any(Number),
      longest: expect.stringMatching(/^docs\/decisions\/\S+\.md$/),
      newest: expect.stringMatching(/^docs\/decisions\/\S+\.md$/),
      generations: { reader: 1, longest: 2, newest: 2 },
    })
  })
})

describe("examples/steer.rnlt", () => {
  it("S30 guides an agent while it works, without a new turn", async () => {
    const { code, out } = await kit.run(["compose", "examples/steer.rnlt"], { cwd: root })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({ answer: expect.stringMatching(/day$/), turns: 1, told: 1, tidy: true })
  })
})

describe("the programs of the README", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8")
  const blocks = (language: string) =>
    [...readme.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, "g"))].map((match) => match[1] ?? "")

  it("run, with an agent that answers as they expect", async () => {
    const [program = ""] = blocks("runlet")
    await kit.configure('[subagent]\nharness = "acp.demo"')
    await kit.agent("demo", {
      replies: [{ match: "^Which files", script: [{ say: '["a.ts","b.ts"]' }] }],
      reply: [{ say: "fine" }],
    })
    kit.write("package.json", '{"scripts":{"test":"true"}}')
    kit.write("review.rnlt", program)
    const { code, out, err } = await kit.run(["compose", "review.rnlt"])
    expect({ code, err }).toMatchObject({ code: 0, err: expect.not.stringContaining("warning") })
    expect(JSON.parse(out)).toEqual({
      reviews: [
        { file: "a.ts", found: "fine" },
        { file: "b.ts", found: "fine" },
      ],
      fixed: "fine",
      green: true,
    })
  })

  it("read their configuration as it stands there", async () => {
    const [config = ""] = blocks("toml")
    kit.writeConfig(config)
    expect(await kit.run(["harness", "list"])).toMatchObject({ code: 0, err: "" })
  })
})
