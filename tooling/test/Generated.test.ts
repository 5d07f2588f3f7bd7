import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { regenerate, stale } from "../scripts/Generated.ts"
import { unknownRows } from "../scripts/Rows.ts"
import { tree } from "./Tree.ts"

const requirements = JSON.stringify([
  {
    title: "Limits",
    rows: [
      { id: "S160", behaviour: "Depth 2 | no more." },
      { id: "S161", behaviour: "120 children." },
    ],
  },
])

/** A file with one test whose name starts with these IDs. */
const suite = (ids: ReadonlyArray<string>, name: string) => `it.live("${[...ids, name].join(" ")}", () => {})\n`

const workspace = () =>
  tree({
    "docs/reference/requirements.json": requirements,
    "packages/a/package.json": JSON.stringify({ name: "@acp-kit/a", exports: { ".": "./src/index.ts" } }),
    "packages/a/src/Log.ts": "export const a = 1\n",
    "packages/a/src/Child.ts": "/** Public. */\nexport const a = 1\n",
    "packages/a/src/Hidden.ts":
      'import * as Effect from "effect/Effect"\n\n/**\n * Ours only.\n * @internal\n */\nexport const a = 1\n',
    "packages/a/test/Log.test.ts": suite(["S160", "C160"], "stops at depth 2") + suite([], "counts"),
  })

test("generates the barrel of the public modules and the page of rows, then finds them fresh", () => {
  const at = workspace()
  expect(regenerate(at)).toEqual(["packages/a/src/index.ts", "packages/a/README.md", "docs/reference/rows.md"])
  expect(readFileSync(join(at, "packages/a/src/index.ts"), "utf8").split("\n").slice(1)).toEqual([
    'export * as Child from "./Child.ts"',
    'export * as Log from "./Log.ts"',
    "",
  ])
  const page = readFileSync(join(at, "docs/reference/rows.md"), "utf8")
  expect(page).toContain("| S160 | Depth 2 \\| no more. | stops at depth 2 ([test](../../packages/a/test/Log.test.ts)) |")
  expect(page).toContain("| S161 | 120 children. | **open** |")
  expect(page).toContain("1 of 2 rows have a test.")
  expect(stale(at)).toEqual([])
})

test("refuses generated files that no longer say what their sources do", () => {
  const at = workspace()
  regenerate(at)
  writeFileSync(join(at, "packages/a/src/Roster.ts"), "export const a = 1\n")
  writeFileSync(join(at, "packages/a/test/Log.test.ts"), suite(["S161"], "counts"))
  expect(stale(at)).toEqual([
    "packages/a/src/index.ts: is not fresh; run `bun run generate`",
    "packages/a/README.md: is not fresh; run `bun run generate`",
    "docs/reference/rows.md: is not fresh; run `bun run generate`",
  ])
})

test("refuses a test that names a row that does not exist", () => {
  expect(unknownRows(workspace())).toEqual(['packages/a/test/Log.test.ts: there is no row C160 ("stops at depth 2")'])
})
