/** A program that starts children, continues them, and says what was acknowledged, one JSON line each; to be killed at any time. */
import * as Fs from "node:fs"
import { JsonSchemas } from "@acp-kit/json-schema/JsonSchemas"
import type { Harness } from "@acp-kit/orchestrator/Harness"
import { Subagents } from "@acp-kit/orchestrator/Subagents"
import { Files } from "@acp-kit/platform/Files"
import { Host } from "@acp-kit/platform/Host"
import { Processes } from "@acp-kit/platform/Processes"
import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export interface Task {
  readonly home: string
  readonly root: string
  readonly profile: Harness.Profile
  readonly children: number
  readonly turns: number
}

const { home, root, profile, children, turns }: Task = JSON.parse(process.argv[2]!)
const say = (line: unknown) => Effect.sync(() => void Fs.writeSync(1, `${JSON.stringify(line)}\n`))

const child = (parent: Subagents.Interface, number: number) =>
  Effect.gen(function* () {
    let value = yield* parent.subagent({ prompt: `child ${number} turn 1`, name: `Child ${number}` })
    yield* say(value)
    for (let turn = 2; turn <= turns; turn++) {
      value = yield* parent.prompt({ subagent: value, prompt: `child ${number} turn ${turn}` })
      yield* say(value)
    }
  })

const policy = { ...profile.policy, aliases: new Map<string, string>() }
const main = Effect.gen(function* () {
  const store = yield* SessionStore.Service
  const session = yield* store.create({ cwd: root })
  yield* say({ session: session.id })
  const parent = yield* Subagents.make({
    session,
    depth: 0,
    root,
    additionalDirectories: [],
    harnesses: { profiles: [{ ...profile, policy }], default: profile.reference },
    inherited: Effect.succeed({}),
  })
  yield* Effect.forEach(
    Array.from({ length: children }, (_, number) => number),
    (number) => child(parent, number),
    { concurrency: "unbounded", discard: true },
  )
  yield* say({ done: true })
})

const host = {
  env: process.env as Record<string, string>,
  kitHome: home,
  cwd: root,
  self: [process.execPath] as const,
  version: "9.9.9",
}
const services = Layer.mergeAll(
  Processes.layer,
  Files.layer,
  Host.layerWith(host),
  JsonSchemas.layer,
  SessionStore.layerWith({ home }),
)
await Effect.runPromise(Effect.scoped(main).pipe(Effect.provide(services)))
