import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
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

/** From now on no file of the process grows beyond so many bytes, which its writes notice like a full disk. */
const limit = (pid: number, bytes: number | "unlimited"): void => {
  const { status, stderr } = spawnSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:unlimited`])
  if (status !== 0) throw new Error(`prlimit: ${stderr}`)
}

const sessionOf = (err: string): string => /session: (\S+)/.exec(err)?.[1] ?? ""

describe.runIf(process.platform === "linux")("a full disk", () => {
  it("is told by kit compose the moment it is met, and when it is over; no frame is lost and the program goes on", async () => {
    const [working, say, end] = ["working", "say", "end"].map((name) => `${kit.folder}/${name}`) as [string, string, string]
    const reply = [{ touch: working }, { gate: say }, { say: "while it was full" }, { gate: end }, { say: ", and after" }]
    const agent = await kit.agent("demo", { reply })
    const running = await kit.start(["compose", "-e", 'a = subagent({ prompt: "one" })\nreturn [a.id, a.output]'])
    await kit.appears(working, running)
    limit(running.pid, 1)
    await kit.touch(say)
    await Effect.runPromise(running.err.until("kit: no space left to write"))
    expect(running.err.text).not.toContain("takes everything again")
    limit(running.pid, "unlimited")
    await Effect.runPromise(running.err.until("kit: the disk takes everything again; nothing that was accepted was lost\n"))
    await kit.touch(end)
    const { code, out, err } = await kit.ended(running)
    expect(code).toBe(0)
    expect(err.match(/no space left/g)).toHaveLength(1)
    const [id, output] = JSON.parse(out)
    expect(output).toBe("while it was full, and after")
    expect(await kit.run(["subagents", "verify", id])).toMatchObject({ code: 0 })
    const log = readFileSync(join(kit.kitHome, "sessions", sessionOf(err), "subagents", id, "wire.log"), "utf8")
    for (const { line } of agent.recording.frames) expect(log).toContain(line)
  })

  it("S102 lets nothing start that must be recorded first, says so, and costs no more than that", async () => {
    const [working, gate] = [`${kit.folder}/working`, `${kit.folder}/gate`]
    const agent = await kit.agent("demo")
    const program = `gate = shell({ command: "touch ${working}; while [ ! -e ${gate} ]; do sleep 0.01; done" })\na = after gate { return subagent({ prompt: "two" }) }\nreturn a.output`
    const running = await kit.start(["compose", "-e", program, "--json"])
    await kit.appears(working, running)
    limit(running.pid, 1)
    await kit.touch(gate)
    const { code, out, err } = await kit.ended(running)
    expect(code).toBe(1)
    expect(JSON.parse(out).error).toMatchObject({ code: "STORAGE", retryable: true, details: { store: "NO_SPACE" } })
    expect(err).toContain("kit: no space left to write")
    expect(agent.recording.pids).toEqual([])
    expect(await kit.value('return subagent({ prompt: "again" }).output', "--session", sessionOf(err))).toBe("echo: again")
  })

  it("is told by kit prompt while its program runs", async () => {
    const [working, say, end] = ["working", "say", "end"].map((name) => `${kit.folder}/${name}`) as [string, string, string]
    await kit.agent("demo", { reply: [{ touch: working }, { gate: say }, { say: "full" }, { gate: end }, { say: ", free" }] })
    const running = await kit.start(["prompt", '```runlet\nreturn subagent({ prompt: "one" }).output\n```'])
    await kit.appears(working, running)
    limit(running.pid, 1)
    await kit.touch(say)
    await Effect.runPromise(running.err.until("kit: no space left to write"))
    limit(running.pid, "unlimited")
    await Effect.runPromise(running.err.until("kit: the disk takes everything again"))
    await kit.touch(end)
    expect(await kit.ended(running)).toMatchObject({ code: 0, out: "full, free\n" })
  })

  it("fails a turn of kit prompt that can no longer be recorded, before the model goes on", async () => {
    const [working, gate, effect] = [`${kit.folder}/working`, `${kit.folder}/gate`, `${kit.folder}/effect`]
    await kit.agent("demo")
    const wait = `shell({ command: "touch ${working}; while [ ! -e ${gate} ]; do sleep 0.01; done" })`
    const running = await kit.start(["prompt", `\`\`\`runlet\nreturn ${wait}.success\n\`\`\``])
    await kit.appears(working, running)
    limit(running.pid, 1)
    await kit.touch(gate)
    const { code, err } = await kit.ended(running)
    expect(code).toBe(1)
    expect(err).toContain("the conversation cannot be recorded: the disk is full")
    const after = await kit.run([
      "prompt",
      "--session",
      sessionOf(err),
      `\`\`\`runlet\nreturn shell({ command: "touch ${effect}" }).success\n\`\`\``,
    ])
    expect(after).toMatchObject({ code: 0, out: "true\n" })
  })
})
