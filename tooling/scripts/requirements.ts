/** Reads the rows of a requirements document (Markdown tables `| ID | Behaviour |`) into `docs/reference/requirements.json`. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { requirementsFile } from "./Rows.ts"
import { root } from "./Workspace.ts"

const [document] = process.argv.slice(2)
if (document === undefined) {
  console.error("usage: bun tooling/scripts/requirements.ts DOCUMENT")
  process.exit(2)
}
const sections: Array<{ title: string; rows: Array<{ id: string; behaviour: string }> }> = []
for (const line of readFileSync(document, "utf8").split("\n")) {
  const title = /^## (.+)$/.exec(line)?.[1]
  if (title !== undefined) sections.push({ title, rows: [] })
  const row = /^\| ([CKS]\d{2,3}) \| (.+) \|$/.exec(line)
  if (row !== null) sections.at(-1)?.rows.push({ id: row[1] as string, behaviour: (row[2] as string).replaceAll("\\|", "|") })
}
writeFileSync(join(root, requirementsFile), `${JSON.stringify(sections, null, 2)}\n`)
console.log(`${requirementsFile}: ${sections.flatMap((section) => section.rows).length} rows`)
