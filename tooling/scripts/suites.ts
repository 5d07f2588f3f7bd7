/**
 * Runs every test suite through turbo, prints a line per suite and closes with `N passed, N failed`.
 * Further arguments go to turbo (`--force`, `--filter=...`).
 */
import { rmSync } from "node:fs"
import { closingLine, readTally, reports, sum } from "./TestReport.ts"
import { root } from "./Workspace.ts"

const started = performance.now()
for (const report of reports(root).values()) rmSync(report, { force: true })
const turbo = Bun.spawnSync(
  ["turbo", "run", "test", "--continue=always", "--concurrency=2", "--output-logs=errors-only", ...process.argv.slice(2)],
  { cwd: root, stdio: ["ignore", "inherit", "inherit"] },
)

const tallies = [...reports(root)].map(([suite, report]) => readTally(suite, report))
console.log("")
for (const tally of tallies)
  console.log(`${tally.name.padEnd(24)} ${closingLine(tally)}${tally.broken ? ` (${tally.broken})` : ""}`)
const total = sum("all", tallies)
console.log(`\nin ${((performance.now() - started) / 1000).toFixed(0)} s\n${closingLine(total)}`)
process.exit(total.failed > 0 || turbo.exitCode !== 0 ? 1 : 0)
