import { existsSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { flags } from "@acp-kit/kit-acp/Arguments"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
})
afterEach(() => kit.dispose())

describe("kit compose", () => {
  it("prints the value as one line of canonical JSON, and the session as the last line of stderr", async () => {
    const { code, out, err } = await kit.compose('return { b: [1, 2.5, true, null], a: "é\\n", "10": 9007199254740993 }')
    expect(code).toBe(0)
    expect(out).toBe('{"10":9007199254740993,"a":"é\\n","b":[1,2.5,true,null]}\n')
    expect(err.trimEnd().split("\n").at(-1)).toMatch(/^session: \S+$/)
  })

  it("takes a program from a file, from -e and from standard input, and inputs by name", async () => {
    kit.write("add.rnlt", "return a + b")
    const inputs = ["--input", "a=40", "--input", "b=2"]
    expect((await kit.run(["compose", "add.rnlt", ...inputs])).out).toBe("42\n")
    expect((await kit.run(["compose", "-e", "return a + b", ...inputs])).out).toBe("42\n")
    expect((await kit.run(["compose", "-", ...inputs], { input: "return a + b" })).out).toBe("42\n")
    expect((await kit.run(["compose", ...inputs], { input: "return a + b" })).out).toBe("42\n")
    expect((await kit.run(["compose", "-"], { input: "\ufeffreturn 1" })).out).toBe("1\n")
    expect((await kit.run(["check"], { input: "return a" })).err).toContain("standard input:1:8: error[RL2101]")
    expect((await kit.run(["compose", "-e", "return n", "--input", "n=9223372036854775807"])).out).toBe("9223372036854775807\n")
  })

  it("runs shell and edit in the working directory, or in --root", async () => {
    kit.write("sub/here.txt", "inside")
    expect(await kit.value('return shell({ command: "cat here.txt" }).stdout', "--root", "sub")).toBe("inside")
    expect(await kit.value('return edit({ op: "add", path: "new.txt", content: "x" })')).toMatchObject({ status: "added" })
    expect(await kit.value('return shell({ command: "cat new.txt" }).stdout')).toBe("x")
  })

  it("leaves with 1 where the program fails, and says where", async () => {
    kit.write("bad.rnlt", 'a = 1\nreturn fail("NOPE", "it is " + a) + 1')
    const failed = await kit.run(["compose", "bad.rnlt", "--json"])
    expect(failed.code).toBe(1)
    expect(JSON.parse(failed.out)).toMatchObject({ error: { code: "NOPE", message: "it is 1", line: 2, column: 8 } })
    expect(failed.err).toContain("bad.rnlt:2:8: failed[NOPE]: it is 1")
    expect(failed.err.trimEnd().split("\n").at(-1)).toMatch(/^session: /)
  })

  it("leaves with 2 and every diagnostic where the program does not compile; no session is made and no child is started", async () => {
    const agent = await kit.agent("demo")
    const program = 'a = subagent({ prompt: "x", harness: "acp.demo" })\nb = missing\nreturn { a, b, c: subagnt({}) }'
    const failed = await kit.compose(program, "--json")
    expect(failed.code).toBe(2)
    const { error } = JSON.parse(failed.out)
    expect(error.code).toBe("COMPILE")
    expect(error.diagnostics).toEqual([
      expect.objectContaining({
        code: "RL2101",
        severity: "error",
        line: 2,
        column: 5,
        message: expect.any(String),
        fixes: expect.any(Array),
      }),
      expect.objectContaining({ code: "RL2102", severity: "error", line: 3, column: 19 }),
    ])
    expect(failed.err).toContain("-e:2:5: error[RL2101]")
    expect(failed.err).toContain("did you mean `subagent`")
    expect(failed.err).not.toContain("session:")
    expect(agent.recording.pids).toEqual([])
    expect((await kit.run(["sessions", "list"])).out).toBe("")
  })

  it("leaves with 2 where the call is wrong, before anything happens", async () => {
    kit.write("file.txt", "")
    const calls: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
      [["compose"], "no program"],
      [["compose", "missing.rnlt"], "there is no such file"],
      [["compose", "-e", "return 1", "--jsn"], 'did you mean "--json"?'],
      [["compose", "x.rnlt", "-e", "return 1"], "exclude each other"],
      [["compose", "-e", "return 1", "--session", "a", "--no-session"], "exclude each other"],
      [["compose", "."], "could not read .: it is a directory"],
      [["compose", "file.txt/x.rnlt"], "a part of its path is not a directory"],
      [["compose", "-e", "return n", "--input", "n=oops"], "n is not JSON"],
      [["compose", "-e", "return 1", "--input", "return=1"], '--input "return" is a word of the language; choose another name'],
      [
        ["compose", "-e", "return n", "--input", "n=[9223372036854775808]"],
        "--input n holds what no program can: 9223372036854775808 is outside the signed 64-bit range",
      ],
      [["compose", "-e", "return n", "--input", "n=1e400"], "--input n holds what no program can"],
      [["compose", "-e", "return n", "--input", "n=1", "--input", "n=2"], "--input n stands twice"],
      [["compose", "-e", "return 1", "--session", "no-such-session"], "does not exist"],
      [["compose", "-e", "return 1", "--root", "nowhere"], "could not open working directory"],
      [["compose", "-e", "return 1", "--root", "file.txt"], "working directory is not a directory"],
      [["compose", "-e", "return 1", "--add-dir", "nowhere"], "could not open additional directory"],
      [["compos", "-e", "return 1"], 'did you mean "compose"?'],
    ]
    const outcomes = await Promise.all(calls.map(([args]) => kit.run(args)))
    for (const [index, [args, text]] of calls.entries()) {
      expect({ args, ...outcomes[index] }).toMatchObject({ args, code: 2, out: "", err: expect.stringContaining(text) })
    }
  })

  it("refuses a program that is not UTF-8 in place of running another", async () => {
    writeFileSync(join(kit.dir, "latin.rnlt"), Buffer.from('return "caf\xe9"', "latin1"))
    for (const command of ["compose", "check"]) {
      expect(await kit.run([command, "latin.rnlt"])).toMatchObject({
        code: 2,
        err: "kit: could not read latin.rnlt: it is not UTF-8: the byte at offset 11 belongs to no character\n",
      })
    }
  })

  it.runIf(existsSync("/proc/self/cmdline"))(
    "refuses an argument that is not UTF-8, and takes one with a replacement character",
    async () => {
      const given = (words: string) => kit.shell(`kit compose --no-session -e 'return a' --input ${words}`).ended
      expect(await given(`"$(printf 'a="\\351"')"`)).toEqual({
        code: 2,
        out: "",
        err: 'kit: could not read the argument "a=\\"\ufffd\\"": it is not UTF-8: the byte at offset 3 belongs to no character\n',
      })
      expect((await given(`'a="\ufffd"'`)).out).toBe('"\ufffd"\n')
      expect(await kit.shell(`kit acp --model "$(printf 'm\\351')" < /dev/null`).ended).toMatchObject({
        code: 2,
        err: expect.stringContaining("kit acp: could not read the argument"),
      })
    },
  )

  it("keeps nothing on disk with --no-session", async () => {
    const agent = await kit.agent("demo")
    const { code, err } = await kit.compose('return subagent({ prompt: "hi", harness: "acp.demo" }).output', "--no-session")
    expect(code).toBe(0)
    expect(err).not.toContain("session:")
    expect(kit.prompts(agent)).toHaveLength(1)
    expect((await kit.run(["sessions", "list", "--all"])).out).toBe("")
  })

  it("keeps nothing on disk with --no-session, and neither does any Kit below it, whatever they do", async () => {
    kit.writeConfig('provider = "scripted"\n')
    const files = () => readdirSync(kit.folder, { recursive: true })
    const before = files()
    const fence = "```"
    const deep = `${fence}runlet\nreturn { deep: subagent({ prompt: "hi" }).output, size: shell({ command: "printf %20000d 0" }).stdout }\n${fence}`
    const program = `
a = subagent({ prompt: ${JSON.stringify(deep)} })
b = prompt({ subagent: a, prompt: "again" })
c = fork({ subagent: b, prompt: "branch" })
return [a.generation, b.output, c.output]`
    const { code, err, out } = await kit.compose(program, "--no-session")
    expect(err).not.toContain("session:")
    expect({ code, out }).toEqual({ code: 0, out: '[1,"echo: again","echo: branch"]\n' })
    expect(files()).toEqual(before)
    expect(await kit.running()).toEqual([])
  })

  it("writes a long value completely, however slowly it is read", async () => {
    const size = 3_000_000
    const { out } = await kit.compose(`return shell({ command: "head -c ${size} /dev/zero | tr '\\\\0' x" }).stdout`)
    expect(out).toHaveLength(size + 3)
  })
})

describe("kit check", () => {
  it("shows every diagnostic with line, code and fix, and runs nothing", async () => {
    kit.write("bad.rnlt", 'x = shell({ command: "touch ran" })\nreturn y')
    const failed = await kit.run(["check", "bad.rnlt"])
    expect(failed).toMatchObject({ code: 2, out: "" })
    expect(failed.err).toContain("bad.rnlt:2:8: error[RL2101]")
    const json = await kit.run(["check", "bad.rnlt", "--json"])
    expect(json.code).toBe(2)
    const { diagnostics } = JSON.parse(json.out)
    expect(diagnostics.map(({ code, line, severity }: Record<string, unknown>) => ({ code, line, severity }))).toContainEqual({
      code: "RL2101",
      line: 2,
      severity: "error",
    })
    kit.write("good.rnlt", 'x = shell({ command: "touch ran" })\nreturn x')
    expect(await kit.run(["check", "good.rnlt"])).toMatchObject({ code: 0, out: "", err: "" })
    expect(await kit.value('return shell({ command: "ls" }).stdout')).toBe("bad.rnlt\ngood.rnlt\n")
  })
})

describe("kit", () => {
  it("prints help without arguments and for every command, and its version", async () => {
    const help = await kit.run([])
    expect(help).toMatchObject({ code: 0, err: "" })
    expect(help.out).toContain("usage: kit COMMAND")
    for (const command of [["compose"], ["check"], ["harness", "list"], ["harness", "check"], ["acp"], ["sessions", "list"]]) {
      expect(await kit.run([...command, "--help"])).toMatchObject({ code: 0, out: expect.stringContaining("--config FILE") })
    }
    expect((await kit.run(["-V"])).out).toMatch(/^kit \d+\.\d+\.\d+\n$/)
  })

  it("tells the very flags of kit acp that kit acp takes", async () => {
    const [shown, asked] = await Promise.all([kit.run(["help", "acp"]), kit.run(["acp", "--help"])])
    expect(asked).toEqual(shown)
    expect(new Set(shown.out.match(/--[a-z][a-z-]*/g))).toEqual(new Set([...flags, "--help"]))
  })

  it("refuses a broken configuration with path, line, key and the nearest key, and warns of an unknown one", async () => {
    kit.writeConfig('[acp.review]\ncomand = "x"')
    const refused = await kit.compose("return 1", "--json")
    expect(refused.code).toBe(2)
    expect(refused.err).toContain(`${kit.configFile}: line 2, acp.review.comand:`)
    expect(refused.err).toContain('did you mean "command"?')
    expect(JSON.parse(refused.out).error).toMatchObject({
      code: "CONFIG",
      path: `${kit.configFile}`,
      problems: [{ line: 2, key: "acp.review.comand", nearest: "command" }],
    })
    kit.writeConfig('modle = "x"')
    const warned = await kit.compose("return 1")
    expect(warned).toMatchObject({ code: 0, out: "1\n" })
    expect(warned.err).toContain(`${kit.configFile}: line 1, modle: unknown key; did you mean "model"?`)
    kit.writeConfig("a = ")
    expect(await kit.compose("return 1")).toMatchObject({ code: 2, err: expect.stringContaining("line 1") })
    kit.write("other.toml", 'model = "m"')
    expect(await kit.compose("return 1", "--config", "other.toml")).toMatchObject({ code: 0, out: "1\n" })
    expect(await kit.compose("return 1", "--config", "none.toml")).toMatchObject({
      code: 2,
      err: expect.stringContaining("none.toml"),
    })
  })
})
