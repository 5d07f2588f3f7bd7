import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { members, privateMembers } from "./Workspace.ts"

/** What one run of a test runner counted. `broken` says why there is no count, or why a count without failures is none. */
export interface Tally {
  readonly name: string
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly broken?: string
}

interface VitestReport {
  readonly success: boolean
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly numFailedTestSuites: number
}

/** Reads a report of vitest's JSON reporter. A report that is missing, or unsuccessful without a failed test, counts as one failure. */
export const readTally = (name: string, file: string): Tally => {
  if (!existsSync(file)) return { name, passed: 0, failed: 1, skipped: 0, broken: "no report was written" }
  const report = JSON.parse(readFileSync(file, "utf8")) as VitestReport
  const counts = {
    name,
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
  }
  if (report.success || counts.failed > 0) return counts
  return { ...counts, failed: 1, broken: "a test file or its clean-up failed outside any test" }
}

/** Adds tallies up under a new name. */
export const sum = (name: string, tallies: ReadonlyArray<Tally>): Tally => ({
  name,
  passed: tallies.reduce((total, tally) => total + tally.passed, 0),
  failed: tallies.reduce((total, tally) => total + tally.failed, 0),
  skipped: tallies.reduce((total, tally) => total + tally.skipped, 0),
})

/** The plain closing line, `N passed, N failed`, with what was skipped where something was. */
export const closingLine = (tally: Tally): string =>
  `${tally.passed} passed, ${tally.failed} failed${tally.skipped > 0 ? `, ${tally.skipped} skipped` : ""}`

/** Where each suite of the workspace writes its report, by the suite's directory. */
export const reports = (at: string): ReadonlyMap<string, string> =>
  new Map(
    [...members(at), ...privateMembers(at)]
      .filter((member) => member.manifest.scripts?.test !== undefined)
      .map(({ directory }) => [directory, join(at, directory, ".turbo/tests.json")]),
  )
