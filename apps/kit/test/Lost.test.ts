import { existsSync } from "node:fs"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
})
afterEach(() => kit.dispose())

const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

const run = (redirection: string, ...args: ReadonlyArray<string>) =>
  kit.shell(`kit ${args.map(quote).join(" ")} ${redirection}`).ended

const program = 'return subagent({ prompt: "hi" }).output'
const full = "kit: could not write the output: no space is left on the device\n"
const shut = "kit: could not write the output: it is closed, or not open for writing\n"

describe.runIf(existsSync("/dev/full"))("output that cannot be written", () => {
  it("fails a command whose value was lost, says why, and still ends with its session", async () => {
    const { code, err } = await run(">/dev/full", "compose", "-e", program)
    expect(code).toBe(1)
    expect(err).toContain(`${full}session: `)
    expect((await run(">/dev/full", "prompt", "hi")).code).toBe(1)
    for (const args of [["--help"], ["harness", "list"], ["acp", "--help"], ["sessions", "list", "--json"]]) {
      expect(await run(">/dev/full", ...args)).toEqual({ code: 1, out: "", err: full })
    }
    expect(await run(">/dev/full", "--version")).toEqual({ code: 1, out: "", err: full })
  })

  it.runIf(existsSync("/proc/self/fdinfo"))(
    "fails a command that was started without stdout, and none whose output is thrown away",
    async () => {
      expect(await run(">&-", "compose", "--no-session", "-e", "return 1")).toEqual({ code: 1, out: "", err: shut })
      expect(await run(">&-", "--version")).toEqual({ code: 1, out: "", err: shut })
      expect(await run(">/dev/null", "compose", "--no-session", "-e", "return 1")).toEqual({ code: 0, out: "", err: "" })
    },
  )

  it("loses progress without a word where only stderr takes nothing", async () => {
    for (const redirection of ["2>/dev/full", "2>&-"]) {
      expect(await run(redirection, "compose", "-e", program)).toEqual({ code: 0, out: '"echo: hi"\n', err: "" })
      expect(await run(redirection, "prompt", "hi")).toEqual({ code: 0, out: "echo: hi\n", err: "" })
    }
  })

  it("ends kit acp though its input stays open, and says why", async () => {
    const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } }
    for (const [redirection, why] of [
      [">/dev/full", full],
      [">&-", shut],
    ] as const) {
      const { input, ended } = kit.shell(`kit acp ${redirection}`)
      input.write(`${JSON.stringify(initialize)}\n`)
      expect(await ended).toEqual({ code: 1, out: "", err: why.replace("kit:", "kit acp:") })
    }
  })

  it("keeps the exit code of a failure, and leaves where both streams take nothing", async () => {
    expect(await run(">/dev/full", "compose", "-e", "return x", "--json")).toMatchObject({ code: 2 })
    expect(await run(">/dev/full 2>&1", "compose", "-e", program)).toEqual({ code: 1, out: "", err: "" })
  })
})
