import { chmodSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
})
afterEach(() => kit.dispose())

const read = (name: string): string => readFileSync(join(kit.dir, name), "utf8")
const messy = 'a   =  shell({command: "echo 1"})  // first\nreturn [ a.stdout,\n2 ]'
const tidy = 'a = shell({ command: "echo 1" }) // first\nreturn [a.stdout, 2]\n'
const broken = "x = [1\nreturn x"

describe("kit compose --graph", () => {
  const events = (name: string) =>
    read(name)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))

  it("writes every step as ndjson, numbered without gaps, to a file made anew, children and all", async () => {
    const agent = await kit.agent("demo")
    kit.write("graph.ndjson", "old\n")
    const program =
      'a = subagent({ prompt: "one", harness: "acp.demo" })\nreturn boundary retry 1 { return fail("NO", a.output) } catch e { return e.code }'
    expect(await kit.value(program, "--graph", "graph.ndjson")).toBe("NO")
    const all = events("graph.ndjson")
    expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, index) => index + 1))
    const last = new Map(all.filter(({ change }) => change.value.id).map(({ change }) => [change.value.id, change.value]))
    expect([...last.values()].map(({ kind, label }) => `${kind} ${label}`)).toEqual(
      expect.arrayContaining(["root return", "call subagent"]),
    )
    const call = [...last.values()].find(({ label }) => label === "subagent")
    expect(call).toMatchObject({ state: "succeeded", attempt: 0, output: { output: "echo: one", generation: 1 } })
    expect(all.some(({ change }) => change.type === "edge_added")).toBe(true)
    expect(kit.prompts(agent)).toHaveLength(1)
  })

  it("has the failure of a program that fails, to the last line", async () => {
    expect(await kit.failure('return fail("NOPE", "no")', "--graph", "graph.ndjson")).toMatchObject({ exit: 1, code: "NOPE" })
    expect(events("graph.ndjson").at(-1).change.value).toMatchObject({ kind: "root", state: "failed", error: { code: "NOPE" } })
  })

  it("refuses a file that cannot be made, before a session is", async () => {
    const refused = await kit.failure('return shell({ command: "touch ran" })', "--graph", "nowhere/graph.ndjson")
    expect(refused).toMatchObject({
      exit: 2,
      code: "UNWRITABLE",
      message: "could not write the graph to nowhere/graph.ndjson: there is no such file or directory",
    })
    expect(readdirSync(kit.dir)).toEqual([])
    expect((await kit.run(["sessions", "list"])).out).toBe("")
  })

  it("leaves with 1 where the file did not take everything, and the value is printed all the same", async () => {
    const { code, out, err } = await kit.compose("return 7", "--graph", "/dev/full")
    expect([code, out]).toEqual([1, "7\n"])
    expect(err).toContain("kit: the graph in /dev/full is incomplete: no space is left on the device\n")
  })

  it("refuses - for a file, before a session is made", async () => {
    const refused = await kit.run(["compose", "-e", "return 7", "--graph", "-"])
    expect(refused).toMatchObject({
      code: 2,
      out: "",
      err: "kit: --graph needs a file; the value goes to standard output (a file of the name - is ./-)\n",
    })
    expect(readdirSync(kit.dir)).toEqual([])
  })
})

describe("kit compose --explain", () => {
  const program =
    'a = subagent({ prompt: "one" })\nb = shell({ command: "touch ran" })\nc = after [a, b] { return prompt({ subagent: a, prompt: "two" }) }\nreturn c.output'

  it("prints what waits for what; no session is made, nothing is called and no child is started", async () => {
    const agent = await kit.agent("demo")
    await kit.configure('[subagent]\nharness = "acp.demo"')
    const { code, out, err } = await kit.compose(program, "--explain")
    expect({ code, err }).toEqual({ code: 0, err: "" })
    expect(out.split("\n").map((line) => line.replaceAll(/ {2,}/g, "  "))).toEqual([
      "1  1:5  a = subagent  at once",
      "2  2:5  b = shell  at once",
      "3  3:5  c = after [a, b]  after 1, 2",
      "4  3:27  prompt  after 1",
      "",
    ])
    const { steps } = JSON.parse((await kit.compose(program, "--explain", "--json")).out)
    expect(steps.map(({ id, parent, waitsFor }: Record<string, unknown>) => ({ id, parent, waitsFor }))).toMatchObject([
      { id: 1, parent: null, waitsFor: [] },
      { id: 2, parent: null, waitsFor: [] },
      { id: 3, parent: null, waitsFor: [1, 2] },
      { id: 4, parent: 3, waitsFor: [1] },
    ])
    expect(agent.recording.pids).toEqual([])
    expect(readdirSync(kit.dir)).toEqual([])
    expect((await kit.run(["sessions", "list"])).out).toBe("")
  })

  it("leaves with 2 where the program does not compile, and says where nothing is to be done", async () => {
    expect(await kit.failure("return nothing", "--explain")).toMatchObject({ exit: 2, code: "COMPILE" })
    expect(await kit.compose("return 1 + 1", "--explain")).toMatchObject({ code: 0, out: expect.stringContaining("no steps") })
    expect(await kit.compose("return 1", "--explain", "--graph", "x")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--explain and --graph exclude each other"),
    })
  })
})

describe("kit check", () => {
  it("shows independent errors and warnings together, in the order of the source", async () => {
    kit.write("bad.rnlt", "spare = 1\na = missing\nb = shel({})\nreturn [a, b]")
    const { code, err, out } = await kit.run(["check", "bad.rnlt", "--json"])
    expect({ code, err }).toEqual({ code: 2, err: "" })
    const rows = JSON.parse(out).diagnostics.map(({ severity, line }: Record<string, unknown>) => [severity, line])
    expect(rows.filter(([severity]: ReadonlyArray<unknown>) => severity === "error")).toEqual([
      ["error", 2],
      ["error", 3],
    ])
    kit.write("odd.rnlt", "spare = 1\nreturn 2")
    const odd = await kit.run(["check", "odd.rnlt"])
    expect(odd).toMatchObject({ code: 0, out: "", err: expect.stringContaining("odd.rnlt:1:1: warning[RL1205]") })
  })

  it("tells the repairs that would make it parse, and changes nothing", async () => {
    kit.write("bare.rnlt", 'shell({ command: "touch ran" })')
    const { code, err } = await kit.run(["check", "bare.rnlt"])
    expect(code).toBe(2)
    expect(err).toMatch(/these repairs would make it parse:\nbare\.rnlt: line 1: .*inserted `return`\n$/)
    expect(JSON.parse((await kit.run(["check", "bare.rnlt", "--json"])).out).repairs).toEqual([
      expect.stringMatching(/^line 1: /),
    ])
    expect(readdirSync(kit.dir)).toEqual(["bare.rnlt"])
  })
})

describe("kit fmt", () => {
  it("formats files in place and names those that changed; twice changes nothing more, and the program means the same", async () => {
    kit.write("a.rnlt", messy)
    kit.write("b.rnlt", tidy)
    expect(await kit.run(["fmt", "a.rnlt", "b.rnlt"])).toMatchObject({ code: 0, out: "a.rnlt\n", err: "" })
    expect([read("a.rnlt"), read("b.rnlt")]).toEqual([tidy, tidy])
    expect(await kit.run(["fmt", "a.rnlt", "b.rnlt"])).toMatchObject({ code: 0, out: "", err: "" })
    expect((await kit.run(["compose", "a.rnlt"])).out).toBe('["1\\n",2]\n')
  })

  it("keeps the mode of a file and a link to it, and leaves nothing beside it", async () => {
    chmodSync(kit.write("real.rnlt", messy), 0o640)
    symlinkSync("real.rnlt", join(kit.dir, "link.rnlt"))
    expect(await kit.run(["fmt", "link.rnlt"])).toMatchObject({ code: 0, out: "link.rnlt\n" })
    expect(read("real.rnlt")).toBe(tidy)
    expect(statSync(join(kit.dir, "real.rnlt")).mode & 0o777).toBe(0o640)
    expect(lstatSync(join(kit.dir, "link.rnlt")).isSymbolicLink()).toBe(true)
    expect(readdirSync(kit.dir).toSorted()).toEqual(["link.rnlt", "real.rnlt"])
  })

  it("says which file stands in the way of the new one", async () => {
    kit.write("a.rnlt", "return  1")
    kit.write("a.rnlt.kit-fmt", "")
    expect(await kit.run(["fmt", "a.rnlt"])).toMatchObject({
      code: 1,
      err: `kit: could not write ${kit.dir}/a.rnlt.kit-fmt: it exists already\n`,
    })
  })

  it("writes standard input to standard output", async () => {
    expect(await kit.run(["fmt", "-"], { input: messy })).toMatchObject({ code: 0, out: tidy, err: "" })
    expect(await kit.run(["fmt", "-"], { input: tidy })).toMatchObject({ code: 0, out: tidy })
  })

  it("with --check writes nothing, names what would change, and leaves with 1", async () => {
    kit.write("a.rnlt", messy)
    kit.write("b.rnlt", tidy)
    expect(await kit.run(["fmt", "--check", "a.rnlt", "b.rnlt"])).toMatchObject({ code: 1, out: "a.rnlt\n" })
    expect(read("a.rnlt")).toBe(messy)
    const json = await kit.run(["fmt", "--check", "--json", "a.rnlt", "b.rnlt"])
    expect(json.code).toBe(1)
    expect(JSON.parse(json.out).files).toEqual([
      { path: "a.rnlt", state: "differs", repairs: [], diagnostics: [] },
      { path: "b.rnlt", state: "unchanged", repairs: [], diagnostics: [] },
    ])
    expect(await kit.run(["fmt", "--check", "b.rnlt"])).toMatchObject({ code: 0, out: "" })
  })

  it("leaves one that does not parse alone, shows why, formats the others, and leaves with 2", async () => {
    kit.write("a.rnlt", messy)
    kit.write("bad.rnlt", broken)
    const { code, out, err } = await kit.run(["fmt", "bad.rnlt", "a.rnlt"])
    expect({ code, out }).toEqual({ code: 2, out: "a.rnlt\n" })
    expect(err).toMatch(/^bad\.rnlt:\d+:\d+: error\[RL\d{4}\]/)
    expect([read("bad.rnlt"), read("a.rnlt")]).toEqual([broken, tidy])
    expect(await kit.run(["fmt", "gone.rnlt", "a.rnlt"])).toMatchObject({ code: 2, err: expect.stringContaining("no such file") })
    expect(await kit.run(["fmt"])).toMatchObject({ code: 2, err: expect.stringContaining("FILE is missing") })
  })

  it("with --repair mends what does not parse, and tells what was done", async () => {
    kit.write("bare.rnlt", 'shell({command:"ls"})')
    const { code, out, err } = await kit.run(["fmt", "--repair", "bare.rnlt"])
    expect({ code, out }).toEqual({ code: 0, out: "bare.rnlt\n" })
    expect(err).toMatch(/^bare\.rnlt: line 1: /)
    expect(read("bare.rnlt")).toBe('return shell({ command: "ls" })\n')
  })
})
