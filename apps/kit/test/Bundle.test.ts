import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"

const app = join(import.meta.dirname, "..")
let alone: string

beforeEach(() => {
  alone = mkdtempSync(join(tmpdir(), "kit-bundle-"))
  cpSync(join(app, "bin"), join(alone, "bin"), { recursive: true })
})
afterEach(() => rmSync(alone, { recursive: true, force: true }))

const kit = (...args: ReadonlyArray<string>) => {
  const result = Bun.spawnSync([process.execPath, join(alone, "bin/kit.js"), ...args], { cwd: alone })
  return { code: result.exitCode, stdout: result.stdout.toString(), stderr: result.stderr.toString() }
}

test("kit --version answers from its first file alone, without loading another", () => {
  cpSync(join(app, "dist/kit.js"), join(alone, "dist/kit.js"))
  const { version } = JSON.parse(readFileSync(join(app, "package.json"), "utf8"))
  expect(kit("--version")).toEqual({ code: 0, stdout: `kit ${version}\n`, stderr: "" })
})

test("a kit without its bundle says what to do", () => {
  expect(kit("--version")).toMatchObject({ code: 70, stdout: "", stderr: expect.stringContaining("install @acp-kit/kit again") })
})

test("kit acp answers --version as kit does, and --help as every command does", () => {
  cpSync(join(app, "dist"), join(alone, "dist"), { recursive: true })
  expect(kit("acp", "--version")).toEqual(kit("--version"))
  const { code, stdout } = kit("acp", "--help")
  expect(code).toBe(0)
  expect(stdout).toMatch(/^kit acp: be an ACP agent over stdio.*\n\nusage: kit acp .*\n/)
  expect(stdout).toContain("--config FILE")
})

/** Node itself: Bun puts a `node` of its own in front of the path. */
const node = (process.env.PATH ?? "")
  .split(":")
  .filter((directory) => !basename(directory).startsWith("bun-node"))
  .map((directory) => join(directory, "node"))
  .find(existsSync)

test.runIf(node)("started by Node it says that it needs Bun, and how to get there", () => {
  const started = spawnSync(node ?? "", [join(alone, "bin/kit.js"), "--version"], { encoding: "utf8" })
  expect([started.status, started.stdout]).toEqual([70, ""])
  expect(started.stderr).toBe(
    `kit: this runs on Bun, not on Node: npx -y bun ${join(alone, "bin/kit.js")} …; https://bun.sh installs it for good\n`,
  )
})

test("the command line and the nested server are one file with bytecode each, and no source map lies beside them", () => {
  const files = readdirSync(join(app, "dist"))
  expect(files.sort()).toEqual(["acp.js", "acp.js.jsc", "cli.js", "cli.js.jsc", "kit.js"])
  for (const file of ["acp.js", "cli.js"]) {
    expect(readFileSync(join(app, "dist", file), "utf8")).toMatch(/^\/\/ @bun @bytecode @bun-cjs/)
  }
})
