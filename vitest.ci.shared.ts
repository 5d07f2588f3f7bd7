import { defineConfig } from "vitest/config"
import shared from "./vitest.shared.ts"

/** What needs more than a stranger's machine has; `.ci/run` runs it. */
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ["test-ci/**/*.test.ts"],
    reporters: ["default", ["json", { outputFile: ".turbo/tests-ci.json" }]],
  },
})
