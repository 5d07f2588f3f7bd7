import { defineConfig, mergeConfig } from "vitest/config"
import shared from "../../vitest.shared.ts"

/** These tests wait for other processes most of the time, so more of them than cores run at once. */
export default mergeConfig(shared, defineConfig({ test: { maxWorkers: 4 } }))
