import { run, setUp } from "./setup.mjs"

const bun = setUp()
run(bun, ["tooling/scripts/suites.ts", ...process.argv.slice(2)])
