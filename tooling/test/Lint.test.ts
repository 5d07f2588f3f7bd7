import { readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { root } from "../scripts/Workspace.ts"
import { tree } from "./Tree.ts"

const preset = () => {
  const { vcs: _, ...rest } = JSON.parse(readFileSync(join(root, "biome.json"), "utf8"))
  return JSON.stringify(rest)
}

const inRoot = (command: ReadonlyArray<string>, cwd: string) => {
  const [program, ...args] = command
  const result = Bun.spawnSync([join(root, "node_modules/.bin", program as string), ...args], {
    cwd,
    env: { ...process.env, XDG_CACHE_HOME: join(cwd, ".cache") },
  })
  return { code: result.exitCode, output: `${result.stdout}${result.stderr}` }
}

const lint = (file: string, source: string) => inRoot(["biome", "check", file], tree({ "biome.json": preset(), [file]: source }))

test.each([
  ["style/noRestrictedImports", "packages/cli/src/A.ts", 'import { Effect } from "effect"\n\nexport const a = Effect.void\n'],
  ["style/noRestrictedImports", "packages/cli/test/A.test.ts", 'import { Schema } from "@effect/schema/Schema"\n\nSchema()\n'],
  ["style/noRestrictedImports", "packages/cli/src/A.ts", 'import { Log } from "./index.ts"\n\nexport const a = Log\n'],
  ["correctness/noNodejsModules", "packages/agent/src/A.ts", 'import { rm } from "node:fs"\n\nexport const a = rm\n'],
  ["style/noRestrictedGlobals", "packages/runlet/src/A.ts", "export const a = process.env\n"],
  ["suspicious/noConsole", "packages/platform/src/A.ts", "console.log(1)\n"],
  ["nursery/noJsRestrictedProperties", "packages/store/src/A.ts", "export const a = Date.now()\n"],
  ["nursery/noJsRestrictedProperties", "packages/store/src/A.ts", "export const a = Math.random()\n"],
  ["style/noDefaultExport", "packages/store/src/A.ts", "export default 1\n"],
  ["suspicious/noFocusedTests", "packages/store/test/A.test.ts", 'import { it } from "vitest"\n\nit.only("a", () => {})\n'],
  ["suspicious/noSkippedTests", "packages/store/test/A.test.ts", 'import { it } from "vitest"\n\nit.skip("a", () => {})\n'],
  ["format", "packages/store/src/A.ts", "export const a = 1;\n"],
])("the linter refuses what %s is for", (rule, file, source) => {
  const { code, output } = lint(file, source)
  expect(output).toContain(rule)
  expect(code).toBe(1)
})

test.each([
  ["packages/platform/src/A.ts", 'import { rm } from "node:fs"\n\nexport const a = [rm, process.pid]\n'],
  ["packages/store/src/DiskLive.ts", 'import { rm } from "node:fs"\n\nexport const a = rm\n'],
  ["apps/kit/src/A.ts", "export const a = process.argv\n"],
  ["packages/cli/vitest.config.ts", "export default {}\n"],
])("the linter lets the owner do it: %s", (file, source) => {
  expect(lint(file, source)).toMatchObject({ code: 0 })
})

const typescript = (source: string) => {
  const at = tree({
    "tsconfig.base.json": readFileSync(join(root, "tsconfig.base.json"), "utf8"),
    "tsconfig.json": '{ "extends": "./tsconfig.base.json", "compilerOptions": { "noEmit": true }, "include": ["A.ts"] }',
    "package.json": '{ "type": "module" }',
    "A.ts": source,
  })
  symlinkSync(join(root, "node_modules"), join(at, "node_modules"))
  return at
}

test.each([
  ["TS2322", 'export const a: number = "x"\n'],
  ["TS1294", "export enum A {\n  B,\n}\n"],
  ["TS2375", "export const a: { b?: number } = { b: undefined }\n"],
])("the type check refuses %s", (code, source) => {
  const { output, ...rest } = inRoot(["tsc", "-p", "."], typescript(source))
  expect(output).toContain(code)
  expect(rest.code).not.toBe(0)
})

test("the Effect check refuses an effect that nobody runs", () => {
  const at = typescript('import * as Effect from "effect/Effect"\n\nEffect.log("lost")\n')
  const { code, output } = inRoot(["effect-tsgo", "diagnostics", "--project", "tsconfig.json"], at)
  expect(output).toContain("floatingEffect")
  expect(code).toBe(1)
})
