import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
})
afterEach(() => kit.dispose())

const program = (source: string, info = "") => `\`\`\`runlet ${info}\n${source}\n\`\`\`\n`
const lines = (err: string) => err.trimEnd().split("\n")
const sessionOf = (err: string): string => /session: (\S+)\n$/.exec(err)?.[1] ?? ""

/** Gives the scripted model rules. */
const rules = (...given: ReadonlyArray<{ readonly match: string; readonly steps: ReadonlyArray<unknown> }>) => {
  kit.writeConfig('script = "rules.json"')
  kit.write("../kit-home/rules.json", JSON.stringify({ version: 1, rules: given }))
}

describe("kit prompt", () => {
  it("prints the answer on stdout and the session as the last line of stderr, and says that no real model answered", async () => {
    const { code, out, err } = await kit.run(["prompt", "hello"])
    expect({ code, out }).toEqual({ code: 0, out: "echo: hello\n" })
    expect(lines(err)).toEqual([expect.stringContaining("scripted model"), expect.stringMatching(/^session: \S+$/)])
    expect((await kit.run(["prompt", "-"], { input: "from a pipe" })).out).toBe("echo: from a pipe\n")
  })

  it("goes on with a session, in its directory, beside what compose ran in it", async () => {
    kit.write("sub/here.txt", "inside")
    const where = program('return shell({ command: "pwd" }).stdout')
    const session = sessionOf((await kit.run(["prompt", "one", "--root", "sub"])).err)
    const second = await kit.run(["prompt", where, "--session", session])
    expect(second).toMatchObject({ code: 0, out: `${join(kit.dir, "sub")}\n` })
    expect(sessionOf(second.err)).toBe(session)
    const composed = sessionOf((await kit.compose("return 1")).err)
    expect(await kit.run(["prompt", "two", "--session", composed])).toMatchObject({ code: 0, out: "echo: two\n" })
    const [newest, older] = JSON.parse((await kit.run(["sessions", "list", "--all", "--json"])).out).sessions
    expect([newest.id, older]).toEqual([
      composed,
      expect.objectContaining({ id: session, title: "one", cwd: join(kit.dir, "sub") }),
    ])
  })

  it("remembers what the call chose for the session", async () => {
    const session = sessionOf((await kit.run(["prompt", "one", "--reasoning-effort", "high"])).err)
    const transcript = readFileSync(join(kit.dir, "../kit-home/sessions", session, "transcript.jsonl"), "utf8")
    expect(transcript).toContain('{"type":"selection","model":"scripted","effort":"high"}')
    expect(await kit.run(["prompt", "two", "--session", session])).toMatchObject({ code: 0, out: "echo: two\n" })
  })

  it("shows each program on stderr as it runs, by its intent, and how it ended; its children are the session's", async () => {
    await kit.agent("demo")
    const text = program('return subagent({ prompt: "hi", harness: "acp.demo" }).output', 'intent="ask the demo"')
    const { code, out, err } = await kit.run(["prompt", text + program('return fail("NOPE", "it broke")')])
    expect(code).toBe(0)
    expect(out).toBe("error NOPE: it broke\n")
    expect(lines(err).slice(1, -1)).toEqual(
      expect.arrayContaining([
        "compose: ask the demo",
        "  subagent",
        expect.stringMatching(/^ {2}subagent .+: done, [\d.]+s$/),
        expect.stringMatching(/^compose: ask the demo: done, [\d.]+s$/),
        expect.stringMatching(/^compose: return fail\("NOPE", "it broke"\): failed: NOPE it broke, [\d.]+s$/),
      ]),
    )
    const [agent] = JSON.parse((await kit.run(["subagents", "list", "--json"])).out).subagents
    expect(agent).toMatchObject({ session: sessionOf(err), harness: "acp.demo", status: "idle" })
  })

  it("streams: what the model said stands on stdout while its program still runs", async () => {
    const gate = `${kit.folder}/gate`
    const script = `return shell({ command: "until test -e ${gate}; do sleep 0.05; done; echo open" }).stdout`
    rules({ match: "go", steps: [{ say: "first this" }, { compose: { script } }, { say: "then {{result}}" }] })
    const running = await kit.start(["prompt", "go"])
    await Effect.runPromise(running.out.until("first this"))
    await Effect.runPromise(running.err.until("compose: return shell"))
    expect(running.out.text).not.toContain("then")
    await kit.touch(gate)
    expect(await kit.ended(running)).toMatchObject({ code: 0, out: "first this\nthen open\n" })
  })

  it("ends only when what goes on in the background has ended, and been answered", async () => {
    const { code, out, err } = await kit.run([
      "prompt",
      program('return shell({ command: "echo late" }).stdout', "background=true"),
    ])
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/late\n$/) })
    expect(err).toContain("goes on in the background")
    expect(err).toMatch(/: done, [\d.]+s\n/)
  })

  it("prints one JSON object with --json, and nothing before it", async () => {
    const { code, out, err } = await kit.run(["prompt", "hello", "--json"])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({ session: sessionOf(err), answer: "echo: hello", stop: "end_turn" })
    expect(lines(out)).toHaveLength(1)
  })

  it("leaves with 0 where the answer was cut off, and with 1 where the model refused or failed, and says which", async () => {
    rules(
      { match: "long", steps: [{ say: "half" }, { stop: "max_tokens" }] },
      { match: "never", steps: [{ stop: "refusal" }] },
      { match: "broken", steps: [{ fail: "no such luck" }] },
    )
    expect(await kit.run(["prompt", "long"])).toMatchObject({ code: 0, out: "half\n", err: expect.stringContaining("cut off") })
    for (const [prompt, code, message] of [
      ["never", "REFUSED", "the model refused the prompt"],
      ["broken", "TURN_FAILED", "no such luck"],
    ] as const) {
      const ended = await kit.run(["prompt", prompt, "--json"])
      expect(ended).toMatchObject({ code: 1, err: expect.stringMatching(/\nsession: \S+\n$/) })
      expect(JSON.parse(ended.out).error).toMatchObject({ code, message: expect.stringContaining(message) })
    }
  })

  it("takes model and effort for the session's later turns too, and refuses unknown ones with those there are", async () => {
    const { err } = await kit.run(["prompt", "one", "--reasoning-effort", "low", "--model", "scripted"])
    const session = sessionOf(err)
    expect(await kit.run(["prompt", "two", "--session", session, "--reasoning-effort", "high"])).toMatchObject({ code: 0 })
    const transcript = join(kit.kitHome, "sessions", session, "transcript.jsonl")
    expect(readFileSync(transcript, "utf8")).toMatch(/"effort":"high"/)
    const calls: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
      [["--model", "nope"], "valid values: scripted"],
      [["--session", session, "--model", "nope"], "valid values: scripted"],
      [["--provider", "nope"], "there is: scripted"],
      [["--reasoning-effort", "hgh"], "is one of default, low, medium, high"],
      [["--modle", "x"], 'did you mean "--model"?'],
      [["--session", "01a22eed-690b-70fc-b8bf-000000000000"], "does not exist"],
      [["--root", "nowhere"], "could not open working directory"],
      [["--add-dir", "nowhere"], "could not open additional directory"],
    ]
    const before = readdirSync(join(kit.kitHome, "sessions"))
    const outcomes = await Promise.all(calls.map(([flags]) => kit.run(["prompt", "x", ...flags])))
    for (const [index, [flags, text]] of calls.entries()) {
      expect({ flags, ...outcomes[index] }).toMatchObject({ flags, code: 2, out: "", err: expect.stringContaining(text) })
    }
    expect(await kit.run(["prompt", " "])).toMatchObject({ code: 2, err: expect.stringContaining("the prompt is empty") })
    expect(readdirSync(join(kit.kitHome, "sessions"))).toEqual(before)
  })

  it("says why the script of the scripted model cannot be used", async () => {
    kit.writeConfig('script = "rules.json"')
    const rules = join(kit.kitHome, "rules.json")
    const refused = async () => (await kit.run(["prompt", "hi"])).err
    expect(await refused()).toBe(
      `kit: the script of the scripted model: could not read ${rules}: there is no such file or directory\n`,
    )
    writeFileSync(rules, "{")
    expect(await refused()).toContain(`kit: the script of the scripted model: could not use ${rules}: `)
  })

  it("S170 gives the agent's children the directories of --add-dir, and those of the session later on", async () => {
    const agent = await kit.agent("demo")
    kit.write("more/a.txt", "")
    const start = program('return subagent({ prompt: "hi", harness: "acp.demo" }).output')
    const { err } = await kit.run(["prompt", start, "--add-dir", "more"])
    await kit.run(["prompt", start, "--session", sessionOf(err)])
    const more = join(kit.dir, "more")
    expect(agent.recording.params("session/new").map((params) => params.additionalDirectories)).toEqual([[more], [more]])
  })

  it("S150 takes Ctrl-C into the program and its children: 130, the turn is over, the session can go on", async () => {
    const at = `${kit.folder}/at`
    const agent = await kit.agent("demo", { reply: [{ touch: at }, { awaitCancel: true }] })
    const running = await kit.start(["prompt", program('return subagent({ prompt: "hi", harness: "acp.demo" }).output')])
    await kit.appears(at, running)
    process.kill(running.pid, "SIGINT")
    const ended = await kit.ended(running)
    expect(ended).toMatchObject({ code: 130, left: [] })
    expect(lines(ended.err).slice(-2)).toEqual(["kit: cancelled", expect.stringMatching(/^session: /)])
    expect(agent.recording.received).toContain("session/cancel")
    const next = await kit.run(["prompt", "still there?", "--session", sessionOf(ended.err)])
    expect(next).toMatchObject({ code: 0, out: "echo: still there?\n" })
  })

  it("names the process that has the session open, and leaves with 1", async () => {
    const at = `${kit.folder}/at`
    const gate = `${kit.folder}/gate`
    await kit.agent("demo", { reply: [{ touch: at }, { gate }, { say: "ok" }] })
    const running = await kit.start(["prompt", program('return subagent({ prompt: "hi", harness: "acp.demo" }).output')])
    await kit.appears(at, running)
    const [{ id }] = JSON.parse((await kit.run(["sessions", "list", "--json"])).out).sessions
    const locked = await kit.run(["prompt", "x", "--session", id])
    expect(locked).toMatchObject({ code: 1, out: "", err: expect.stringContaining(`process ${running.pid}`) })
    await kit.touch(gate)
    expect(await kit.ended(running)).toMatchObject({ code: 0, out: "ok\n" })
  })
})
