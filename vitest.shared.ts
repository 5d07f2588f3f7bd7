import { defineConfig } from "vitest/config"

const conditions = ["@acp-kit/source", "module", "import", "default"]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    pool: "forks",
    include: ["test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    passWithNoTests: true,
    reporters: ["default", ["json", { outputFile: ".turbo/tests.json" }]],
  },
})
