import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { barrels } from "./Barrels.ts"
import { cliPage } from "./CliPage.ts"
import { papers } from "./Papers.ts"
import { rowsPage } from "./Rows.ts"

/** Every generated file as it should be, by its path below the root. */
export const generated = (at: string): ReadonlyMap<string, string> =>
  new Map([...barrels(at), ...papers(at), ...cliPage(at), ["docs/reference/rows.md", rowsPage(at)]])

const present = (at: string, file: string) => (existsSync(join(at, file)) ? readFileSync(join(at, file), "utf8") : undefined)

/** Generated files that are missing or not what their sources say. Empty is good. */
export const stale = (at: string): ReadonlyArray<string> =>
  [...generated(at)]
    .filter(([file, content]) => present(at, file) !== content)
    .map(([file]) => `${file}: is not fresh; run \`bun run generate\``)

/** Writes what is not fresh and returns the paths written. */
export const regenerate = (at: string): ReadonlyArray<string> =>
  [...generated(at)]
    .filter(([file, content]) => present(at, file) !== content)
    .map(([file, content]) => {
      writeFileSync(join(at, file), content)
      return file
    })
