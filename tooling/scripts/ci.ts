/**
 * What `.ci/run` does after the test command: every check of the tree, the packages on three runtimes, and the sum of
 * all. Prints a line per check and closes with `N passed, N failed`.
 */
import { join } from "node:path"
import { runtimeTests } from "../../runtime-tests/run.ts"
import { outcomes, output } from "./Outcomes.ts"
import { closingLine, readTally, reports, sum } from "./TestReport.ts"
import { root } from "./Workspace.ts"

const { check, skip, tally } = outcomes("checks")
const turbo = (task: string) => () =>
  output(["turbo", "run", task, "--output-logs=errors-only", "--continue=always"], { cwd: root })

await check("types, and what the Effect language service knows", turbo("typecheck"))
await check("lint and format", () => output(["biome", "check", "."], { cwd: root }))
await check("package boundaries", turbo("boundaries"))
await check("import cycles", turbo("cycles"))
await check("file sizes", turbo("sizes"))
await check("generated files are fresh", turbo("fresh"))
await check("every requirement a test names exists", turbo("rows"))

/** Runs tests of a file at full length, which `npm test` shortens: they wait as long as a user would, or try as much as they can. At least one must have run. */
const waiting =
  (directory: string, file: string, ...named: ReadonlyArray<string>) =>
  async () => {
    const printed = await output(["bun", "--bun", "vitest", "run", file, ...named, "--reporter=dot", "--no-color"], {
      cwd: join(root, directory),
      env: { KIT_TEST_LONG: "1", NO_COLOR: "1" },
    })
    if (!/Tests +\d+ passed/.test(printed)) throw new Error(`no test ran:\n${printed}`)
  }
await check("the deadlines of the orchestrator, as they are", waiting("packages/orchestrator", "test/Deadlines.test.ts"))
await check("the deadline of a silent harness, as it is", waiting("apps/kit", "test/Harness.test.ts", "-t", "S162"))

await check(
  "ten thousand random programs through everything the language does",
  waiting("packages/runlet", "test/Properties.test.ts", "test/Fixes.test.ts"),
)
await check("ten thousand random schemas and patterns", waiting("packages/json-schema", "test/Differential.test.ts"))

/** What a package does with an adapter of a vendor; the registry may be out of reach. */
const vendor = async (name: string, what: string) => {
  const directory = join(root, "packages", name)
  const held = await output(["bun", "run", "test:ci"], { cwd: directory }).then(
    () => readTally(name, join(directory, ".turbo/tests-ci.json")),
    (failed: Error) => failed,
  )
  if (!(held instanceof Error) && held.skipped > 0) return skip(what, "the package could not be installed from the registry")
  await check(what, () => {
    if (held instanceof Error) throw held
  })
}
await vendor("protocol", "a conversation with codex-acp over a model on the loopback")
await vendor("orchestrator", "the life of a codex-acp child, over a restart")

const suites = [...reports(root)].map(([suite, report]) => readTally(suite, report))
const total = sum("all", [...suites, tally(), await runtimeTests()])
console.log(`\n${closingLine(total)}`)
process.exit(total.failed > 0 ? 1 : 0)
