import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { output } from "../scripts/Outcomes.ts"
import { root } from "../scripts/Workspace.ts"

test("npm start runs the first program, and says how to go on and where to find what ran", async () => {
  const home = mkdtempSync(join(tmpdir(), "kit-start-"))
  try {
    const start = Bun.spawnSync(["node", "tooling/scripts/start.mjs"], { cwd: root, env: { ...process.env, KIT_HOME: home } })
    expect(start.exitCode, String(start.stderr)).toBe(0)
    expect(JSON.parse(String(start.stdout))).toHaveProperty("packages")
    const told = String(start.stderr)
    const [, session = ""] =
      /^session: (\S+)\n\nkit is ready; from here on, in this folder:\n {2}npx bunx kit --help\n/m.exec(told) ?? []
    expect(readdirSync(join(home, "sessions")), told).toContain(session)
    const [, list = ""] = /^ {2}KIT_HOME=\S+ npx bunx (kit .*?) +#/m.exec(told) ?? []
    const listed = await output(["bun", "x", ...list.split(" ")], { cwd: root, env: { KIT_HOME: home } })
    expect(listed).toContain(session)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}, 60_000)
