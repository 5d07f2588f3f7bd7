import { chmodSync } from "node:fs"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
})
afterEach(() => kit.dispose())

/** The failure of starting a child on `acp.demo`. */
const start = () => kit.failure('return subagent({ prompt: "x", harness: "acp.demo", name: "Scout" })')

describe("profiles", () => {
  it("S120 runs the command directly, in the child's directory, with the parent's environment and without a shell", async () => {
    const seen = `${kit.folder}/seen.json`
    const script = kit.write("bin/agent", `#!/bin/sh\nexec "$@"\n`)
    chmodSync(script, 0o755)
    const agent = await kit.agent("demo", { reply: [{ where: true }, { env: "ONLY_IN_PARENT" }] })
    await kit.harness("literal", { command: script, args: [agent.command, ...agent.args, "$HOME; touch", seen] })
    kit.write("sub/x", "")
    const program = 'return subagent({ prompt: "x", harness: "acp.literal", cwd: "sub" }).output'
    const { code, out } = await kit.run(["compose", "-e", program], { env: { ONLY_IN_PARENT: "yes" } })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toContain(`"cwd":"${kit.dir}/sub"`)
    expect(JSON.parse(out)).toContain("yes")
    const started = agent.recording.events.find(({ event }) => event === "start")
    expect(started?.detail).toMatchObject({ cwd: `${kit.dir}/sub`, args: expect.arrayContaining(["$HOME; touch", seen]) })
  })

  it("S120 reports stray lines on stdout, and a start with an answer after them succeeds", async () => {
    await kit.agent("demo", { start: [{ line: "Welcome to the agent!" }] })
    const { code, err, out } = await kit.compose('return subagent({ prompt: "x", harness: "acp.demo" }).output')
    expect({ code, out }).toEqual({ code: 0, out: '"echo: x"\n' })
    expect(err).toContain("ACP harness demo: stray line on stdout: Welcome to the agent!")
  })

  it("S121 S122 refuses a reference that is not acp.<name>, and one that no profile has, with the nearest one", async () => {
    await kit.agent("review")
    const value = await kit.value(`
return for harness in ["review", "acp.", "acp.a.b", "acp.a b", "acp.reviw", "acp.other"] {
  return boundary { return subagent({ prompt: "x", harness: harness }) } catch e { return [e.code, e.message] }
}`)
    for (const [code, message] of value.slice(0, 4)) {
      expect(code).toBe("BAD_HARNESS_REFERENCE")
      expect(message).toContain("ACP harness references must use acp.<name>")
    }
    expect(value[4]).toEqual(["UNKNOWN_HARNESS", expect.stringContaining('unknown ACP harness "acp.reviw"')])
    expect(value[4][1]).toContain('did you mean "acp.review"?')
    expect(value[5]).toEqual(["UNKNOWN_HARNESS", expect.stringContaining('unknown ACP harness "acp.other"')])
  })

  it("S122 refuses a default harness that no profile has, before anything runs", async () => {
    await kit.configure('[subagent]\nharness = "acp.nobody"')
    expect(await kit.failure("return 1")).toMatchObject({
      exit: 2,
      code: "UNKNOWN_HARNESS",
      message: expect.stringContaining('unknown subagent ACP harness "acp.nobody"'),
    })
  })

  it("S129 starts no harness until a program asks for it, and one that wanted a login works after it", async () => {
    const login = `${kit.folder}/logged-in`
    const agent = await kit.agent("demo", { auth: { at: ["session/new"], until: login } })
    expect(await kit.value("return subagents({})")).toEqual([])
    expect((await kit.run(["harness", "list"])).out).toContain("acp.demo")
    expect(agent.recording.pids).toEqual([])
    const value = await kit.value(`
before = boundary { return subagent({ prompt: "x", harness: "acp.demo", name: "Scout" }).name } catch e { return e.code }
left = after before { return subagents({}) }
login = after left { return shell({ command: "touch ${login}" }) }
later = after login { return subagent({ prompt: "x", harness: "acp.demo", name: "Scout" }).name }
return { before, left, later }`)
    expect(value).toEqual({ before: "AUTH_REQUIRED", left: [], later: "Scout" })
  })

  it("S22 fails before the first prompt where the model cannot be chosen, and chooses it where it can", async () => {
    const options = (value: string) => [
      {
        id: "model",
        currentValue: value,
        options: [
          { value: "a", name: "A" },
          { value: "b", name: "B" },
        ],
      },
    ]
    const none = await kit.agent("none")
    const some = await kit.agent("some", {
      options: options("a"),
      optionEffects: [{ id: "model", value: "b", options: options("b") }],
    })
    const value = await kit.value(`
none = boundary { return subagent({ prompt: "x", harness: "acp.none", model: "a" }) } catch e { return [e.code, e.message] }
bad = boundary { return subagent({ prompt: "x", harness: "acp.some", model: "c" }) } catch e { return e.code }
good = after bad { return subagent({ prompt: "x", harness: "acp.some", model: "b" }).output }
return { none, bad, good }`)
    expect(value.none).toEqual([
      "MODEL_REJECTED",
      expect.stringContaining("does not advertise a selectable model session option"),
    ])
    expect(value.bad).toBe("MODEL_REJECTED")
    expect(value.good).toBe("echo: x")
    expect(none.recording.received).not.toContain("session/prompt")
    expect(some.recording.params("session/prompt")).toHaveLength(1)
  })

  it("S140 S141 answers permission requests with what allows most, and elicitations with cancel", async () => {
    await kit.agent("demo", {
      reply: [{ permission: "usual" }, { permission: "once" }, { permission: "reject-only" }, { elicit: "form" }],
    })
    const { output } = await kit.value('return subagent({ prompt: "x", harness: "acp.demo" })')
    const answers = ["permission: allow_always", "permission: yes", "permission: cancelled", "elicitation: cancel"]
    expect(output).toBe(answers.join(""))
  })
})

describe("a harness that cannot be started", () => {
  it("S163 says so with SPAWN", async () => {
    await kit.harness("demo", { command: `${kit.folder}/none`, args: [] })
    expect(await start()).toMatchObject({
      exit: 1,
      code: "SPAWN",
      message: expect.stringContaining("ACP harness spawn failure: ENOENT"),
    })
    kit.write("plain.txt", "no program")
    await kit.harness("text", { command: `${kit.dir}/plain.txt`, args: [] })
    const failure = await kit.failure('return subagent({ prompt: "x", harness: "acp.text" })')
    expect(failure).toMatchObject({ code: "SPAWN", message: expect.stringContaining("EACCES") })
  })

  it("S163 names what a process that ends at once left: its status, and stderr under its name", async () => {
    await kit.agent("demo", { start: [{ stderr: "no licence found" }, { exit: 3 }] })
    const failure = await start()
    expect(failure).toMatchObject({
      exit: 1,
      code: "EXITED",
      message: expect.stringContaining("nested agent exited during startup"),
      details: { exitCode: 3, stderr: expect.stringContaining("no licence found") },
    })
    expect(failure.err).toContain("ACP harness demo: no licence found")
  })

  it("S163 gives up on silence and on nonsense after the start-up time, and leaves nothing running", async () => {
    await kit.configure("[limits]\nstartup_seconds = 0.4")
    await kit.agent("demo", { on: { initialize: { silent: true } }, deaf: ["eof", "SIGTERM"] })
    await kit.agent("nonsense", {
      start: [{ line: "hello" }, { line: '{"jsonrpc":"2.0"}' }],
      on: { initialize: { silent: true } },
    })
    expect(await start()).toMatchObject({
      exit: 1,
      code: "HANDSHAKE_TIMEOUT",
      message: expect.stringContaining("ACP harness handshake timeout: no response within 0.4 seconds"),
    })
    expect(await kit.running()).toEqual([])
    const nonsense = await kit.failure('return subagent({ prompt: "x", harness: "acp.nonsense" })')
    expect(nonsense).toMatchObject({ code: "HANDSHAKE_TIMEOUT", details: { stray: ["hello", '{"jsonrpc":"2.0"}'] } })
  })

  it.runIf(process.env.KIT_TEST_LONG)(
    "S162 waits for a silent harness for 30 seconds and no longer",
    async () => {
      await kit.agent("demo", { on: { initialize: { silent: true } } })
      const began = performance.now()
      expect(await start()).toMatchObject({ code: "HANDSHAKE_TIMEOUT", message: expect.stringContaining("within 30 seconds") })
      expect(Math.round((performance.now() - began) / 1000)).toBeGreaterThanOrEqual(30)
      expect(performance.now() - began).toBeLessThan(36_000)
    },
    60_000,
  )

  it("S163 reports an answer that breaks the protocol", async () => {
    await kit.agent("demo", { on: { "session/new": { error: { code: -32603, message: "no room" } } } })
    const failure = await start()
    expect(failure).toMatchObject({
      code: "HANDSHAKE_FAILED",
      message: expect.stringContaining(
        "ACP harness protocol handshake failure: the child answered session/new with error -32603: no room",
      ),
    })
    await kit.agent("other", { otherVersion: { answer: 7 }, versions: [7] })
    const other = await kit.failure('return subagent({ prompt: "x", harness: "acp.other" })')
    expect(other).toMatchObject({ code: "UNSUPPORTED_VERSION" })
  })

  it("S163 reports a process that dies in a turn", async () => {
    await kit.agent("demo", { reply: [{ say: "half" }, { exit: 1, abrupt: true }] })
    expect(await start()).toMatchObject({
      exit: 1,
      message: expect.stringContaining("nested agent process exited without a response"),
      uncertain: true,
    })
  })

  it("S123 names the login methods of a harness that wants a login, and nothing that it said", async () => {
    await kit.agent("demo", {
      authMethods: [
        { id: "oauth", name: "OAuth" },
        { id: "api-key", name: "Key" },
      ],
      auth: { at: ["session/new"], message: "token abc123 expired", data: { url: "https://secret.example" } },
    })
    const failure = await start()
    expect(failure).toMatchObject({ code: "AUTH_REQUIRED", details: { methodIds: ["api-key", "oauth"] } })
    expect(failure.message).toContain('methodId: "api-key", "oauth"')
    expect(JSON.stringify(failure)).not.toMatch(/abc123|secret\.example/)
  })

  it("S43 S156 leaves no child, no name and no place behind", async () => {
    await kit.agent("demo", { on: { "session/new": { call: 1, error: { code: -32603, message: "no" } } } })
    await kit.agent("fine")
    const value = await kit.value(`
failed = boundary { return subagent({ prompt: "x", harness: "acp.demo", name: "Scout" }).id } catch e { return e.code }
again = after failed { return subagent({ prompt: "x", harness: "acp.fine", name: "Scout" }).name }
return { failed, again, live: after again { return subagents({}) } }`)
    expect(value).toMatchObject({ failed: "HANDSHAKE_FAILED", again: "Scout", live: [{ name: "Scout" }] })
  })
})

describe("kit harness", () => {
  it("S90 lists the built-in harness first, and it is the default unless the configuration names another", async () => {
    const builtIn = await kit.run(["harness", "list", "--json"])
    expect(JSON.parse(builtIn.out)).toMatchObject({ harnesses: [{ reference: "acp.kit", default: true }] })
    await kit.configure('[subagent]\nharness = "acp.demo"')
    await kit.agent("demo")
    expect((await kit.run(["harness", "list"])).out).toMatch(
      /^ +acp\.kit +built in +kit acp --protocol-version 2\n\* +acp\.demo +configured +\//,
    )
    const listed = await kit.run(["harness", "list", "--json"])
    expect(JSON.parse(listed.out)).toMatchObject({
      harnesses: [
        { reference: "acp.kit", default: false },
        { reference: "acp.demo", default: true, command: process.execPath },
      ],
    })
  })

  it("checks one: what was negotiated, how long each step took, and nothing left running", async () => {
    const agent = await kit.agent("demo", { options: [{ id: "model", currentValue: "a", options: [{ value: "a", name: "A" }] }] })
    const { code, out } = await kit.run(["harness", "check", "demo", "--json"])
    expect(code).toBe(0)
    const report = JSON.parse(out)
    expect(report).toMatchObject({
      reference: "acp.demo",
      protocolVersion: 2,
      agent: { name: "scripted-agent" },
      capabilities: { image: true, fork: true, steer: true },
      initialized: { protocolVersion: 2 },
    })
    expect(report.configOptions).toHaveLength(1)
    const steps = report.steps.map(({ name }: { name: string }) => name)
    expect(steps.slice(0, 3)).toEqual(["spawn", "initialize", "session/new"])
    expect(steps.at(-1)).toBe("stop")
    for (const { ms, ok } of report.steps) expect([ms >= 0, ok]).toEqual([true, true])
    expect(report).toMatchObject({ offered: [2], opened: { sessionId: expect.any(String) }, unused: [] })
    expect(agent.recording.received).not.toContain("session/prompt")
    expect(await kit.running()).toEqual([])
  })

  it("checks one that speaks version 1 only, and one that has nothing but text", async () => {
    const none = {
      image: false,
      audio: false,
      embeddedContext: false,
      load: false,
      list: false,
      resume: false,
      close: false,
      delete: false,
      fork: false,
    }
    await kit.agent("old", { versions: [1], capabilities: { ...none, inject: false, additionalDirectories: false } })
    const { out } = await kit.run(["harness", "check", "acp.old"])
    expect(out).toMatch(/protocol\s+v1/)
    expect(out).toMatch(/cannot\s+image/)
  })

  it("shows how an agreement came about, and values that no double holds", async () => {
    const options = [
      {
        id: "model",
        currentValue: "a",
        options: [
          { value: "a", name: "A" },
          { value: "b", name: "B" },
        ],
      },
    ]
    await kit.agent("late", { versions: [1], otherVersion: "refuse-and-exit", options })
    const { out } = await kit.run(["harness", "check", "late"])
    expect(out).toMatch(/protocol\s+v1, after v2 was rejected/)
    expect(out).toMatch(/options\s+model = "a" of a b/)
    expect(out).toMatch(/besides\s+sessionCapabilities\.resume/)
    const noticed = '{"sessionUpdate":"config_option_update","configOptions":[{"id":"n","currentValue":12345678901234567890}]}'
    const line = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"one","update":${noticed}}}`
    await kit.agent("exact", { sessionIds: ["one"], on: { "session/new": { before: [{ line }] } } })
    expect((await kit.run(["harness", "check", "exact"])).out).toMatch(/options\s+n = 12345678901234567890/)
  })

  it("says how long each step took up to the one that failed", async () => {
    await kit.agent("refuses", { on: { "session/new": { error: { code: -32603, message: "no" } } } })
    const { out } = await kit.run(["harness", "check", "refuses", "--json"])
    const { steps } = JSON.parse(out).error
    expect(steps.map(({ name, ok }: { name: string; ok: boolean }) => [name, ok])).toEqual([
      ["spawn", true],
      ["initialize", true],
      ["session/new", false],
    ])
    await kit.agent("mute", { on: { initialize: { silent: true } } })
    await kit.configure("[limits]\nstartup_seconds = 1")
    const { err } = await kit.run(["harness", "check", "mute"])
    expect(err).toMatch(/time\s+spawn [\d.]+ ms.* \(failed\)/)
  })

  it("leaves with 1 and the reason where it cannot be used, with 2 where no profile has the name", async () => {
    await kit.agent("broken", { start: [{ stderr: "no licence" }, { exit: 9 }] })
    await kit.agent("fine")
    const broken = await kit.run(["harness", "check", "broken", "--json"])
    expect(broken.code).toBe(1)
    expect(JSON.parse(broken.out)).toMatchObject({
      error: { code: "EXITED", reference: "acp.broken", details: { exitCode: 9 } },
    })
    const text = await kit.run(["harness", "check", "broken"])
    expect(text.err).toContain("nested agent exited during startup")
    expect(text.err.match(/no licence/g)).toHaveLength(1)
    const all = await kit.run(["harness", "check", "--json"])
    expect(all.code).toBe(1)
    expect(
      JSON.parse(all.out).harnesses.map((row: { reference: string; error?: { code: string } }) => [
        row.reference,
        row.error?.code,
      ]),
    ).toEqual([
      ["acp.kit", undefined],
      ["acp.broken", "EXITED"],
      ["acp.fine", undefined],
    ])
    const unknown = await kit.run(["harness", "check", "fin"])
    expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('unknown ACP harness "acp.fin"') })
    expect(unknown.err).toContain('did you mean "acp.fine"?')
  })
})
