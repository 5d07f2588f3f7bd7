import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
  await kit.configure('[subagent]\nharness = "acp.demo"')
})
afterEach(() => kit.dispose())

const sessionOf = (err: string): string => /session: (\S+)/.exec(err)?.[1] ?? ""

describe("kit subagents", () => {
  it("K16 lists what was started, closed ones too, and shows what an agent was launched from and said last", async () => {
    await kit.agent("demo")
    const { out, err } = await kit.compose(
      'a = subagent({ prompt: "one", name: "A" })\nb = subagent({ prompt: "two", name: "B" })\n_ = close(b)\nreturn [a.id, b.id]',
    )
    const [a, b] = JSON.parse(out)
    const listed = JSON.parse((await kit.run(["subagents", "list", "--json"])).out).subagents
    const rows = Object.fromEntries(listed.map((row: { readonly id: string }) => [row.id, row]))
    expect(rows[a]).toMatchObject({ session: sessionOf(err), name: "A", status: "idle", generation: 1, harness: "acp.demo" })
    expect(rows[b]).toMatchObject({ name: "B", status: "closed" })
    const shown = JSON.parse((await kit.run(["subagents", "show", a, "--json"])).out)
    expect(shown).toMatchObject({
      id: a,
      name: "A",
      prompt: "",
      meta: { agent_id: a, status: "idle" },
      context: { last_output: "echo: one" },
    })
    expect((await kit.run(["subagents", "show", a])).out).toMatch(/last output\s+echo: one/)
    expect(await kit.run(["subagents", "show", "s-none", "--json"])).toMatchObject({ code: 2 })
  })

  it("K04 prints the wire as a conversation, whole, by kind, by its tail, and as records", async () => {
    const agent = await kit.agent("demo")
    const id = await kit.value('return subagent({ prompt: "one" }).id')
    const log = async (...args: ReadonlyArray<string>) =>
      (await kit.run(["subagents", "log", id, ...args])).out.trimEnd().split("\n")
    const whole = await log()
    expect(whole.filter((line) => /[→←]/.test(line))).toHaveLength(agent.recording.frames.length)
    expect(whole.some((line) => line.endsWith("→ session/prompt one"))).toBe(true)
    expect(await log("--kind", "agent_message_chunk")).toEqual([expect.stringMatching(/← agent_message_chunk echo: one$/)])
    const records = (await log("--json")).map((line) => JSON.parse(line))
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1))
    expect(await log("--json", "-n", "1")).toEqual([JSON.stringify(records.at(-1))])
  })

  it("verifies every file, and names the damaged one, and mends what can be mended; log and list go on", async () => {
    await kit.agent("demo")
    const { out, err } = await kit.compose('return subagent({ prompt: "one" }).id')
    const id = JSON.parse(out)
    const directory = join(kit.kitHome, "sessions", sessionOf(err), "subagents", id)
    expect(await kit.run(["subagents", "verify", id])).toMatchObject({ code: 0 })
    const log = join(directory, "wire.log")
    const lines = readFileSync(log, "utf8").split("\n")
    lines[3] = lines[3]?.replace(/[0-9a-f]{8}"}$/, '00000000"}') ?? ""
    writeFileSync(log, lines.join("\n"))
    const verified = await kit.run(["subagents", "verify", id, "--json"])
    expect(verified.code).toBe(1)
    const [agent] = JSON.parse(verified.out).subagents
    expect(agent.findings.find((finding: { readonly path: string }) => finding.path === log)).toMatchObject({ severity: "error" })
    expect((await kit.run(["subagents", "log", id])).out).toContain("cannot be read")
    const aside = join(directory, ".quarantine")
    appendFileSync(join(directory, "meta.json"), "garbage")
    const [damaged] = JSON.parse((await kit.run(["subagents", "list", "--json"])).out).subagents
    expect(damaged).toMatchObject({ id, problem: { code: "CORRUPT" } })
    const repaired = await kit.run(["subagents", "repair", id, "--json"])
    expect(JSON.parse(repaired.out).findings).toMatchObject([{ path: join(directory, "meta.json"), severity: "warning" }])
    expect(readdirSync(aside).map((file) => readFileSync(join(aside, file), "utf8"))).toContainEqual(
      expect.stringContaining("garbage"),
    )
    const [mended] = JSON.parse((await kit.run(["subagents", "list", "--json"])).out).subagents
    expect(mended).toMatchObject({ id, status: "interrupted" })
    expect(mended.problem).toBeUndefined()
  })

  it("K11 deletes an agent with all its files", async () => {
    await kit.agent("demo")
    const { out, err } = await kit.compose('return subagent({ prompt: "one" }).id')
    const directory = join(kit.kitHome, "sessions", sessionOf(err), "subagents")
    expect(await kit.run(["subagents", "delete", JSON.parse(out)])).toMatchObject({ code: 0 })
    expect(readdirSync(directory)).toEqual([])
  })
})

describe("kit doctor", () => {
  it("finds nothing wrong with an empty home, and what is wrong with a broken set-up", async () => {
    const empty = await kit.run(["doctor", "--config", kit.write("empty.toml", "")])
    expect(empty).toMatchObject({ code: 0, err: "" })
    kit.writeConfig('modle = "x"\n[acp.gone]\ncommand = "no-such-program"\n')
    const broken = await kit.run(["doctor", "--json"])
    expect(broken.code).toBe(1)
    expect(JSON.parse(broken.out).findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ what: "config", state: "warning", detail: expect.stringContaining("modle") }),
        expect.objectContaining({ what: "acp.gone", state: "problem", detail: "there is no no-such-program on PATH" }),
        expect.objectContaining({ what: "acp.kit", state: "ok" }),
      ]),
    )
  })
})
