import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { basename } from "node:path"
import { text } from "node:stream/consumers"
import { TestKit } from "@acp-kit/testing/TestKit"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
})
afterEach(() => kit.dispose())

const { command, args: prefix } = TestKit.program
const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

/** Starts `kit` behind a redirection of the shell; its input stays open. */
const start = (redirection: string, ...args: ReadonlyArray<string>) => {
  const line = [command, ...prefix, ...args].map(quote).join(" ")
  const env = { PATH: process.env.PATH ?? "", HOME: kit.folder, KIT_HOME: kit.kitHome, KIT_CHILD_MARK: basename(kit.folder) }
  return spawn("sh", ["-c", `exec ${line} ${redirection}`], { cwd: kit.dir, env })
}

const run = async (redirection: string, ...args: ReadonlyArray<string>) => {
  const started = start(redirection, ...args)
  const [out, err, [code]] = await Promise.all([text(started.stdout), text(started.stderr), once(started, "close")])
  return { code, out, err }
}

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
    expect(await run(">/dev/full", "--version")).toMatchObject({ code: 1, err: expect.stringContaining("kit: could not write") })
  })

  it.runIf(existsSync("/proc/self/fdinfo"))(
    "fails a command that was started without stdout, and none whose output is thrown away",
    async () => {
      expect(await run(">&-", "compose", "--no-session", "-e", "return 1")).toEqual({ code: 1, out: "", err: shut })
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
      const started = start(redirection, "acp")
      started.stdin.write(`${JSON.stringify(initialize)}\n`)
      const [err, [code]] = await Promise.all([text(started.stderr), once(started, "close")])
      expect([code, err]).toEqual([1, why.replace("kit:", "kit acp:")])
    }
  })

  it("keeps the exit code of a failure, and leaves where both streams take nothing", async () => {
    expect(await run(">/dev/full", "compose", "-e", "return x", "--json")).toMatchObject({ code: 2 })
    expect(await run(">/dev/full 2>&1", "compose", "-e", program)).toEqual({ code: 1, out: "", err: "" })
  })
})
