import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { program } from "@acp-kit/testing/TestKit"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { block } from "./Machine.ts"

/** Driven by a client that nobody here wrote; it is fetched, so only where more than a stranger's machine is at hand. */
describe.runIf(process.env.KIT_TEST_CI === "1")("kit acp with acpx 0.19.1", () => {
  let folder = ""
  let cwd = ""

  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "kit-acpx-")))
    cwd = join(folder, "work")
    for (const directory of [cwd, join(folder, ".acpx")]) mkdirSync(directory)
    const agents = { kit: { argv: [program.command, ...program.args, "acp"] } }
    writeFileSync(join(folder, ".acpx/config.json"), JSON.stringify({ agents, defaultAgent: "kit", ttl: 1 }))
    const fetched = spawnSync("npm", [
      "install",
      "--no-audit",
      "--no-fund",
      "--ignore-scripts",
      "--prefix",
      folder,
      "acpx@0.19.1",
    ])
    expect(String(fetched.stderr) + fetched.status).toMatch(/0$/)
  }, 180_000)

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const acpx = (...args: ReadonlyArray<string>) => {
    const env = { ...process.env, HOME: folder, KIT_HOME: join(folder, "kit-home") }
    const { status, stdout } = spawnSync("node", [join(folder, "node_modules/.bin/acpx"), "--approve-all", ...args], {
      cwd,
      env,
      timeout: 60_000,
    })
    return { status, out: String(stdout) }
  }

  it("answers one prompt and runs a program", () => {
    expect(acpx("kit", "exec", "hello there")).toMatchObject({ status: 0, out: expect.stringContaining("echo: hello there") })
    const { out } = acpx("kit", "exec", block('return shell({ command: "pwd" }).stdout', 'runlet intent="where"'))
    expect(out).toContain("[tool] where (completed)")
    expect(out).toContain(cwd)
  }, 60_000)

  it("goes on with a session, also after the process that had it is gone", () => {
    expect(acpx("kit", "sessions", "new", "--name", "work").status).toBe(0)
    expect(acpx("kit", "prompt", "-s", "work", "one").out).toContain("echo: one")
    expect(acpx("kit", "set", "reasoning_effort", "high", "-s", "work").status).toBe(0)
    spawnSync("sleep", ["3"])
    const frames = acpx("--format", "json", "kit", "prompt", "-s", "work", "two").out
    expect(frames).toContain('"method":"session/resume"')
    expect(frames).not.toContain('"method":"session/new"')
    expect(frames).toContain("echo: two")
  }, 60_000)

  it("cancels, and stops its work where the client just goes away", () => {
    const sleep = (seconds: number) => block(`return shell({ command: "sleep ${seconds}" })`)
    expect(acpx("kit", "prompt", "-s", "work", "--no-wait", sleep(3601)).status).toBe(0)
    spawnSync("sleep", ["1"])
    expect(acpx("kit", "cancel", "-s", "work").status).toBe(0)
    expect(acpx("kit", "prompt", "-s", "work", "three").out).toContain("echo: three")
    expect(acpx("--timeout", "2", "kit", "exec", sleep(3602)).status).toBe(3)
    spawnSync("sleep", ["3"])
    expect(String(spawnSync("pgrep", ["-f", "sleep 360[12]"]).stdout)).toBe("")
  }, 60_000)
})
