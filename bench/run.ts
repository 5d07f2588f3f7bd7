/** Runs benchmarks: `bun run bench [NAME]...`, all of them without a name. Each is a file beside this one that exports `measure`. */
import { readdirSync } from "node:fs"
import { cpus, loadavg } from "node:os"
import { join } from "node:path"
import { root } from "./Launch.ts"
import { type Measure, table } from "./Sample.ts"

const known = readdirSync(import.meta.dir)
  .filter((file) => /^[a-z][a-z-]*\.ts$/.test(file) && file !== "run.ts")
  .map((file) => file.replace(/\.ts$/, ""))
  .sort()
const wanted = process.argv.length > 2 ? process.argv.slice(2) : known
const unknown = wanted.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`no benchmark "${unknown.join('", "')}"; there are ${known.join(", ")}`)
  process.exit(2)
}

const built = Bun.spawnSync([process.execPath, join(root, "tooling/scripts/bundle.ts")], {
  stdio: ["ignore", "ignore", "inherit"],
})
if (built.exitCode !== 0) process.exit(1)

const load = () => loadavg()[0]?.toFixed(2)
console.log(`Bun ${Bun.version}, ${cpus().length} × ${cpus()[0]?.model}, load ${load()} before`)
for (const name of wanted) {
  const { measure } = (await import(`./${name}.ts`)) as { measure: () => Promise<ReadonlyArray<Measure>> }
  console.log(`\n## ${name}`)
  for (const one of await measure()) console.log(`\n${table(one)}`)
}
console.log(`\nload ${load()} after`)
