import { expect, test } from "vitest"
import { importsOf, packageOf } from "../scripts/Imports.ts"

test("finds every form of import with its line and what is left of it at run time", () => {
  const source = [
    'import * as Effect from "effect/Effect"',
    'import type { Exit } from "effect/Exit"',
    "import {",
    "  a,",
    "  type B,",
    '} from "./A.ts"',
    'export * as Self from "./Self.ts"',
    'export * from "./B.ts"',
    'import "./side.ts"',
    'export const late = () => import("./Late.ts")',
    "/**",
    ' * import("./documented.ts")',
    ' * import * as No from "no"',
    " */",
  ].join("\n")
  expect(importsOf(source).map((one) => [one.specifier, one.typeOnly, one.dynamic, one.line])).toEqual([
    ["effect/Effect", false, false, 1],
    ["effect/Exit", true, false, 2],
    ["./A.ts", false, false, 3],
    ["./Self.ts", false, false, 7],
    ["./B.ts", false, false, 8],
    ["./side.ts", false, false, 9],
    ["./Late.ts", false, true, 10],
  ])
})

test("names the package of a specifier", () => {
  expect(["effect/Effect", "@acp-kit/store/Log", "@acp-kit/store", "./A.ts", "node:fs", "bun:sqlite"].map(packageOf)).toEqual([
    "effect",
    "@acp-kit/store",
    "@acp-kit/store",
    undefined,
    undefined,
    undefined,
  ])
})
