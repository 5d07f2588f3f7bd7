import * as Fs from "node:fs"
import { Compose } from "@acp-kit/orchestrator/Compose"
import { SubagentTools } from "@acp-kit/orchestrator/SubagentTools"
import type { Json } from "@acp-kit/runlet/Host"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { World } from "./support/World.ts"

/** A machine with an agent definition, whose reading takes longer than reading nothing. */
const machine = Effect.gen(function* () {
  const world = yield* World.make()
  Fs.mkdirSync(`${world.home}/agents`, { recursive: true })
  Fs.writeFileSync(`${world.home}/agents/slow.md`, `---\ndescription: slow\n---\n${"body ".repeat(20_000)}`)
  const parent = yield* world.open()
  const run = (source: string) => Effect.orDie(Compose.run({ source, tools: SubagentTools.make(parent), author: "person" }))
  return { run, parent }
})

describe("names", () => {
  it.live("S41 S43 go to calls that are made at once in the order of the source, whatever each has to read first", () =>
    Effect.gen(function* () {
      const { run } = yield* machine
      const program = `
first = subagent({ prompt: "a", name: "Scout", agent: "slow" })
second = subagent({ prompt: "b", name: "scout" })
third = subagent({ prompt: "c", name: "SCOUT", cwd: "." })
return [third.name, second.name, first.name]`
      expect(yield* run(program)).toEqual(["SCOUT 3", "scout 2", "Scout"])
      const loop = `return for agent in ["slow", "slow", "slow", "slow"] { return subagent({ prompt: "a", agent: agent, name: "Many" }).name }`
      expect(yield* run(loop)).toEqual(["Many", "Many 2", "Many 3", "Many 4"])
    }),
  )

  it.live("S41 S43 are reserved when a creation starts: one that waits for a value comes after one that waits for none", () =>
    Effect.gen(function* () {
      const { run } = yield* machine
      const program = `
source = subagent({ prompt: "s", name: "Source" })
waits = subagent({ prompt: source.output, name: "Scout" })
free = subagent({ prompt: "f", name: "Scout" })
return [waits.name, free.name]`
      expect(yield* run(program)).toEqual(["Scout 2", "Scout"])
    }),
  )

  it.live("S40 are never a reason to refuse a call: whatever is no name takes the lowest free Agent N, in fork too", () =>
    Effect.gen(function* () {
      const { parent } = yield* machine
      const none: ReadonlyArray<Json> = [null, 42, true, ["Scout"], { name: "Scout" }, ""]
      const children = yield* Effect.forEach(none, (name) => parent.subagent({ prompt: "x", name }))
      expect(children.map(({ name }) => name)).toEqual(none.map((_, at) => `Agent ${at + 1}`))
      expect((yield* parent.fork({ subagent: children[0]!, prompt: "y", name: 7 })).name).toBe("Agent 7")
      const defined = yield* parent.subagent({ prompt: "x", agent: "slow" })
      expect(defined.name).toBe("slow")
      expect((yield* parent.subagent({ prompt: "x", agent: "slow", name: null })).name).toBe("Agent 8")
    }),
  )
})
