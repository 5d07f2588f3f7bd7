import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
})
afterEach(() => kit.dispose())

const sessionOf = (err: string): string => /session: (\S+)/.exec(err)?.[1] ?? ""

const json = async (...args: ReadonlyArray<string>): Promise<any> => JSON.parse((await kit.run([...args, "--json"])).out)

describe("kit sessions export and import", () => {
  it("carry a session with its agents to another home, where it goes on", async () => {
    await kit.configure('[subagent]\nharness = "acp.demo"')
    await kit.agent("demo")
    const first = await kit.compose('return subagent({ prompt: "one", name: "Scout" }).id')
    const [id, session] = [JSON.parse(first.out), sessionOf(first.err)]
    const exported = await json("sessions", "export", session, "copy")
    expect(exported).toEqual({ id: session, directory: join(kit.dir, "copy"), files: 6, bytes: expect.any(Number) })
    const log = (await kit.run(["subagents", "log", id, "--json"])).out
    const refused = await kit.run(["sessions", "import", "copy", "--json"])
    expect([refused.code, JSON.parse(refused.out).error.code]).toEqual([1, "ALREADY_EXISTS"])
    const other = { env: { KIT_HOME: join(kit.folder, "other") } }
    mkdirSync(other.env.KIT_HOME)
    writeFileSync(join(other.env.KIT_HOME, "config.toml"), readFileSync(kit.configFile))
    expect(await kit.run(["sessions", "import", "copy"], other)).toMatchObject({ code: 0, out: `${session}\n`, err: "" })
    expect((await kit.run(["subagents", "log", id, "--json"], other)).out).toBe(log)
    expect(await kit.run(["subagents", "verify"], other)).toMatchObject({ code: 0 })
    const again = 'return prompt({ subagent: subagents({})[0], prompt: "two" })'
    const went = await kit.run(["compose", "-e", again, "--session", session], other)
    expect(JSON.parse(went.out)).toMatchObject({ id, name: "Scout", generation: 2, output: "echo: two" })
  })

  it("carry the conversation of a nested Kit along", async () => {
    const first = await kit.compose('return subagent({ prompt: "one" }).id')
    const [id, session] = [JSON.parse(first.out), sessionOf(first.err)]
    await kit.run(["sessions", "export", session, "copy"])
    await kit.run(["sessions", "delete", session])
    expect(readdirSync(join(kit.kitHome, "sessions"))).toEqual([])
    expect(await kit.run(["sessions", "import", "copy"])).toMatchObject({ code: 0, out: `${session}\n` })
    const again = 'return prompt({ subagent: subagents({})[0], prompt: "two" })'
    expect(await kit.value(again, "--session", session)).toMatchObject({ id, generation: 2, output: "echo: two" })
    expect(await json("sessions", "show", id)).toMatchObject({ id, origin: "subagent", items: 6 })
  })

  it("refuse what is no whole export, say why, and leave nothing", async () => {
    const session = sessionOf((await kit.compose("return 1")).err)
    await kit.run(["sessions", "export", session, "copy"])
    await kit.run(["sessions", "delete", session])
    const sessions = join(kit.kitHome, "sessions")
    const transcript = join(kit.dir, "copy/transcript.jsonl")
    const kept = readFileSync(transcript)
    const refused = async (...args: ReadonlyArray<string>) => {
      const { code, out, err } = await kit.run(["sessions", ...args, "--json"])
      expect(readdirSync(sessions)).toEqual([])
      return [code, JSON.parse(out).error.code, err]
    }
    writeFileSync(transcript, kept.subarray(0, 20))
    expect(await refused("import", "copy")).toEqual([1, "CORRUPT", expect.stringContaining("make the export again")])
    rmSync(transcript)
    symlinkSync("/etc/passwd", transcript)
    expect(await refused("import", "copy")).toEqual([1, "CORRUPT", expect.stringContaining("a symlink stands where a file")])
    expect(await refused("import", ".")).toEqual([2, "INVALID", expect.stringContaining("kit sessions export made")])
    writeFileSync(join(kit.dir, "file"), "")
    expect(await refused("import", "file")).toEqual([2, "INVALID", expect.stringContaining("file is a file and no directory")])
    expect(await refused("import", "nothing")).toEqual([2, "INVALID", expect.stringContaining("there is no ")])
    const wrong = await kit.run(["subagents", "import", "copy"])
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("take it with kit sessions import") })
    expect(await refused("export", "nope", "x")).toEqual([2, "NOT_FOUND", expect.any(String)])
    expect(await refused("export", "../x", "x")).toEqual([2, "INVALID_ID", expect.any(String)])
    expect(existsSync(join(kit.dir, "x"))).toBe(false)
    rmSync(transcript)
    writeFileSync(transcript, kept)
    expect(await kit.run(["sessions", "import", "copy"])).toMatchObject({ code: 0, out: `${session}\n` })
    const taken = await kit.run(["sessions", "export", session, "copy"])
    expect(taken).toMatchObject({ code: 2, err: expect.stringContaining("exists already") })
    const among = await kit.run(["sessions", "export", session, join(sessions, "x")])
    expect(among).toMatchObject({ code: 2, err: expect.stringContaining("among the sessions") })
    expect(readdirSync(sessions)).toEqual([session])
  })
})

describe("kit sessions collect", () => {
  it("K16 tells what would go, and removes it only when it is told to", async () => {
    const [old, young] = [sessionOf((await kit.compose("return 1")).err), sessionOf((await kit.compose("return 2")).err)]
    const directory = join(kit.kitHome, "sessions", old)
    const file = join(directory, "session.json")
    writeFileSync(file, readFileSync(file, "utf8").replace(/"updated_at": "[^"]*"/, '"updated_at": "2020-01-01T00:00:00.000Z"'))
    utimesSync(join(directory, "transcript.jsonl"), 1, 1_577_836_800)
    const planned = await json("sessions", "collect", "--older-than", "30")
    expect(planned).toMatchObject({
      deleted: false,
      collected: [{ kind: "session", id: old, why: expect.stringContaining("30") }],
    })
    expect(planned.bytes).toBeGreaterThan(0)
    expect((await kit.run(["sessions", "collect", "--older-than", "30"])).out).toMatch(
      new RegExp(`^session +${old} .*days\nwould remove 1 session and 0 subagents, [0-9.]+ (bytes|kB)\n$`),
    )
    expect((await kit.run(["sessions", "collect", "--max-bytes", "0", "--keep", "2"])).out).toMatch(/^would remove 0 sessions/)
    expect(existsSync(directory)).toBe(true)
    const removed = await kit.run(["sessions", "collect", "--older-than", "30", "--delete"])
    expect(removed).toMatchObject({ code: 0, out: expect.stringContaining("removed 1 session and 0 subagents") })
    expect(readdirSync(join(kit.kitHome, "sessions"))).toEqual([young])
    expect(await kit.run(["sessions", "collect", "--json"])).toMatchObject({ code: 2, out: expect.stringContaining("USAGE") })
  })
})

describe("kit subagents import", () => {
  it("makes agents of a session of Kimi CLI, which can be listed, read and verified; without any it makes nothing", async () => {
    const source = join(kit.dir, "kimi")
    for (const agent of ["a1b2c3d4e", "a5b6c7d8e"]) {
      const directory = join(source, "subagents", agent)
      mkdirSync(directory, { recursive: true })
      writeFileSync(join(directory, "meta.json"), JSON.stringify({ agent_id: agent, subagent_type: "coder", status: "idle" }))
      writeFileSync(
        join(directory, "context.jsonl"),
        '{"role":"_system_prompt","content":"You code."}\n{"role":"user","content":"hi"}\n{"role":',
      )
      writeFileSync(join(directory, "wire.jsonl"), '{"timestamp":1,"message":{"type":"TurnBegin","payload":{}}}\n')
    }
    const { session, subagents } = await json("subagents", "import", "kimi")
    expect(subagents).toMatchObject(
      ["a1b2c3d4e", "a5b6c7d8e"].map((agent) => ({ from: join(source, "subagents", agent), skipped: 1 })),
    )
    const listed = await json("subagents", "list", "--session", session)
    expect(listed.subagents.map(({ status }: { readonly status: string }) => status)).toEqual(["closed", "closed"])
    const ran = await kit.run(["subagents", "run", subagents[0].id, "go on"])
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("a record imported from Kimi CLI, to be looked at") })
    expect(await json("subagents", "show", subagents[0].id)).toMatchObject({
      prompt: "You code.",
      context: { messages: [{ role: "user", content: "hi" }] },
    })
    expect(await kit.run(["subagents", "verify"])).toMatchObject({ code: 0 })
    const one = await kit.run(["subagents", "import", "kimi/subagents/a1b2c3d4e", "--session", session])
    expect(one).toMatchObject({ code: 0, out: expect.stringMatching(/^s-\S+ +\S+a1b2c3d4e +1 line could not be read/) })
    expect(await kit.run(["subagents", "import", "."])).toMatchObject({ code: 2, err: expect.stringContaining("meta.json") })
    expect((await json("sessions", "list")).sessions).toHaveLength(1)
  })
})
