import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
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

test("the command line and the nested server are one file with bytecode each, and no source map lies beside them", () => {
  const files = readdirSync(join(app, "dist"))
  expect(files.sort()).toEqual(["acp.js", "acp.js.jsc", "cli.js", "cli.js.jsc", "kit.js"])
  for (const file of ["acp.js", "cli.js"]) {
    expect(readFileSync(join(app, "dist", file), "utf8")).toMatch(/^\/\/ @bun @bytecode @bun-cjs/)
  }
})
