import { expect, test } from "vitest"
import { cycles } from "../scripts/Cycles.ts"
import { tree } from "./Tree.ts"

test("refuses files that load each other and names the ring", () => {
  const at = tree({
    "packages/a/src/A.ts": 'import { b } from "./B.ts"\n',
    "packages/a/src/B.ts": 'import { c } from "./parts/C.ts"\n',
    "packages/a/src/parts/C.ts": 'import { a } from "../A.ts"\n',
  })
  expect(cycles(at)).toEqual(["packages/a/src/A.ts -> packages/a/src/B.ts -> packages/a/src/parts/C.ts -> packages/a/src/A.ts"])
})

test("allows a file's own namespace, types and late imports", () => {
  const at = tree({
    "packages/a/src/A.ts": 'import type { B } from "./B.ts"\nexport * as A from "./A.ts"\n',
    "packages/a/src/B.ts": 'import { a } from "./A.ts"\nexport const late = () => import("./C.ts")\n',
    "packages/a/src/C.ts": 'import { b } from "./B.ts"\n',
  })
  expect(cycles(at)).toEqual([])
})
