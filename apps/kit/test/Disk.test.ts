import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
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

const directoryOf = (session: string, id: string): string => join(kit.kitHome, "sessions", session, "subagents", id)

const json = (directory: string, file: string): any => JSON.parse(readFileSync(join(directory, file), "utf8"))

const read = (directory: string, file: string): string => readFileSync(join(directory, file), "utf8")

const files = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

describe("a child's directory", () => {
  it("K01 K02 K05 holds the four files: who it is, its system prompt, its wire, and what it would resume from", async () => {
    const agent = await kit.agent("demo")
    const { out, err } = await kit.compose(
      'a = subagent({ prompt: "one", name: "Scout" })\nreturn prompt({ subagent: a, prompt: "two" })',
    )
    const session = sessionOf(err)
    const { id } = JSON.parse(out)
    const directory = directoryOf(session, id)
    expect(json(directory, "meta.json")).toMatchObject({
      agent_id: id,
      session_id: session,
      status: "idle",
      spec: { harness: "acp.demo", cwd: kit.dir },
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(read(directory, "prompt.txt")).toBe("")
    const context = read(directory, "context.json")
    expect(context).toContain("echo: two")
    const acpSession = agent.recording.params("session/prompt")[0]?.sessionId
    expect(context).toContain(String(acpSession))
  })

  it("K03 keeps a definition's body as the system prompt, sends it before the first prompt, and never again", async () => {
    const agent = await kit.agent("demo")
    mkdirSync(join(kit.kitHome, "agents"), { recursive: true })
    writeFileSync(join(kit.kitHome, "agents/reviewer.md"), "---\ndescription: looks for bugs\n---\nYou look for bugs.\n")
    const first = await kit.compose(
      'a = subagent({ prompt: "one", agent: "reviewer" })\nreturn prompt({ subagent: a, prompt: "two" })',
    )
    const session = sessionOf(first.err)
    const { id } = JSON.parse(first.out)
    expect(read(directoryOf(session, id), "prompt.txt").trim()).toBe("You look for bugs.")
    await kit.value('return prompt({ subagent: subagents({})[0], prompt: "three" }).output', "--session", session)
    const [one, two, three] = kit.prompts(agent)
    expect(one).toEqual([expect.stringContaining("You look for bugs."), "one"])
    expect([two, three]).toEqual([["two"], ["three"]])
    expect(read(directoryOf(session, id), "prompt.txt").trim()).toBe("You look for bugs.")
  })

  it("K04 K08 records every frame of both directions, in order, as it was on the wire", async () => {
    const agent = await kit.agent("demo", {
      reply: [{ tool: { toolCallId: "t", title: "look", status: "in_progress" } }, { say: "done" }],
    })
    const { out, err } = await kit.compose('return subagent({ prompt: "one" }).id')
    const log = read(directoryOf(sessionOf(err), JSON.parse(out)), "wire.log")
    let from = 0
    for (const frame of agent.recording.frames) {
      const at = log.indexOf(JSON.stringify(frame.line).slice(1, -1), from)
      const raw = at >= 0 ? at : log.indexOf(frame.line, from)
      expect({ line: frame.line, found: raw >= 0 }).toEqual({ line: frame.line, found: true })
      from = raw
    }
    const numbers = [...log.matchAll(/"seq":(\d+)/g)].map((match) => Number(match[1]))
    expect(numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))).toBe(true)
  })

  it("K16 keeps a closed child's directory, says so, and leaves no temporary file", async () => {
    await kit.agent("demo")
    const { out, err } = await kit.compose('a = subagent({ prompt: "one" })\n_ = close(a)\nreturn a.id')
    const session = sessionOf(err)
    expect(json(directoryOf(session, JSON.parse(out)), "meta.json").status).toBe("closed")
    expect(files(kit.kitHome).filter((file) => /tmp|temp/i.test(file.slice(kit.kitHome.length)))).toEqual([])
  })

  it("K07 is whole before the agent runs: what a kill right after the start leaves can be read", async () => {
    const started = `${kit.folder}/started`
    await kit.agent("demo", { start: [{ touch: started }, { gate: `${kit.folder}/never` }] })
    const running = await kit.start(["compose", "-e", 'return subagent({ prompt: "x", name: "Scout" })'])
    await kit.appears(started, running)
    process.kill(running.pid, "SIGKILL")
    await kit.ended(running)
    const [session = ""] = readdirSync(join(kit.kitHome, "sessions"))
    const [id = ""] = readdirSync(join(kit.kitHome, "sessions", session, "subagents"))
    const directory = directoryOf(session, id)
    expect(json(directory, "meta.json")).toMatchObject({ agent_id: id, status: "starting" })
    expect(read(directory, "prompt.txt")).toBe("")
    expect(existsSync(join(directory, "context.json"))).toBe(true)
    expect(read(directory, "wire.log")).not.toContain("session/prompt")
    const shown = await kit.run(["sessions", "show", session, "--json"])
    expect(shown).toMatchObject({ code: 0 })
  })

  it("keeps directories and files to their owner", async () => {
    await kit.agent("demo")
    await kit.compose('return subagent({ prompt: "one" }).id')
    const base = join(kit.kitHome, "sessions")
    for (const file of files(base)) expect({ file, mode: statSync(file).mode & 0o777 }).toEqual({ file, mode: 0o600 })
    const directories = readdirSync(base, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory())
    for (const entry of directories) expect(statSync(join(entry.parentPath, entry.name)).mode & 0o777).toBe(0o700)
  })
})

describe("kit sessions", () => {
  it("lists those of this directory, shows, renames and deletes them", async () => {
    await kit.agent("demo")
    kit.write("first.rnlt", 'return subagent({ prompt: "one", name: "Scout" }).name')
    const session = sessionOf((await kit.run(["compose", "first.rnlt"])).err)
    const listed = await kit.run(["sessions", "list", "--json"])
    expect(JSON.parse(listed.out)).toMatchObject({
      sessions: [{ id: session, title: "first.rnlt", cwd: kit.dir, origin: "top_level" }],
    })
    kit.write("sub/x", "")
    expect((await kit.run(["sessions", "list"], { cwd: `${kit.dir}/sub` })).out).toBe("")
    expect((await kit.run(["sessions", "list", "--all"], { cwd: `${kit.dir}/sub` })).out).toContain(session)
    expect((await kit.run(["sessions", "rename", session, "A better title"])).code).toBe(0)
    const shown = await kit.run(["sessions", "show", session, "--json"])
    expect(JSON.parse(shown.out)).toMatchObject({
      id: session,
      title: "A better title",
      children: [{ name: "Scout", lifecycle: "idle" }],
      writer: null,
    })
    expect((await kit.run(["sessions", "show", "nope"])).code).toBe(2)
    expect((await kit.run(["sessions", "delete", session])).code).toBe(0)
    expect((await kit.run(["sessions", "list", "--all"])).out).toBe("")
    expect(existsSync(join(kit.kitHome, "sessions", session))).toBe(false)
  })

  it("refuses to delete a session that is open, naming the process that writes it", async () => {
    const working = `${kit.folder}/working`
    await kit.agent("demo", { reply: [{ touch: working }, { gate: `${kit.folder}/go` }, { say: "done" }] })
    const running = await kit.start(["compose", "-e", 'return subagent({ prompt: "x" }).output'])
    await kit.appears(working, running)
    const [session = ""] = readdirSync(join(kit.kitHome, "sessions"))
    const refused = await kit.run(["sessions", "delete", session, "--json"], { mayLeave: true })
    expect(refused.code).toBe(1)
    expect(JSON.parse(refused.out)).toMatchObject({
      error: { code: "LOCKED", message: expect.stringContaining(String(running.pid)) },
    })
    const second = await kit.run(["compose", "-e", "return 1", "--session", session, "--json"], { mayLeave: true })
    expect(second.code).toBe(1)
    expect(JSON.parse(second.out)).toMatchObject({ error: { code: "LOCKED" } })
    await kit.touch(`${kit.folder}/go`)
    expect(await kit.ended(running)).toMatchObject({ code: 0, out: '"done"\n' })
  })

  it("S101 goes on with a session: its children are there, idle, and answer in the same ACP session", async () => {
    const agent = await kit.agent("demo")
    const first = await kit.compose('return subagent({ prompt: "one", name: "Scout" })')
    const session = sessionOf(first.err)
    const { id } = JSON.parse(first.out)
    const listed = await kit.value("return subagents({})", "--session", session)
    expect(listed).toEqual([{ id, name: "Scout", status: "idle", generation: 1, task: "one" }])
    expect(agent.recording.pids).toHaveLength(1)
    const value = await kit.value('return prompt({ subagent: subagents({})[0], prompt: "two" })', "--session", session)
    expect(value).toMatchObject({ id, name: "Scout", generation: 2, output: "echo: two" })
    expect(agent.recording.received).toContain("session/resume")
  })
})
