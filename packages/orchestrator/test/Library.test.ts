import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { World } from "./support/World.ts"

const run = promisify(execFile)
const script = fileURLToPath(new URL("./support/library.ts", import.meta.url))

describe("the library", () => {
  it.live("starts and continues children in a script of twenty lines, without the command", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const { command, args } = world.profile("review", {})
      const line = ["--conditions=@acp-kit/source", script, world.home, world.root, command, ...args]
      const { stdout } = yield* Effect.promise(() => run(process.execPath, line))
      expect(JSON.parse(stdout)).toEqual(["echo: one", "echo: two", "echo: three", 2])
      expect(world.alive()).toEqual([])
    }),
  )
})
