import { Subagents } from "@acp-kit/orchestrator"
import * as Effect from "effect/Effect"

const [command, ...args] = process.argv.slice(2)
const config = `
[subagent]
harness = "acp.mine"
[acp.mine]
command = ${JSON.stringify(command)}
args = ${JSON.stringify(args)}`

const program = Effect.gen(function* () {
  const root = process.cwd()
  const kit = yield* Subagents.open({ home: `${root}/kit-home`, root, env: process.env, config })
  const [one, two] = yield* Effect.all([kit.subagent({ prompt: "one" }), kit.subagent({ prompt: "two" })], { concurrency: 2 })
  const three = yield* kit.prompt({ subagent: one, prompt: "three" })
  console.log(JSON.stringify([one.output, two.output, three.output, three.generation]))
})

await Effect.runPromise(Effect.scoped(program))
