import { execFile } from "node:child_process"
import * as Fs from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { Subagents } from "@acp-kit/orchestrator/Subagents"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { World } from "./support/World.ts"

const run = promisify(execFile)
const script = fileURLToPath(new URL("../../../runtime-tests/src/orchestrator.ts", import.meta.url))
const readme = fileURLToPath(new URL("../README.md", import.meta.url))

const agentOf = (world: World) => {
  const { command, args } = world.profile("review", {})
  return [command, ...args] as const
}

describe("the library", () => {
  it("is shown by its README in twenty lines", () => {
    expect(Fs.readFileSync(readme, "utf8")).toContain(`\`\`\`ts\n${Fs.readFileSync(script, "utf8")}\`\`\``)
  })

  it.live("starts and continues children in that script, without the command", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const line = ["--conditions=@acp-kit/source", script, ...agentOf(world)]
      const { stdout } = yield* Effect.promise(() => run(process.execPath, line, { cwd: world.root }))
      expect(JSON.parse(stdout)).toEqual(["echo: one", "echo: two", "echo: three", 2])
      expect(world.alive()).toEqual([])
    }),
  )

  it.live("S101 opens a session again with its children, and refuses a configuration that is wrong", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const [command, ...args] = agentOf(world)
      const profile = `[acp.mine]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`
      const options = {
        home: world.home,
        root: world.root,
        env: process.env,
        config: `[subagent]\nharness = "acp.mine"\n${profile}`,
      }
      const [session, value] = yield* Effect.scoped(
        Effect.gen(function* () {
          const kit = yield* Subagents.open(options)
          return [kit.session.id, yield* kit.subagent({ prompt: "one" })] as const
        }),
      )
      const kit = yield* Subagents.open({ ...options, session })
      expect(yield* kit.prompt({ subagent: value, prompt: "two" })).toMatchObject({ output: "echo: two", generation: 2 })
      const refused = yield* Effect.flip(Subagents.open({ ...options, config: "[acp.mine]\ncommand = 1" }))
      expect(refused._tag).toBe("ConfigError")
    }).pipe(Effect.scoped),
  )
})
