import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
})
afterEach(() => kit.dispose())

const sessionOf = (err: string): string => /session: (\S+)/.exec(err)?.[1] ?? ""
const started = 'return subagent({ prompt: "one" }).id'

describe("a home that was meddled with", () => {
  it("hides no agent of other sessions, and says which session is left out; a session that is named must be whole", async () => {
    await kit.configure('[subagent]\nharness = "acp.demo"')
    await kit.agent("demo")
    const [first, second] = [await kit.compose(started), await kit.compose(started)]
    const [id, broken] = [JSON.parse(first.out), sessionOf(second.err)]
    const file = join(kit.kitHome, "sessions", broken, "transcript.jsonl")
    renameSync(file, `${kit.folder}/kept`)
    mkdirSync(file)
    const listed = await kit.run(["subagents", "list", "--json"])
    expect(JSON.parse(listed.out).subagents.map((row: { readonly id: string }) => row.id)).toEqual([id])
    expect(listed).toMatchObject({ code: 0, err: expect.stringContaining(`kit: session ${broken} is left out: `) })
    expect(await kit.run(["subagents", "show", id])).toMatchObject({ code: 0 })
    const named = await kit.run(["subagents", "list", "--session", broken, "--json"])
    expect([named.code, JSON.parse(named.out).error.code]).toEqual([1, "CORRUPT"])
    expect((await kit.run(["subagents", "show", "s-\u001b[31m"])).err).not.toContain("\u001b")
  })

  it("is told by what goes on with a session that is damaged in the middle, with the place of the copy, and by show", async () => {
    const session = sessionOf((await kit.compose("return 1")).err)
    const file = join(kit.kitHome, "sessions", session, "transcript.jsonl")
    const lines = readFileSync(file, "utf8").split("\n")
    writeFileSync(file, lines.with(1, `!${lines[1]?.slice(1)}`).join("\n"))
    chmodSync(join(kit.kitHome, "sessions"), 0o777)
    expect((await kit.run(["sessions", "show", session])).out).toMatch(/warning +transcript: bytes \d+ to \d+ .*cannot be read/)
    const composed = await kit.compose("return 2", "--session", session)
    expect(composed).toMatchObject({ code: 0, out: "2\n" })
    expect(composed.err).toMatch(/kit: \S+transcript.jsonl: bytes .* skipped; a copy is in \S+\.quarantine\S+\n/)
    expect(composed.err).toMatch(/kit: \S+sessions: its mode was 777; others can no longer enter\n/)
    expect((await kit.compose("return 3", "--session", session)).err).toBe(`session: ${session}\n`)
    const again = readFileSync(file, "utf8").split("\n")
    writeFileSync(file, again.with(1, `!${again[1]?.slice(1)}`).join("\n"))
    const prompted = await kit.run(["prompt", "hello", "--session", session])
    expect(prompted).toMatchObject({ code: 0, out: "echo: hello\n" })
    expect(prompted.err).toMatch(/kit: \S+transcript.jsonl: bytes .* skipped; a copy is in/)
  })

  it("K17 keeps nothing of a session that was deleted, its nested kits' conversations included", async () => {
    const { err } = await kit.compose(started)
    const sessions = join(kit.kitHome, "sessions")
    expect(readdirSync(sessions)).toHaveLength(2)
    expect(await kit.run(["sessions", "delete", sessionOf(err)])).toMatchObject({ code: 0 })
    expect(readdirSync(sessions)).toEqual([])
  })
})

describe("kit subagents log -n", () => {
  it("prints as many as were asked for of what is printed at all, whatever stands behind them", async () => {
    await kit.configure('[subagent]\nharness = "acp.demo"')
    await kit.agent("demo")
    const id = JSON.parse((await kit.compose(started)).out)
    const whole = (await kit.run(["subagents", "log", id])).out.trimEnd().split("\n")
    const last = async (...args: ReadonlyArray<string>) => (await kit.run(["subagents", "log", id, ...args])).out.trimEnd()
    expect(await last("-n", "1")).toBe(whole.at(-1))
    expect(await last("-n", "2")).toBe(whole.slice(-2).join("\n"))
    expect(await last("-n", "1", "--kind", "session/prompt")).toMatch(/→ session\/prompt one$/)
    expect(await last("-n", "9999")).toBe(whole.join("\n"))
    expect(await last("-n", "0")).toBe("")
  })
})
