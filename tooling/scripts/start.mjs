import { resolve } from "node:path"
import { environment, root, run, setUp } from "./setup.mjs"

const bun = setUp()
process.stderr.write("set-up: building kit\n")
run(bun, ["tooling/scripts/bundle.ts"], { stdio: ["ignore", "ignore", "inherit"] })
const home = process.env.KIT_HOME ?? ".kit"
process.stderr.write(`\n$ KIT_HOME=${home} kit compose examples/first-run.rnlt\n`)
run(bun, ["apps/kit/bin/kit.js", "compose", "examples/first-run.rnlt", ...process.argv.slice(2)], {
  env: { ...environment, KIT_HOME: resolve(root, home) },
})
process.stderr.write(`
kit is ready; from here on, in this folder:
  npx bunx kit --help
  KIT_HOME=${home} npx bunx kit sessions list    # what just ran
`)
