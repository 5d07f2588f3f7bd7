import { Harness } from "@acp-kit/orchestrator/Harness"
import { Limits } from "@acp-kit/orchestrator/Limits"
import { SubagentRunner } from "@acp-kit/orchestrator/SubagentRunner"
import { Host } from "@acp-kit/platform/Host"
import * as Effect from "effect/Effect"
import { Agents } from "../Agents.ts"
import { command } from "../Command.ts"
import { ComposeSession } from "../ComposeSession.ts"
import { ConfigFile } from "../ConfigFile.ts"
import { Flag } from "../Flag.ts"
import { inherited } from "../Inherited.ts"
import { LiveChildren } from "../LiveChildren.ts"
import { Output } from "../Output.ts"
import { Program } from "../Program.ts"
import { Store } from "../Store.ts"

interface Asked {
  readonly id: string
  readonly prompt: string
  readonly session: string | undefined
  readonly root: string | undefined
  readonly config: string | undefined
}

const turn = Effect.fnUntraced(function* ({ id, prompt, config, ...where }: Asked) {
  const settings = yield* ConfigFile.load(config)
  const host = yield* Host.Service
  const inheritance = yield* inherited(settings, config)
  const work = Effect.gen(function* () {
    const owner = yield* Store.tried(Agents.find(id, where))
    const { origin } = yield* Store.tried(owner.session.info)
    const asked = { id: owner.session.id, root: undefined, addDirs: [], title: undefined }
    const opened = yield* ComposeSession.open(asked, true)
    const options = {
      ...opened,
      depth: origin === "subagent" ? 1 : 0,
      harnesses: Harness.fromTables(settings, host.self),
      inherited: Effect.succeed(inheritance),
    }
    return yield* LiveChildren.use(options, (subagents) =>
      Effect.gen(function* () {
        const runner = yield* Store.tried(SubagentRunner.load(opened.session, subagents, id))
        return yield* Effect.mapError(runner.run(prompt), LiveChildren.refused)
      }),
    )
  })
  return yield* work.pipe(Effect.scoped, Effect.provide(Limits.layerWith(settings.limits)))
})

/** `kit subagents run ID PROMPT` (K09). */
export const subagentsRun = command({
  name: "run",
  summary: "continue an agent's conversation by one turn, and print its output",
  details: [
    "The agent's process is started, its conversation loaded, and ended again. One that was launched and never prompted begins; one that was closed, failed, or was cut off in a turn is retired.",
  ],
  parameters: {
    ID: Flag.required("the agent"),
    PROMPT: Flag.required("what it is asked next; - reads it from standard input"),
  },
  flags: {
    ...Agents.flags,
    json: Flag.toggle({ summary: "print {id, name, output, generation} and the updates of the turn" }),
  },
  examples: [{ line: 'subagents run ID "And the tests?"', does: "asks yesterday's agent another question" }],
  run: ({ parameters: { ID: id, PROMPT: given }, flags, config }) =>
    Effect.gen(function* () {
      const prompt = yield* Program.promptOf(given)
      const value = yield* Store.use(turn({ id, prompt, session: flags.session, root: flags.root, config }))
      if (flags.json) yield* Output.value(value, true)
      else if (typeof value.output === "string") yield* Output.said(`${value.output}\n`)
      else yield* Output.value(value.output, false)
      return 0 as const
    }),
})
