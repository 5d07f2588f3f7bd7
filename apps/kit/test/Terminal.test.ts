import { execFile, spawn, spawnSync } from "node:child_process"
import { basename } from "node:path"
import { promisify } from "node:util"
import { TestKit } from "@acp-kit/testing/TestKit"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
  await kit.configure('[subagent]\nharness = "acp.demo"')
})
afterEach(() => kit.dispose())

/** Runs `kit` on a terminal of 20 lines that `script` makes; `press` is typed once the text stands on the screen. */
const onTerminal = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  press?: { readonly when: string; readonly key: string },
  columns = 90,
) =>
  new Promise<{ readonly screen: string; readonly code: number | null }>((resolve, reject) => {
    const quoted = [TestKit.program.command, ...TestKit.program.args, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`)
    const command = `stty cols ${columns} rows 20; exec ${quoted.join(" ")}`
    const child = spawn("script", ["-qec", command, "/dev/null"], {
      cwd: kit.dir,
      env: {
        PATH: process.env.PATH ?? "",
        HOME: kit.folder,
        KIT_HOME: kit.kitHome,
        KIT_CHILD_MARK: basename(kit.folder),
        TERM: "xterm-256color",
        SHELL: "/bin/sh",
        ...env,
      },
    })
    let screen = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const before = screen
      screen += text
      if (press !== undefined && !before.includes(press.when) && screen.includes(press.when)) child.stdin.write(press.key)
    })
    child.on("error", reject)
    child.on("close", (code) => resolve({ screen: screen.replaceAll("\r\n", "\n"), code }))
  })

const escape = String.fromCharCode(27)
const program = 'a = subagent({ prompt: "one", name: "Scout" })\nreturn { list: [1, 2, 3], output: a.output }'

describe.runIf(process.env.KIT_TEST_CI)("kit compose on a terminal", () => {
  it("lays the value out, redraws one block, and leaves a line for each turn", async () => {
    await kit.agent("demo")
    const { screen, code } = await onTerminal(["compose", "-e", program], {})
    expect(code).toBe(0)
    expect(screen).toContain('{ "list": [1, 2, 3], "output": "echo: one" }\n')
    expect(screen).toContain("\u001b[?2026h")
    expect(screen).toMatch(/Scout.*idle/)
  })

  it("keeps every line within a narrow terminal, and tells the status there too", async () => {
    await kit.agent("demo")
    const { screen, code } = await onTerminal(["compose", "-e", program], { NO_COLOR: "1" }, undefined, 28)
    expect(code).toBe(0)
    const [progress = ""] = screen.split('{ "list"')
    const lines = progress.split(new RegExp(`\n|\r|${escape}\\[[?0-9]*[A-Za-z]`))
    expect(lines.filter((line) => [...line].length >= 28)).toEqual([])
    expect(lines.join("\n")).toMatch(/Scout +idle/)
  })

  it("uses no colour with NO_COLOR, and no cursor movement on a dumb terminal", async () => {
    await kit.agent("demo")
    const plain = await onTerminal(["compose", "-e", program], { NO_COLOR: "1" })
    expect(plain.screen).not.toMatch(new RegExp(`${escape}\\[[0-9;]*m`))
    const dumb = await onTerminal(["compose", "-e", program], { TERM: "dumb" })
    expect(dumb.screen).not.toContain("\u001b")
  })

  it("S150 takes Ctrl-C from the keyboard, ends with 130, and leaves the screen in order and no process", async () => {
    const agent = await kit.agent("demo", { reply: [{ say: "working" }, { awaitCancel: true }] })
    const { screen, code } = await onTerminal(["compose", "-e", program], {}, { when: "working", key: "\u0003" })
    expect(code).toBe(130)
    expect(screen).toContain("\u001b[Kkit: cancelling; Ctrl-C again kills\n")
    expect(screen).toMatch(/kit: cancelled\nsession: \S+\n$/)
    expect(agent.recording.received).toContain("session/cancel")
    expect(await kit.running()).toEqual([])
  })
})

const hasTmux = spawnSync("tmux", ["-V"]).status === 0

describe.runIf(process.env.KIT_TEST_CI && hasTmux)("kit compose in tmux", () => {
  it("leaves nothing of its redrawn block in the history, though it starts in the top row", async () => {
    await kit.agent("demo", { reply: [{ say: "working" }, { gate: `${kit.folder}/go` }] })
    const words = ["env", `HOME=${kit.folder}`, `KIT_HOME=${kit.kitHome}`, `KIT_CHILD_MARK=${basename(kit.folder)}`]
    const all = [...words, TestKit.program.command, ...TestKit.program.args, "compose", "-e", program]
    const command = all.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ")
    const server = ["-S", `${kit.folder}/tmux`, "-f", "/dev/null"]
    const tmux = async (...args: ReadonlyArray<string>) =>
      (await promisify(execFile)("tmux", [...server, ...args], { cwd: kit.dir })).stdout
    const shows = async (text: string | RegExp) => {
      for (;;) {
        const screen = await tmux("capture-pane", "-p")
        if (screen.match(text) !== null) return screen
      }
    }
    await tmux("new-session", "-d", "-x", "90", "-y", "20", `${command}; echo over; cat`)
    try {
      await shows(/1\.\d+s/)
      await kit.touch(`${kit.folder}/go`)
      expect(await shows("over")).toMatch(/^ *\d\.\ds +Scout/)
      expect(await tmux("display", "-p", "#{history_size}")).toBe("0\n")
    } finally {
      await tmux("kill-server")
    }
  })
})
