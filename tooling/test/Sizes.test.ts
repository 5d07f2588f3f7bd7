import { expect, test } from "vitest"
import { sizes, wall } from "../scripts/Sizes.ts"
import { tree } from "./Tree.ts"

test("refuses a file at the wall, and no generated one", () => {
  const at = tree({
    "packages/a/src/Long.ts": "x\n".repeat(wall),
    "packages/a/src/Fine.ts": "x\n".repeat(wall - 1),
    "packages/a/src/gen/Table.ts": "x\n".repeat(wall * 2),
  })
  expect(sizes(at)).toEqual([`packages/a/src/Long.ts: ${wall} lines; ${wall} is the wall`])
})
