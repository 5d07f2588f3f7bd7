import { join } from "node:path"
import { expect, test } from "vitest"
import { closingLine, readTally, sum } from "../scripts/TestReport.ts"
import { tree } from "./Tree.ts"

const report = (counts: object) =>
  JSON.stringify({ numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, success: true, ...counts })

test("sums what the suites counted and closes with the plain line", () => {
  const at = tree({
    "a.json": report({ numPassedTests: 3 }),
    "b.json": report({ numPassedTests: 1, numFailedTests: 1, numPendingTests: 2, success: false }),
  })
  const tallies = ["a", "b"].map((name) => readTally(name, join(at, `${name}.json`)))
  expect(closingLine(sum("all", tallies))).toBe("4 passed, 1 failed, 2 skipped")
  expect(closingLine(sum("all", tallies.slice(0, 1)))).toBe("3 passed, 0 failed")
})

test("counts a suite that broke outside its tests, or wrote no report, as a failure", () => {
  const at = tree({ "a.json": report({ numPassedTests: 3, success: false }) })
  expect(readTally("a", join(at, "a.json"))).toMatchObject({ passed: 3, failed: 1 })
  expect(readTally("b", join(at, "b.json"))).toMatchObject({ passed: 0, failed: 1 })
})
