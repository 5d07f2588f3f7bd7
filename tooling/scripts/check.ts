/** Runs one check of the tree: `bun check.ts boundaries|cycles|sizes|fresh|rows`. Prints what it refuses and exits 1, or says that it found nothing. */
import { boundaries } from "./Boundaries.ts"
import { cycles } from "./Cycles.ts"
import { stale } from "./Generated.ts"
import { unknownRows } from "./Rows.ts"
import { sizes } from "./Sizes.ts"
import { root } from "./Workspace.ts"

const checks: Readonly<Record<string, (at: string) => ReadonlyArray<string>>> = {
  boundaries,
  cycles,
  sizes,
  fresh: stale,
  rows: unknownRows,
}

const [name = ""] = process.argv.slice(2)
const check = checks[name]
if (check === undefined) {
  console.error(`no check "${name}"; there are ${Object.keys(checks).join(", ")}`)
  process.exit(2)
}
const refused = check(root)
for (const line of refused) console.error(line)
console.log(`${name}: ${refused.length === 0 ? "nothing refused" : `${refused.length} refused`}`)
process.exit(refused.length === 0 ? 0 : 1)
