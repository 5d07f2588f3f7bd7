/**
 * Runs every test suite through turbo, prints a line per package and closes with `N passed, N failed`.
 * Further arguments go to turbo (`--force`, `--filter=...`).
 */
import { rmSync } from "node:fs"
import { join } from "node:path"
import { closingLine, readTally, sum } from "./TestReport.ts"
import { members, root } from "./Workspace.ts"

const started = performance.now()
const suites = [...members(root).map((member) => member.directory), "tooling"]
const reportOf = (directory: string) => join(root, directory, ".turbo/tests.json")
for (const directory of suites) rmSync(reportOf(directory), { force: true })

const turbo = Bun.spawnSync(
  ["turbo", "run", "test", "--continue=always", "--concurrency=2", "--output-logs=errors-only", ...process.argv.slice(2)],
  {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  },
)

const tallies = suites.map((directory) => readTally(directory, reportOf(directory)))
console.log("")
for (const tally of tallies)
  console.log(`${tally.name.padEnd(24)} ${closingLine(tally)}${tally.broken ? ` (${tally.broken})` : ""}`)
const total = sum("all", tallies)
console.log(`\nin ${((performance.now() - started) / 1000).toFixed(0)} s`)
console.log(closingLine(total))
process.exit(total.failed > 0 || turbo.exitCode !== 0 ? 1 : 0)
