import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
})
afterEach(() => kit.dispose())

/** A prompt whose `runlet` block the scripted model of a nested Kit runs. */
const ask = (...lines: ReadonlyArray<string>): string => ["Do this.", "```runlet", ...lines, "```"].join("\n")

const quoted = (text: string): string => JSON.stringify(text)

describe("acp.kit", () => {
  it("S90 is the harness of a program that names none, and works without key and network", async () => {
    expect((await kit.value('return subagent({ prompt: "hello" })')).output).toBe("echo: hello")
    expect((await kit.value('return subagent({ prompt: "hello", harness: "acp.kit" })')).output).toBe("echo: hello")
  })

  it("C06 runs real programs in a nested kit: tools, in the child's directory, with its answer as the last result", async () => {
    kit.write("sub/a.txt", "one\ntwo\n")
    const prompt = ask(
      'count = shell({ command: "wc -l < a.txt" })',
      '_ = edit({ op: "add", path: "made.txt", content: "x" })',
      "return number.parse(count.stdout)",
    )
    const value = await kit.value(`
a = subagent({ prompt: ${quoted(prompt)}, cwd: "sub", output_schema: true })
b = prompt({ subagent: a, prompt: ${quoted(ask('return fail("NOPE", "not today")'))} })
return [a.output, a.generation, b.output, b.generation]`)
    expect(value).toEqual([2, 1, "error NOPE: not today", 2])
    expect(existsSync(join(kit.dir, "sub/made.txt"))).toBe(true)
  })

  it("C06 starts a dozen nested kits at once, in one home", async () => {
    const value = await kit.value('return for n in list.range(0, 12) { return subagent({ prompt: "hello " + n }).output }')
    expect(value).toEqual(Array.from({ length: 12 }, (_, n) => `echo: hello ${n}`))
  })

  it("C06 S160 starts grandchildren down to depth 2, and refuses the next level", async () => {
    const deepest = ask(
      'refused = boundary { return subagent({ prompt: "deeper" }).output } catch e { return [e.code, e.message] }',
      "return refused",
    )
    const middle = ask(
      `below = subagent({ prompt: ${quoted(deepest)}, output_schema: true })`,
      "return { below: below.output, name: below.name }",
    )
    const value = await kit.value(`return subagent({ prompt: ${quoted(middle)}, output_schema: true }).output`)
    expect(value.name).toBe("Agent 1")
    expect(value.below).toEqual(["DEPTH_LIMIT", "subagent depth limit (2) reached"])
  })

  it("S91 gives a child the configuration's model, provider and configuration file; an explicit model overrides it for that session", async () => {
    kit.write("other.toml", 'provider = "scripted"\n')
    expect(await kit.value('return subagent({ prompt: "x", model: "scripted" }).output', "--config", "other.toml")).toBe(
      "echo: x",
    )
    const refused = await kit.failure('return subagent({ prompt: "x", model: "no-such-model" }).output')
    expect(refused).toMatchObject({ code: "MODEL_REJECTED" })
  })

  it("S92 keeps Kit's own arguments behind the base arguments of an override", async () => {
    const agent = await kit.agent("kit")
    await kit.value('return subagent({ prompt: "x" }).id')
    const [started] = agent.recording.events
    const { args } = (started?.detail ?? { args: [] }) as { readonly args: ReadonlyArray<string> }
    expect(args.slice(0, agent.args.length - 1)).toEqual(agent.args.slice(1))
    const own = args.slice(agent.args.length - 1)
    expect(own).toEqual(expect.arrayContaining(["--root", "--session-id", "--subagent-depth", "1"]))
    expect(own).not.toContain("--protocol-version")
  })

  it("K02 has one id for everything: handle, directory and the child's own session", async () => {
    const { code, out, err } = await kit.compose('return subagent({ prompt: "x" }).id')
    expect(code).toBe(0)
    const session = /session: (\S+)/.exec(err)?.[1] ?? ""
    const id = JSON.parse(out)
    const directory = join(kit.kitHome, "sessions", session, "subagents", id)
    expect(readdirSync(directory)).toEqual(expect.arrayContaining(["context.json", "meta.json", "prompt.txt", "wire.log"]))
    expect(JSON.parse(readFileSync(join(directory, "meta.json"), "utf8"))).toMatchObject({ agent_id: id, session_id: session })
  })
})
