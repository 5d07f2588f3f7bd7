import { Config, render } from "@acp-kit/orchestrator/Config"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

const refused = (source: string) => Effect.flip(Config.decode("/home/config.toml", source))

describe("ConfigHarnesses", () => {
  it.effect("S121 refuses a relative command with its line, and says what to write instead", () =>
    Effect.gen(function* () {
      const source =
        '[acp.plain]\ncommand = "agent"\n[acp.full]\ncommand = "/opt/agent"\n[acp.kit]\ncommand = "./rel"\n[acp.up]\ncommand = "../bin/"\n[acp.home]\ncommand = "~/agent"\n'
      const error = yield* refused(source)
      expect(error.problems.map(render)).toEqual([
        'line 6, acp.kit.command: ACP harness "kit" has the relative command "./rel": write "rel" and have it on PATH, or write its absolute path',
        'line 8, acp.up.command: ACP harness "up" has the relative command "../bin/": write a name and have it on PATH, or write its absolute path',
        'line 10, acp.home.command: ACP harness "home" has the relative command "~/agent": write "agent" and have it on PATH, or write its absolute path',
      ])
    }),
  )
})
