import { JsonSchemas } from "@acp-kit/json-schema/JsonSchemas"
import { Limits } from "@acp-kit/orchestrator/Limits"
import { Subagents } from "@acp-kit/orchestrator/Subagents"
import { Files } from "@acp-kit/platform/Files"
import { Host } from "@acp-kit/platform/Host"
import { SessionStore } from "@acp-kit/store/SessionStore"
import { rounds } from "@acp-kit/testing/Rounds"
import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { type Command, command, follow, type Machine, places } from "./support/HandleModel.ts"
import { host, MemoryAgents, profile } from "./support/MemoryAgents.ts"
import { ProcessMachine } from "./support/ProcessMachine.ts"

const memory: Effect.Effect<Machine> = Effect.gen(function* () {
  const agents = new MemoryAgents()
  const services = Layer.mergeAll(
    agents.layer,
    Files.layer,
    Host.layerWith(host),
    JsonSchemas.layer,
    SessionStore.layerMemory,
    Limits.layerWith({ liveChildren: places }),
  )
  const context = yield* Effect.scoped(Layer.build(services))
  let known: string | undefined
  const open = Effect.gen(function* () {
    const scope = yield* Scope.fork(yield* Effect.scope)
    return yield* Effect.gen(function* () {
      const store = yield* SessionStore.Service
      const session = yield* known === undefined ? store.create({ cwd: "/" }) : store.openWriter(known)
      known = session.id
      const subagents = yield* Subagents.make({
        session,
        depth: 0,
        root: "/",
        additionalDirectories: [],
        harnesses: { profiles: [profile], default: profile.reference },
        inherited: Effect.succeed({}),
      })
      return { ...subagents, session, end: Scope.close(scope, Exit.void) }
    }).pipe(Effect.provideContext(context), Effect.provideService(Scope.Scope, scope), Effect.orDie)
  })
  return {
    open,
    prepare: () => undefined,
    hangs: agents.hangs,
    running: () => agents.running,
    kill: (session) => agents.kill(session),
  }
})

/** Many random runs; the steps of one that fails are told. */
const all = Effect.fnUntraced(function* <R>(count: number, machine: Effect.Effect<Machine, never, R>) {
  const steps = Arbitrary.array(command, { minLength: 15, maxLength: 40 })
  const samples: ReadonlyArray<ReadonlyArray<Command>> = yield* Effect.orDie(Arbitrary.sampleEffect(steps, { count, size: 30 }))
  for (const commands of samples) {
    const exit = yield* Effect.exit(Effect.flatMap(machine, (each) => follow(each, commands)))
    if (Exit.isFailure(exit)) expect.fail(`${JSON.stringify(commands)}\n${String(exit.cause)}`)
  }
})

describe("any sequence of verbs, failures, cancellations and restarts", () => {
  it.live(
    "S12 S13 S18 S23 S41 S43 S101 S154 S161 leaves states, generations, names, places and records as a pure model has them",
    () => all(rounds({ quick: 30, ci: 300, long: 2_000 }), memory),
    600_000,
  )

  it.live(
    "S12 S13 S18 S23 S41 S43 S101 S154 S161 does so with processes on a disk, killed in between",
    () => all(rounds({ quick: 2, ci: 40, long: 40 }), ProcessMachine.make),
    600_000,
  )
})
