import { JsonSchemas } from "@acp-kit/json-schema"
import { Config, Harness, Subagents } from "@acp-kit/orchestrator"
import { Files, Host, Processes } from "@acp-kit/platform"
import { SessionStore } from "@acp-kit/store"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const [home = "", root = "", command = "", ...args] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const settings = yield* Config.decode(
    "config.toml",
    `[acp.review]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`,
  )
  const harnesses = { ...Harness.fromTables(settings, ["kit"]), default: "acp.review" as const }
  const session = yield* (yield* SessionStore.Service).create({ cwd: root })
  const kit = yield* Subagents.make({
    session,
    depth: 0,
    root,
    additionalDirectories: [],
    harnesses,
    inherited: Effect.succeed({}),
  })
  const [one, two] = yield* Effect.all([kit.subagent({ prompt: "one" }), kit.subagent({ prompt: "two" })], { concurrency: 2 })
  const three = yield* kit.prompt({ subagent: one, prompt: "three" })
  console.log(JSON.stringify([one.output, two.output, three.output, three.generation]))
})

const host = {
  env: process.env as Record<string, string>,
  kitHome: home,
  cwd: root,
  self: [process.execPath] as const,
  version: "1",
}
const machine = Layer.mergeAll(
  Processes.layer,
  Files.layer,
  JsonSchemas.layer,
  SessionStore.layerWith({ home }),
  Host.layerWith(host),
)
await Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(machine)))
