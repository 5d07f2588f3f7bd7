import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
})
afterEach(() => kit.dispose())

const block = (program: string, info = "runlet") => `\`\`\`${info}\n${program}\n\`\`\``
const sessionIn = (err: string) => /^session: (\S+)$/m.exec(err)?.[1] ?? ""

describe("kit prompt", () => {
  it("prints the answer on stdout, what the agent does on stderr, and the session as the last line", async () => {
    const { code, out, err } = await kit.run([
      "prompt",
      block('return shell({ command: "echo from the shell" }).stdout', 'runlet intent="say it"'),
    ])
    expect([code, out]).toEqual([0, "from the shell\n"])
    const lines = err.trimEnd().split("\n")
    expect(lines[0]).toContain("no model, no network")
    expect(lines).toContain("compose: say it")
    expect(lines.at(-1)).toMatch(/^session: \S+$/)
  })

  it("goes on with a session that compose or another prompt began", async () => {
    const { err } = await kit.run(["prompt", "one"])
    const again = await kit.run(["prompt", "--session", sessionIn(err), "two"])
    expect([again.code, again.out, sessionIn(again.err)]).toEqual([0, "echo: two\n", sessionIn(err)])
    const composed = await kit.run(["compose", "-e", 'return subagent({ prompt: "hi", name: "Helper" }).id'])
    const listed = await kit.run(["prompt", "--session", sessionIn(composed.err), block("return subagents({})")])
    expect(listed.out).toContain('"name":"Helper"')
  })

  it("shows the children that its program starts, and leaves none", async () => {
    const { out, err } = await kit.run(["prompt", block('return subagent({ prompt: "hi", name: "Helper" }).output')])
    expect(out).toBe("echo: hi\n")
    expect(err).toMatch(/Helper +starting/)
  })

  it("waits for what goes on in the background", async () => {
    const program = block('return shell({ command: "sleep 0.3; echo late" }).stdout', "runlet background=true")
    expect(await kit.run(["prompt", program])).toMatchObject({ code: 0, out: "late\n" })
  })

  it("leaves with 2 for a session that is not there, and with 1 where the agent cannot be set up", async () => {
    const unknown = await kit.run(["prompt", "--session", "nobody", "x"])
    expect([unknown.code, unknown.out]).toEqual([2, ""])
    expect(unknown.err).toContain("does not exist")
    const model = await kit.run(["prompt", "--model", "nothing", "x"])
    expect(model.code).toBe(1)
    expect(model.err).toContain("model is not in the advertised catalog")
  })

  it("takes the rules of a script, and fails with the model", async () => {
    const rules = [
      { match: "^break", steps: [{ fail: "no credit" }] },
      { match: "(\\w+)!", steps: [{ say: "you said {{1}}" }] },
    ]
    const file = kit.write("rules.json", JSON.stringify({ version: 1, rules }))
    kit.writeConfig(`script = ${JSON.stringify(file)}`)
    expect((await kit.run(["prompt", "hey!"])).out).toBe("you said hey\n")
    const broken = await kit.run(["prompt", "break"])
    expect(broken.code).toBe(1)
    expect(broken.err).toContain("kit: no credit")
  })
})
