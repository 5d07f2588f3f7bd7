import { realpathSync } from "node:fs"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
  await kit.configure('[subagent]\nharness = "acp.demo"')
})
afterEach(() => kit.dispose())

const id = /^s-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe("starting and continuing", () => {
  it("S10 K02 starts a child and returns its id, name, output and generation 1 after its first turn", async () => {
    const agent = await kit.agent("demo")
    const value = await kit.value('return subagent({ prompt: "hello", name: "Scout" })')
    expect(value).toEqual({ id: expect.stringMatching(id), name: "Scout", output: "echo: hello", generation: 1 })
    expect(agent.recording.received).toEqual(["initialize", "session/new", "session/prompt"])
  })

  it("S11 continues the same session with the same id and name, one generation on", async () => {
    const agent = await kit.agent("demo")
    const value = await kit.value(
      'a = subagent({ prompt: "one" })\nb = prompt({ subagent: a, prompt: "two" })\nc = prompt({ subagent: b, prompt: "three" })\nreturn [a, b, c]',
    )
    expect(value.map(({ generation }: { generation: number }) => generation)).toEqual([1, 2, 3])
    expect(new Set(value.map((each: { id: string }) => each.id)).size).toBe(1)
    expect(new Set(value.map((each: { name: string }) => each.name)).size).toBe(1)
    expect(value[2].output).toBe("echo: three")
    expect(agent.recording.pids).toHaveLength(1)
    expect(new Set(agent.recording.params("session/prompt").map(({ sessionId }) => sessionId)).size).toBe(1)
    expect(kit.prompts(agent)).toEqual([["one"], ["two"], ["three"]])
  })

  it("S18 refuses an old value, saying both generations, and sends nothing", async () => {
    const agent = await kit.agent("demo")
    const failure = await kit.failure(
      'a = subagent({ prompt: "one" })\nb = prompt({ subagent: a, prompt: "two" })\nreturn after b { return prompt({ subagent: a, prompt: "again" }) }',
    )
    expect(failure).toMatchObject({ exit: 1, code: "STALE_GENERATION" })
    expect(failure.message).toContain("stale subagent generation 1; current generation is 2")
    expect(kit.prompts(agent)).toHaveLength(2)
  })

  it("S16 ends the process with the last handle, and all of them with the program", async () => {
    const agent = await kit.agent("demo", { capabilities: { close: false, delete: false }, versions: [1] })
    const gone = `until grep -q '"eof"' ${kit.folder}/demo.record; do :; done`
    await kit.value(`
a = subagent({ prompt: "x" })
b = subagent({ prompt: "y" })
closed = close(a)
ended = after closed { return shell({ command: ${JSON.stringify(gone)} }) }
return after ended { return prompt({ subagent: b, prompt: "z" }).output }`)
    expect(agent.recording.pids).toHaveLength(2)
    expect(agent.recording.events.filter(({ event }) => event === "eof")).toHaveLength(2)
    expect(await kit.running()).toEqual([])
  })

  it("S13 ends a session by value or by id; an id that was never there is unknown, one that was is retired", async () => {
    await kit.agent("demo")
    const value = await kit.value(`
a = subagent({ prompt: "a" })
b = subagent({ prompt: "b" })
closed = [close(a), close({ id: b.id })]
left = after closed { return subagents({}) }
unknown = boundary { return close({ id: "s-none" }) } catch e { return [e.code, e.message] }
again = after closed { return boundary { return close(a) } catch e { return [e.code, e.message] } }
return { closed, ids: [a.id, b.id], left, unknown, again }`)
    expect(value.closed).toEqual(value.ids.map((closed: string) => ({ id: closed })))
    expect(value.left).toEqual([])
    expect(value.unknown[0]).toBe("UNKNOWN_SUBAGENT")
    expect(value.unknown[1]).toContain("unknown subagent session")
    expect(value.again[0]).toBe("SUBAGENT_RETIRED")
    expect(value.again[1]).toContain("subagent session is retired")
  })

  it("S21 resolves a relative cwd from the working directory, and refuses one that is missing or a file before anything starts", async () => {
    const agent = await kit.agent("demo", { reply: [{ where: true }] })
    kit.write("sub/file.txt", "")
    const value = await kit.value(`
at = subagent({ prompt: "x", cwd: "sub" }).output
missing = boundary { return subagent({ prompt: "x", cwd: "none" }) } catch e { return e.message }
file = boundary { return subagent({ prompt: "x", cwd: "sub/file.txt" }) } catch e { return e.message }
return { at, missing, file }`)
    expect(JSON.parse(value.at)).toMatchObject({ cwd: realpathSync(`${kit.dir}/sub`) })
    expect(value.missing).toContain("could not open subagent working directory")
    expect(value.file).toContain("subagent working directory is not a directory")
    expect(agent.recording.pids).toHaveLength(1)
  })

  it("S20 refuses an argument that does not belong to the verb", async () => {
    const agent = await kit.agent("demo")
    const value = await kit.value(`
a = subagent({ prompt: "x" })
bad = for extra in [{ model: "m" }, { harness: "acp.demo" }, { cwd: "." }, { name: "n" }] {
  return boundary { return prompt({ subagent: a, prompt: "y" } + extra).output } catch e { return e.code }
}
return bad`)
    expect(value).toEqual(["INVALID_ARGUMENT", "INVALID_ARGUMENT", "INVALID_ARGUMENT", "INVALID_ARGUMENT"])
    expect(kit.prompts(agent)).toHaveLength(1)
  })
})

describe("the list", () => {
  it("S23 shows live children with status and a bounded task, and leaves closed ones out", async () => {
    const gate = `${kit.folder}/gate`
    await kit.agent("demo", {
      replies: [{ match: "wait", script: [{ touch: `${kit.folder}/waiting` }, { gate }, { say: "done" }] }],
    })
    const value = await kit.value(`
idle = subagent({ prompt: "a   b\\n" + "${"long ".repeat(40)}", name: "Idle" })
gone = subagent({ prompt: "x", name: "Gone" })
closed = close(gone)
busy = subagent({ prompt: "wait", name: "Busy" })
seen = after [idle, closed, shell({ command: "while [ ! -e ${kit.folder}/waiting ]; do :; done" })] { return subagents({}) }
_ = after seen { return shell({ command: "touch ${gate}" }) }
return { seen, busy: busy.output }`)
    const rows = Object.fromEntries(value.seen.map((row: { name: string }) => [row.name, row]))
    expect(Object.keys(rows).sort()).toEqual(["Busy", "Idle"])
    expect(rows.Busy).toEqual({ id: expect.stringMatching(id), name: "Busy", status: "working", generation: 1, task: "wait" })
    expect(rows.Idle).toMatchObject({ status: "idle", generation: 1 })
    expect(rows.Idle.task).toMatch(/^a b long .*…$/)
    expect(rows.Idle.task.length).toBe(96)
    expect(value.busy).toBe("done")
  })

  it("starts independent children at once: each waits for the others", async () => {
    const meet = (name: string, others: ReadonlyArray<string>) => ({
      match: `^${name}$`,
      script: [{ touch: `${kit.folder}/${name}` }, ...others.map((other) => ({ gate: `${kit.folder}/${other}` })), { say: name }],
    })
    await kit.agent("demo", { replies: [meet("a", ["b", "c"]), meet("b", ["a", "c"]), meet("c", ["a", "b"])] })
    const value = await kit.value(
      'a = subagent({ prompt: "a" })\nb = subagent({ prompt: "b" })\nc = subagent({ prompt: "c" })\nreturn [a.output, b.output, c.output]',
    )
    expect(value).toEqual(["a", "b", "c"])
  })
})

describe("names", () => {
  it("S40 trims a preferred name, and gives the lowest free Agent N in place of a missing or invalid one", async () => {
    await kit.agent("demo")
    const value = await kit.value(`
names = ["  Scout  ", "${"n".repeat(32)}", "${"n".repeat(33)}", "café", "", "a\\tb"]
given = fold list = [] for name in names { return list + [subagent({ prompt: "x", name: name }).name] }
return given + [after given { return subagent({ prompt: "x" }).name }]`)
    expect(value).toEqual(["Scout", "n".repeat(32), "Agent 1", "Agent 2", "Agent 3", "Agent 4", "Agent 5"])
  })

  it("S41 gives a clash the lowest free suffix, whatever its case, and keeps it within 32 bytes", async () => {
    await kit.agent("demo")
    const value = await kit.value(`
names = ["Scout", "SCOUT", "scout", "${"n".repeat(32)}", "${"N".repeat(32)}"]
return fold list = [] for name in names { return list + [subagent({ prompt: "x", name: name }).name] }`)
    expect(value).toEqual(["Scout", "SCOUT 2", "scout 3", "n".repeat(32), `${"N".repeat(30)} 2`])
  })

  it("S42 never takes a name for a handle", async () => {
    await kit.agent("demo")
    const value = await kit.value(`
a = subagent({ prompt: "x", name: "Scout" })
byName = after a { return boundary { return close({ id: "Scout" }) } catch e { return e.code } }
renamed = after byName { return prompt({ subagent: { id: a.id, name: "Other", generation: 1 }, prompt: "y" }) }
return { byName, name: renamed.name }`)
    expect(value).toEqual({ byName: "UNKNOWN_SUBAGENT", name: "Scout" })
  })

  it("S43 S156 frees a name when its creation or first turn fails and when its child is closed, and keeps it otherwise", async () => {
    await kit.agent("demo", { replies: [{ match: "fail", script: [{ fail: { code: -32000 - 1, message: "no" } }] }] })
    const value = await kit.value(
      `
failed = boundary { return subagent({ prompt: "fail", name: "Scout" }) } catch e { return e.code }
first = after failed { return subagent({ prompt: "x", name: "Scout" }) }
second = after first { return subagent({ prompt: "x", name: "Scout" }) }
closed = after second { return close({ id: first.id }) }
third = after closed { return subagent({ prompt: "x", name: "Scout" }) }
live = after third { return subagents({}) }
return { failed, names: [first.name, second.name, third.name], live }`,
    )
    expect(value.failed).toBe("TURN_FAILED")
    expect(value.names).toEqual(["Scout", "Scout 2", "Scout"])
    expect(value.live).toHaveLength(2)
  })
})
