import { run, setUp } from "./setup.mjs"

const bun = setUp()
process.stderr.write("set-up: building kit\n")
run(bun, ["tooling/scripts/bundle.ts"], { stdio: ["ignore", "ignore", "inherit"] })
process.stderr.write("\n$ kit compose examples/first-run.rnlt\n")
run(bun, ["apps/kit/bin/kit.js", "compose", "examples/first-run.rnlt", ...process.argv.slice(2)])
