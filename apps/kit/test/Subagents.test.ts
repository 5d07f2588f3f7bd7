import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Effect from "effect/Effect"
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
    expect(JSON.parse(repaired.out).findings).toMatchObject([
      { path: join(directory, "meta.json"), severity: "warning" },
      {
        path: log,
        severity: "warning",
        message: expect.stringMatching(/cannot be read and are skipped; a copy is in .*quarantine/),
      },
    ])
    expect(await kit.run(["subagents", "verify", id])).toMatchObject({ code: 0 })
    expect(readdirSync(aside).map((file) => readFileSync(join(aside, file), "utf8"))).toContainEqual(
      expect.stringContaining("garbage"),
    )
    const [mended] = JSON.parse((await kit.run(["subagents", "list", "--json"])).out).subagents
    expect(mended).toMatchObject({ id, status: "interrupted" })
    expect(mended.problem).toBeUndefined()
    expect(await kit.run(["subagents", "repair", id])).toMatchObject({ code: 0, out: "nothing to mend\n" })
  })

  it("verifies every agent that is whole beside one that is not: a link, and a log that is gone", async () => {
    await kit.agent("demo")
    const { out, err } = await kit.compose(
      'return [subagent({ prompt: "1" }).id, subagent({ prompt: "2" }).id, subagent({ prompt: "3" }).id]',
    )
    const [whole, linked, emptied] = JSON.parse(out)
    const directory = join(kit.kitHome, "sessions", sessionOf(err), "subagents")
    renameSync(join(directory, linked), join(kit.folder, "moved"))
    symlinkSync(join(kit.folder, "moved"), join(directory, linked))
    rmSync(join(directory, emptied, "wire.log"))
    const rows = (await kit.run(["subagents", "list"])).out
    expect(rows).toMatch(new RegExp(`${linked} .*damaged`))
    const verified = await kit.run(["subagents", "verify", "--json"])
    expect(verified.code).toBe(1)
    const found = JSON.parse(verified.out).subagents as ReadonlyArray<{
      id: string
      findings: ReadonlyArray<{ severity: string }>
    }>
    const broken = found.filter(({ findings }) => findings.some(({ severity }) => severity === "error")).map(({ id }) => id)
    expect(found.map(({ id }) => id).sort()).toEqual([whole, linked, emptied].sort())
    expect(broken.sort()).toEqual([linked, emptied].sort())
    expect(await kit.run(["subagents", "verify", emptied])).toMatchObject({
      code: 1,
      out: expect.stringContaining("records are lost"),
    })
  })

  it("K11 deletes an agent with all its files", async () => {
    await kit.agent("demo")
    const { out, err } = await kit.compose('return subagent({ prompt: "one" }).id')
    const directory = join(kit.kitHome, "sessions", sessionOf(err), "subagents")
    expect(await kit.run(["subagents", "delete", JSON.parse(out)])).toMatchObject({ code: 0 })
    expect(readdirSync(directory)).toEqual([])
  })
})

describe("kit subagents log --follow", () => {
  it("K04 goes on with what another process writes, each record once, and ends when that process does", async () => {
    const [working, gate] = [`${kit.folder}/working`, `${kit.folder}/gate`]
    const agent = await kit.agent("demo", { reply: [{ say: "so far" }, { touch: working }, { gate }, { say: "done" }] })
    const composing = await kit.start(["compose", "-e", 'return subagent({ prompt: "one" }).id'])
    await kit.appears(working, composing)
    const [{ id }] = JSON.parse((await kit.run(["subagents", "list", "--json"])).out).subagents
    const following = await kit.start(["subagents", "log", id, "--follow", "--kind", "agent_message_chunk"])
    const whole = await kit.start(["subagents", "log", id, "-n", "1", "-f", "--json"])
    await Effect.runPromise(following.out.until("so far"))
    expect(following.out.text).not.toContain("done")
    await kit.touch(gate)
    expect(await kit.ended(composing)).toMatchObject({ code: 0 })
    expect(await kit.ended(following)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/← agent_message_chunk so far\n.*← agent_message_chunk done\n$/),
      err: "",
    })
    const seqs = (await kit.ended(whole)).out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).seq)
    expect(seqs).toEqual(seqs.map((_, index) => seqs[0] + index))
    const all = (await kit.run(["subagents", "log", id, "--follow", "--json"])).out.trimEnd().split("\n")
    expect(JSON.parse(all.at(-1) ?? "").seq).toBe(seqs.at(-1))
    expect(agent.recording.pids).toHaveLength(1)
  })
})

describe("kit subagents log --follow into a pipe", () => {
  it("ends at the next record once nobody reads any more, while the agent works on", async () => {
    const [working, more, gate] = ["working", "more", "gate"].map((name) => `${kit.folder}/${name}`) as [string, string, string]
    await kit.agent("demo", {
      reply: [{ say: "one" }, { touch: working }, { gate: more }, { say: "two" }, { gate }, { say: "three" }],
    })
    const composing = await kit.start(["compose", "-e", 'return subagent({ prompt: "go" }).output'])
    await kit.appears(working, composing)
    const [{ id }] = JSON.parse((await kit.run(["subagents", "list", "--json"])).out).subagents
    const read = `${kit.folder}/read`
    const log = `kit subagents log ${id} --follow --kind agent_message_chunk`
    const following = kit.shell(`(${log}; echo "left with $?" >&2) | (head -n 1; exec >&-; touch ${read})`)
    await kit.appears(read, composing)
    await kit.touch(more)
    expect(await following.ended).toEqual({
      code: 0,
      out: expect.stringMatching(/agent_message_chunk one\n$/),
      err: "left with 0\n",
    })
    await kit.touch(gate)
    expect(await kit.ended(composing)).toMatchObject({ code: 0, out: '"onetwothree"\n' })
  })
})

describe("kit subagents replay", () => {
  it("K04 goes through the wire from any record, with its number, at the pace that is asked for", async () => {
    await kit.agent("demo")
    const id = await kit.value('return subagent({ prompt: "one" }).id')
    const whole = await kit.run(["subagents", "replay", id])
    const lines = whole.out.trimEnd().split("\n")
    expect(whole).toMatchObject({ code: 0, err: `${lines.length} records; nothing is missing\n` })
    expect(lines.map((line) => Number.parseInt(line, 10))).toEqual(lines.map((_, index) => index + 1))
    expect(await kit.run(["subagents", "replay", id, "--from", "3", "--to", "4"])).toMatchObject({
      out: `${lines[2]}\n${lines[3]}\n`,
      err: "2 records; nothing is missing\n",
    })
    expect((await kit.run(["subagents", "replay", id, "--speed", "1000"])).out).toBe(whole.out)
    const records = (await kit.run(["subagents", "replay", id, "--json"])).out
    expect(records).toBe((await kit.run(["subagents", "log", id, "--json"])).out)
    expect(await kit.run(["subagents", "replay", id, "--from", "x"])).toMatchObject({ code: 2 })
  })

  it("shows what can be read of a damaged log, where it cannot, and leaves with 1", async () => {
    await kit.agent("demo")
    const { out, err } = await kit.compose('return subagent({ prompt: "one" }).id')
    const id = JSON.parse(out)
    const log = join(kit.kitHome, "sessions", sessionOf(err), "subagents", id, "wire.log")
    const lines = readFileSync(log, "utf8").split("\n")
    lines[3] = `x${lines[3]}`
    writeFileSync(log, lines.join("\n"))
    const replayed = await kit.run(["subagents", "replay", id])
    expect(replayed).toMatchObject({ code: 1, err: expect.stringContaining("1 gaps; mend what can be") })
    expect(replayed.out).toContain("lines 4 to 4 cannot be read")
    expect(replayed.out).toMatch(/\n {5}5 {2}/)
  })
})

describe("kit subagents orphans", () => {
  it("K12 lists what no session vouches for, and neither adopts nor drops it", async () => {
    await kit.agent("demo")
    const { out, err } = await kit.compose('return [subagent({ prompt: "one" }).id, subagent({ prompt: "two" }).id]')
    expect(await kit.run(["subagents", "orphans"])).toMatchObject({ code: 0, out: "" })
    const [whole, lost] = JSON.parse(out)
    const directory = join(kit.kitHome, "sessions", sessionOf(err), "subagents")
    rmSync(join(directory, lost, "meta.json"))
    const orphan = { session: sessionOf(err), id: lost, path: join(directory, lost), why: "no_metadata" }
    const asJson = await kit.run(["subagents", "orphans", "--json"])
    expect(JSON.parse(asJson.out).orphans).toEqual([expect.objectContaining(orphan)])
    expect((await kit.run(["subagents", "orphans"])).out).toMatch(new RegExp(`^no_metadata +\\S+${lost} +it has no meta.json\n$`))
    expect(readdirSync(directory).toSorted()).toEqual([whole, lost].toSorted())
  })
})

describe("kit subagents migrate", () => {
  it("K10 moves an agent to another session, which goes on with it; a copy is only a record", async () => {
    const agent = await kit.agent("demo")
    const first = await kit.compose('return subagent({ prompt: "one", name: "Scout" }).id')
    const id = JSON.parse(first.out)
    const [from, to] = [sessionOf(first.err), sessionOf((await kit.compose("return 1")).err)]
    const copied = await kit.run(["subagents", "migrate", id, "--to", to, "--copy", "--json"])
    expect(JSON.parse(copied.out)).toEqual({ id: expect.stringMatching(/^s-/), from, to, mode: "copy" })
    const copy = JSON.parse(copied.out).id
    expect((await kit.run(["subagents", "list", "--session", to])).out).toMatch(new RegExp(`${copy} +— +closed `))
    const ran = await kit.run(["subagents", "run", copy, "two"])
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining(`is retired: it is a copy of ${id}, to be looked at`) })
    expect(agent.recording.pids).toHaveLength(1)
    expect(await kit.run(["subagents", "show", id, "--session", to, "--json"])).toMatchObject({ code: 2 })
    const moved = await kit.run(["subagents", "migrate", id, "--to", to])
    expect(moved).toMatchObject({ code: 0, out: `${id}\n`, err: "" })
    const again = 'return prompt({ subagent: subagents({})[0], prompt: "two" })'
    expect(await kit.value(again, "--session", to)).toMatchObject({ id, name: "Scout", generation: 2, output: "echo: two" })
    expect(await kit.value("return subagents({})", "--session", from)).toEqual([])
    expect((await kit.run(["subagents", "log", id])).out).toContain("→ session/prompt one")
    const repeated = await kit.run(["subagents", "migrate", id, "--to", to])
    expect(repeated).toMatchObject({ code: 2, err: `kit: subagent ${id} is in session ${to} already\n` })
    const verified = await kit.run(["subagents", "verify", "--json"])
    expect(verified.code).toBe(0)
    expect(JSON.parse(verified.out).subagents).toHaveLength(2)
  })

  it("refuses where the call is wrong or a session is open, and changes nothing", async () => {
    const gate = `${kit.folder}/gate`
    const agent = await kit.agent("demo", { replies: [{ match: "wait", script: [{ touch: `${kit.folder}/at` }, { gate }] }] })
    const first = await kit.compose('return subagent({ prompt: "one" }).id')
    const [id, from] = [JSON.parse(first.out), sessionOf(first.err)]
    const refused = async (...args: ReadonlyArray<string>) => {
      const { code, out } = await kit.run(["subagents", "migrate", ...args, "--json"])
      return [code, JSON.parse(out).error.code]
    }
    expect(await refused(id)).toEqual([2, "USAGE"])
    expect(await refused(id, "--to", "01a22eed-690b-70fc-b8bf-000000000000")).toEqual([2, "NOT_FOUND"])
    expect(await refused(id, "--session", from, "--to", from)).toEqual([2, "INVALID"])
    const composing = await kit.start(["compose", "-e", 'return subagent({ prompt: "wait" }).output'])
    await kit.appears(`${kit.folder}/at`, composing)
    const sessions = JSON.parse((await kit.run(["sessions", "list", "--json"])).out).sessions
    const to = sessions.find((session: { readonly id: string }) => session.id !== from).id
    expect(await refused(id, "--to", to)).toEqual([1, "LOCKED"])
    await kit.touch(gate)
    expect(await kit.ended(composing)).toMatchObject({ code: 0 })
    expect(JSON.parse((await kit.run(["subagents", "show", id, "--json"])).out)).toMatchObject({ session: from })
    expect(agent.recording.pids).toHaveLength(2)
  })
})

describe("kit subagents run", () => {
  it("K09 continues a conversation by one turn, again and again, and the session goes on from there", async () => {
    const agent = await kit.agent("demo")
    const first = await kit.compose('return subagent({ prompt: "one", name: "Scout" }).id')
    const [id, session] = [JSON.parse(first.out), sessionOf(first.err)]
    const ran = await kit.run(["subagents", "run", id, "two"])
    expect(ran).toMatchObject({ code: 0, out: "echo: two\n" })
    expect(ran.err).toMatch(/Scout.*working/)
    expect(ran.err.trimEnd().split("\n").at(-1)).toBe(`session: ${session}`)
    const third = await kit.run(["subagents", "run", id, "-", "--session", session, "--json"], { input: "th\nree" })
    expect(JSON.parse(third.out)).toMatchObject({ id, name: "Scout", generation: 3, output: "echo: th\nree" })
    expect(await kit.value("return subagents({})[0].generation", "--session", session)).toBe(3)
    const empty = await kit.run(["subagents", "run", id, "-"], { input: " \n" })
    expect(empty).toMatchObject({ code: 2, err: "kit: the prompt is empty\n" })
    expect(kit.prompts(agent)).toEqual([["one"], ["two"], ["th\nree"]])
    expect(agent.recording.params("session/resume")).toHaveLength(2)
  })

  it("K09 K10 refuses an agent that is closed, unknown or another session's, with its code, and starts nothing", async () => {
    const agent = await kit.agent("demo")
    const first = await kit.compose('a = subagent({ prompt: "one" })\n_ = close(a)\nreturn a.id')
    const other = sessionOf((await kit.compose("return 1")).err)
    const id = JSON.parse(first.out)
    const refused = async (...args: ReadonlyArray<string>) => {
      const { code, out } = await kit.run(["subagents", "run", ...args, "--json"])
      return [code, JSON.parse(out).error.code]
    }
    expect(await refused(id, "two")).toEqual([1, "SUBAGENT_RETIRED"])
    expect(await refused(`s-${other}`, "two")).toEqual([2, "NOT_FOUND"])
    expect(await refused(id, "two", "--session", other)).toEqual([2, "FOREIGN_SESSION"])
    expect(agent.recording.pids).toHaveLength(1)
  })

  it("S150 takes an interruption into the turn: 130, the agent is told, and nothing runs on", async () => {
    const at = `${kit.folder}/at`
    const agent = await kit.agent("demo", {
      replies: [{ match: "wait", script: [{ touch: at }, { awaitCancel: true }] }],
    })
    const id = await kit.value('return subagent({ prompt: "one" }).id')
    const running = await kit.start(["subagents", "run", id, "wait"])
    await kit.appears(at, running)
    process.kill(running.pid, "SIGINT")
    const ended = await kit.ended(running)
    expect(ended).toMatchObject({ code: 130, out: "", left: [] })
    expect(ended.err).toMatch(/kit: cancelled\nsession: \S+\n$/)
    expect(agent.recording.received).toContain("session/cancel")
  })
})

describe("kit doctor", () => {
  it("names each agent definition that could not be used, with its file and why", async () => {
    const file = (name: string) => join(kit.kitHome, "agents", name)
    kit.writeConfig("")
    mkdirSync(join(kit.kitHome, "agents"), { recursive: true })
    writeFileSync(file("good.md"), "---\nharness: acp.kit\n---\nYou are careful.\n")
    expect((await kit.run(["doctor"])).out).toMatch(/ok +agents +1 can be used\n/)
    writeFileSync(file("list.md"), "---\nsecrets: all\n---\n")
    writeFileSync(file("lost.md"), "---\nharness: acp.lost\n---\n")
    writeFileSync(file("latin.md"), Uint8Array.of(0x61, 0xe9))
    writeFileSync(file("no name.md"), "x")
    const { code, out } = await kit.run(["doctor", "--json"])
    expect(code).toBe(1)
    const found: ReadonlyArray<{ readonly what: string; readonly detail: string }> = JSON.parse(out).findings
    expect(found.filter(({ what }) => what === "agents")).toMatchObject([{ state: "ok", detail: "1 can be used" }])
    expect(found.filter(({ what }) => what === "agent").map(({ detail }) => detail)).toEqual([
      `${file("no name.md")}: no program can name it; a name has 1 to 64 of A-Z a-z 0-9 . _ -`,
      `could not read agent definition ${file("latin.md")}: it is not UTF-8: the byte at offset 1 belongs to no character`,
      `agent definition ${file("list.md")}, line 2: secrets must be a list of names`,
      `${file("lost.md")}: unknown ACP harness "acp.lost"`,
    ])
  })

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
