import { afterAll, describe, expect, it } from "vitest"
import { kit } from "../src/Kit.ts"
import { Lab } from "../src/Lab.ts"
import { judge } from "../src/Rule.ts"
import { rulesOf } from "../src/Rules.ts"

for (const [name, version, batches] of [
  ["version 1", 1, false],
  ["version 2", 2, false],
  ["version 2 with batches", 2, true],
] as const) {
  describe(`kit acp, ${name}`, () => {
    const { subject, remove } = kit(version, batches)
    const lab = new Lab(subject)
    afterAll(async () => {
      await lab.end()
      remove()
    })
    for (const rule of rulesOf(version).filter(({ id }) => !batches || /^(BATCH|JSONRPC|INIT|SCHEMA)/.test(id))) {
      it(`${rule.id} ${rule.title}`, async () => {
        const { outcome, why } = await judge(rule, lab)
        expect(outcome === "missed" ? why : "").toBe("")
      })
    }
  })
}
