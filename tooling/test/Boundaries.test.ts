import { expect, test } from "vitest"
import { arrows, boundaries } from "../scripts/Boundaries.ts"
import { importsOf, packageOf } from "../scripts/Imports.ts"
import { tree } from "./Tree.ts"

const manifest = (directory: string, dependencies: ReadonlyArray<string> = []) =>
  JSON.stringify({
    name: `@acp-kit/${directory.split("/")[1]}`,
    private: true,
    dependencies: Object.fromEntries(dependencies.map((name) => [name, "*"])),
  })

/** A tree with every member of the table, each empty, and these files over it; a member declares what its files import. */
const workspace = (files: Readonly<Record<string, string>>) =>
  tree({
    ...Object.fromEntries(
      Object.keys(arrows).map((directory) => {
        const imports = Object.entries(files)
          .filter(([file]) => file.startsWith(`${directory}/src/`))
          .flatMap(([, source]) => importsOf(source).map((found) => packageOf(found.specifier)))
        return [
          `${directory}/package.json`,
          manifest(
            directory,
            imports.filter((name) => name !== undefined),
          ),
        ]
      }),
    ),
    ...files,
  })

test("refuses nothing in a tree that keeps to the table", () => {
  const at = workspace({
    "packages/orchestrator/src/A.ts": 'import * as Log from "@acp-kit/store/Log"\nimport * as Effect from "effect/Effect"\n',
    "packages/platform/src/A.ts": 'import * as ChildProcess from "effect/process/ChildProcess"\n',
    "packages/store/src/Lock.ts": 'import { Database } from "bun:sqlite"\n',
    "packages/store/test/Log.test.ts": 'import { expect } from "vitest"\nimport { Log } from "../src/Log.ts"\n',
  })
  expect(boundaries(at)).toEqual([])
})

test.each([
  ["a leaf that knows another leaf", "packages/store/src/A.ts", 'import { Json } from "@acp-kit/protocol/Json"\n'],
  ["a type of another leaf", "packages/store/src/A.ts", 'import type { Json } from "@acp-kit/protocol/Json"\n'],
  ["another leaf in a test", "packages/runlet/test/A.test.ts", 'import { Json } from "@acp-kit/protocol/Json"\n'],
  ["a late import", "packages/cli/src/A.ts", 'export const a = () => import("@acp-kit/acp-server/AcpServer")\n'],
  ["a library that is not in the table", "packages/runlet/src/A.ts", 'import { parse } from "smol-toml"\n'],
  ["a module of Effect that is bound", "packages/orchestrator/src/A.ts", 'import * as C from "effect/process/ChildProcess"\n'],
  ["a module of one runtime", "packages/runlet/src/A.ts", 'import { Database } from "bun:sqlite"\n'],
  ["a path out of the package", "packages/cli/src/A.ts", 'import { a } from "../../agent/src/A.ts"\n'],
  ["its own barrel", "packages/cli/src/A.ts", 'import { a } from "@acp-kit/cli"\n'],
])("refuses %s", (_, file, source) => {
  expect(boundaries(workspace({ [file]: source }))).toContainEqual(expect.stringContaining(`${file}:1: `))
})

test("refuses an import that package.json does not declare, and a declaration that nobody imports", () => {
  const at = workspace({
    "packages/runlet/package.json": manifest("packages/runlet", ["@acp-kit/json-schema"]),
    "packages/runlet/src/A.ts": 'import * as Effect from "effect/Effect"\n',
  })
  expect(boundaries(at)).toEqual([
    "packages/runlet/package.json: @acp-kit/json-schema is never imported",
    "packages/runlet/src/A.ts:1: effect is not in packages/runlet/package.json",
  ])
})

test("refuses a dependency outside the table, and a published program with dependencies", () => {
  const at = workspace({
    "packages/store/package.json": JSON.stringify({ name: "@acp-kit/store", dependencies: { "@acp-kit/runlet": "*" } }),
    "apps/kit/package.json": JSON.stringify({ name: "@acp-kit/kit", dependencies: { effect: "*" } }),
  })
  expect(
    boundaries(at)
      .filter((line) => !line.endsWith("is never imported"))
      .sort(),
  ).toEqual([
    "apps/kit/package.json: the published program is a bundle and has no dependencies",
    "packages/store/package.json: must not know @acp-kit/runlet",
  ])
})

test("refuses a member that is not in the table", () => {
  expect(boundaries(workspace({ "packages/extra/package.json": '{"name":"@acp-kit/extra"}' }))).toEqual([
    "packages/extra: is not in the table of tooling/scripts/Boundaries.ts",
  ])
})
