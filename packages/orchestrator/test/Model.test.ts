import { Limits } from "@acp-kit/orchestrator/Limits"
import { SessionStore } from "@acp-kit/store/SessionStore"
import { rounds } from "@acp-kit/testing/Rounds"
import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { type Command, command, follow, type Machine, places } from "./support/HandleModel.ts"
import { MemoryAgents } from "./support/MemoryAgents.ts"
import { MemoryParent } from "./support/MemoryParent.ts"
import { ProcessMachine } from "./support/ProcessMachine.ts"

const memory: Effect.Effect<Machine> = Effect.gen(function* () {
  const agents = new MemoryAgents()
  const services = Layer.merge(
    MemoryParent.services(agents, SessionStore.layerMemory),
    Limits.layerWith({ liveChildren: places }),
  )
  const context = yield* Effect.scoped(Layer.build(services))
  let known: string | undefined
  const open = Effect.gen(function* () {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const opening = MemoryParent.open(known).pipe(Effect.provideContext(context), Effect.provideService(Scope.Scope, scope))
    const parent = yield* Effect.orDie(opening)
    known = parent.session.id
    return { ...parent, end: Scope.close(scope, Exit.void) }
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
