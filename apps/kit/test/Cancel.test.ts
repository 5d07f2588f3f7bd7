import type { Mood } from "@acp-kit/testing/Mood"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
  await kit.configure('[subagent]\nharness = "acp.demo"\n[limits]\ncancel_seconds = 0.5')
})
afterEach(() => kit.dispose())

/** Starts a program, waits for the file that says how far it is, sends the signal to `kit` alone, and tells how it ended. */
const interrupted = async (
  program: string,
  reached: string,
  signal: NodeJS.Signals = "SIGINT",
  ...args: ReadonlyArray<string>
) => {
  const running = await kit.start(["compose", "-e", program, ...args])
  await kit.appears(reached, running)
  process.kill(running.pid, signal)
  return await kit.ended(running)
}

describe("Ctrl-C", () => {
  const program = 'a = subagent({ prompt: "one", name: "Scout" })\nreturn prompt({ subagent: a, prompt: "two" }).output'

  it("S150 S151 cancels a turn at its child, prints the failure, and leaves with 130 and no process", async () => {
    const at = `${kit.folder}/at`
    const agent = await kit.agent("demo", { reply: [{ touch: at }, { awaitCancel: true }] })
    const ended = await interrupted(program, at, "SIGINT", "--json")
    expect(ended).toMatchObject({ code: 130, left: [] })
    expect(JSON.parse(ended.out)).toEqual({ error: { code: "CANCELLED", message: "cancelled" } })
    expect(ended.err.trimEnd().split("\n").slice(-2)).toEqual(["kit: cancelled", expect.stringMatching(/^session: /)])
    expect(agent.recording.received).toContain("session/cancel")
  })

  const moments: Readonly<Record<string, Mood>> = {
    "while a child starts": { start: [{ touch: "AT" }, { gate: "NEVER" }] },
    "while it negotiates": { on: { initialize: { before: [{ touch: "AT" }], silent: true } } },
    "while its session opens": { on: { "session/new": { before: [{ touch: "AT" }], silent: true } } },
    "in a turn that hears nothing": { deaf: ["cancel", "eof", "SIGTERM", "SIGINT"], reply: [{ touch: "AT" }, { gate: "NEVER" }] },
    "in a turn that floods": { reply: [{ touch: "AT" }, { flood: 1_000_000 }, { gate: "NEVER" }] },
    "while a grandchild of the harness has left its group": {
      reply: [{ grandchild: { leaves: true, stubborn: true } }, { touch: "AT" }, { awaitCancel: true }],
    },
    "in the second turn": { replies: [{ match: "two", script: [{ touch: "AT" }, { awaitCancel: true }] }] },
    "while it closes": { on: { "session/close": { before: [{ touch: "AT" }], silent: true } } },
  }

  it.each(Object.entries(moments))("leaves no process behind when it comes %s", async (moment, mood) => {
    const at = `${kit.folder}/at`
    await kit.agent("demo", JSON.parse(JSON.stringify(mood).replaceAll("AT", at).replaceAll("NEVER", `${kit.folder}/never`)))
    const closes = moment === "while it closes" ? 'a = subagent({ prompt: "one" })\nreturn close(a)' : program
    const ended = await interrupted(closes, at)
    expect(ended).toMatchObject({ code: 130, left: [], out: "" })
  })

  it("leaves no process behind when it comes twice, whatever is deaf to the first", async () => {
    const at = `${kit.folder}/at`
    const agent = await kit.agent("demo", {
      deaf: ["cancel", "eof", "SIGTERM", "SIGINT"],
      reply: [{ grandchild: { leaves: true, stubborn: true } }, { touch: at }, { gate: `${kit.folder}/never` }],
    })
    const running = await kit.start(["compose", "-e", program])
    await kit.appears(at, running)
    process.kill(running.pid, "SIGINT")
    await Effect.runPromise(agent.recording.untilReceived("session/cancel"))
    process.kill(running.pid, "SIGTERM")
    expect(await kit.ended(running)).toMatchObject({ code: 130, left: [], out: "" })
  })

  it("is answered at once, while a child that hears nothing is still waited for", async () => {
    const at = `${kit.folder}/at`
    kit.writeConfig('[subagent]\nharness = "acp.demo"\n[limits]\ncancel_seconds = 600\n')
    await kit.agent("demo", {
      deaf: ["cancel", "eof", "SIGTERM", "SIGINT"],
      reply: [{ touch: at }, { gate: `${kit.folder}/never` }],
    })
    const running = await kit.start(["compose", "-e", program, "--json"])
    await kit.appears(at, running)
    process.kill(running.pid, "SIGINT")
    await Effect.runPromise(running.err.until("kit: cancelling; Ctrl-C again kills\n"))
    process.kill(running.pid, "SIGINT")
    expect(await kit.ended(running)).toMatchObject({ code: 130, left: [], out: "" })
  })

  it("with a backslash kills at once, and leaves with 131 and no process, whatever is deaf", async () => {
    const at = `${kit.folder}/at`
    await kit.agent("demo", {
      deaf: ["cancel", "eof", "SIGTERM", "SIGINT"],
      reply: [{ grandchild: { leaves: true, stubborn: true } }, { touch: at }, { gate: `${kit.folder}/never` }],
    })
    expect(await interrupted(program, at, "SIGQUIT")).toMatchObject({ code: 131, left: [], out: "" })
  })

  it("leaves no process behind in a shell command, whatever it started", async () => {
    const at = `${kit.folder}/at`
    await kit.agent("demo")
    const ended = await interrupted(
      `return shell({ command: "(trap '' TERM INT HUP; sleep 600 & setsid sleep 600 & touch ${at}; wait)" })`,
      at,
    )
    expect(ended).toMatchObject({ code: 130, left: [] })
  })

  it("C06 reaches grandchildren, down to the shell command of a nested kit", async () => {
    const at = `${kit.folder}/at`
    await kit.agent("demo")
    const work = `\`\`\`runlet\nreturn shell({ command: "touch ${at}; sleep 600" })\n\`\`\``
    const middle = `\`\`\`runlet\nreturn subagent({ prompt: ${JSON.stringify(work)}, harness: "acp.kit" })\n\`\`\``
    const ended = await interrupted(`return subagent({ prompt: ${JSON.stringify(middle)}, harness: "acp.kit" })`, at)
    expect(ended).toMatchObject({ code: 130, left: [] })
  })

  it("ends with the signal's own code on TERM and on a terminal that closes", async () => {
    const at = `${kit.folder}/at`
    await kit.agent("demo", { reply: [{ touch: at }, { awaitCancel: true }] })
    expect(await interrupted(program, at, "SIGTERM")).toMatchObject({ code: 143, left: [] })
    const again = `${kit.folder}/again`
    await kit.agent("other", { reply: [{ touch: again }, { awaitCancel: true }] })
    expect(await interrupted('return subagent({ prompt: "x", harness: "acp.other" })', again, "SIGHUP")).toMatchObject({
      code: 129,
      left: [],
    })
  })

  it("leaves the session readable: what was completed stays, what was cut short is no handle", async () => {
    const at = `${kit.folder}/at`
    await kit.agent("demo", { replies: [{ match: "wait", script: [{ touch: at }, { awaitCancel: true }] }] })
    const { err } = await interrupted(
      'a = subagent({ prompt: "done", name: "Done" })\nb = after a { return subagent({ prompt: "wait", name: "Cut" }) }\nreturn b',
      at,
    )
    const session = /session: (\S+)/.exec(err)?.[1] ?? ""
    expect(await kit.value("return subagents({})", "--session", session)).toMatchObject([
      { name: "Done", status: "idle", generation: 1 },
    ])
  })
})

describe("a kit that is killed", () => {
  it("takes its children with it as soon as their input ends", async () => {
    const at = `${kit.folder}/at`
    const agent = await kit.agent("demo", { reply: [{ touch: at }, { gate: `${kit.folder}/never` }] })
    const running = await kit.start(["compose", "-e", 'return subagent({ prompt: "x" })'])
    await kit.appears(at, running)
    process.kill(running.pid, "SIGKILL")
    await kit.ended(running)
    await kit.recorded(agent, "eof")
  })

  it("K08 K14 in the middle of three turns leaves three directories that list, log and verify read, and no process", async () => {
    const names = ["One", "Two", "Three"]
    const at = (name: string) => `${kit.folder}/at-${name}`
    const replies = names.map((name) => ({
      match: name,
      script: [{ say: `${name} so far` }, { touch: at(name) }, { gate: `${kit.folder}/never` }],
    }))
    const agent = await kit.agent("demo", { replies })
    const started = names.map((name) => `child${name} = subagent({ prompt: "${name}", name: "${name}" })\n`)
    const running = await kit.start(["compose", "-e", `${started.join("")}return [${names.map((name) => `child${name}`)}]`])
    for (const name of names) await kit.appears(at(name), running)
    process.kill(running.pid, "SIGKILL")
    await kit.ended(running)
    const ended = agent.recording.until(({ events }) =>
      events.filter(({ event }) => event === "eof").length === 3 ? true : undefined,
    )
    await Effect.runPromise(ended)
    while ((await kit.running()).length > 0) await Effect.runPromise(Effect.yieldNow)
    const { subagents } = JSON.parse((await kit.run(["subagents", "list", "--json"])).out)
    expect(subagents).toHaveLength(3)
    const asked: Array<string> = []
    for (const { id, status, problem } of subagents) {
      expect([status, problem]).toEqual(["interrupted", undefined])
      const log = await kit.run(["subagents", "log", id])
      expect([log.code, log.err]).toEqual([0, ""])
      asked.push(/→ session\/prompt (\w+)\n/.exec(log.out)?.[1] ?? log.out)
      const verified = JSON.parse((await kit.run(["subagents", "verify", id, "--json"])).out).subagents[0]
      expect(verified.findings.filter(({ severity }: { readonly severity: string }) => severity !== "ok")).toEqual([])
    }
    expect(asked.toSorted()).toEqual(names.toSorted())
    expect(await kit.run(["subagents", "verify"])).toMatchObject({ code: 0, err: "" })
    const [session] = JSON.parse((await kit.run(["sessions", "list", "--json"])).out).sessions
    expect(await kit.value("return subagents({})", "--session", session.id)).toEqual([])
  })
})
