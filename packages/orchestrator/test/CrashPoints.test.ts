import { SubagentRunner } from "@acp-kit/orchestrator/SubagentRunner"
import { Disk } from "@acp-kit/store/Disk"
import { DiskModel } from "@acp-kit/store/DiskModel"
import { Lock } from "@acp-kit/store/Lock"
import { SessionStore } from "@acp-kit/store/SessionStore"
import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import { host, MemoryAgents } from "./support/MemoryAgents.ts"
import { MemoryParent } from "./support/MemoryParent.ts"

const changing = [
  "openExclusive",
  "openAppend",
  "write",
  "truncate",
  "sync",
  "syncDirectory",
  "makeDirectory",
  "rename",
  "unlink",
  "removeTree",
] as const

/** A disk whose program dies at the n-th call that changes something: that call, and all after it, never come back. */
const dying = (
  real: Disk.Interface,
  at: number,
  dead: Deferred.Deferred<void>,
): { readonly disk: Disk.Interface; readonly calls: () => number } => {
  let calls = 0
  const disk: Record<string, unknown> = { ...real }
  for (const name of changing) {
    disk[name] = (...args: ReadonlyArray<never>) =>
      Effect.suspend((): Effect.Effect<unknown, unknown> => {
        if (++calls >= at) {
          Deferred.doneUnsafe(dead, Effect.void)
          return Effect.never
        }
        return (real[name] as (...args: ReadonlyArray<never>) => Effect.Effect<unknown, unknown>)(...args)
      })
  }
  return { disk: disk as unknown as Disk.Interface, calls: () => calls }
}

const services = (agents: MemoryAgents, disk: Disk.Interface) => {
  const under = Layer.succeed(Disk.Service, disk)
  const store = SessionStore.layerDisk({ home: host.kitHome }).pipe(Layer.provide(Layer.provideMerge(Lock.layerMemory, under)))
  return MemoryParent.services(agents, store)
}

interface Heard {
  session: string | undefined
  readonly values: Map<string, number>
  readonly closed: Set<string>
}

/** One child that is started, continued and branched, and then closed; `heard` is what the program was told. */
const program = Effect.fnUntraced(function* (heard: Heard) {
  const parent = yield* MemoryParent.open(undefined)
  heard.session = parent.session.id
  const first = yield* parent.subagent({ prompt: "ok" })
  heard.values.set(first.id, 1)
  const second = yield* parent.prompt({ subagent: first, prompt: "ok" })
  heard.values.set(first.id, 2)
  const branch = yield* parent.fork({ subagent: second, prompt: "ok" })
  heard.values.set(branch.id, 3)
  yield* parent.close(first)
  heard.closed.add(first.id)
})

/** What must hold after a crash, whatever was being written. */
const judge = Effect.fnUntraced(function* (
  heard: Heard,
  seen: { readonly prompted: ReadonlySet<string>; readonly closed: ReadonlySet<string> },
) {
  if (heard.session === undefined) return
  const parent = yield* MemoryParent.open(heard.session)
  const records = new Map((yield* parent.session.children).map((record) => [record.id, record]))
  const rows = new Set((yield* parent.roster).map((row) => row.id))
  for (const [id, generation] of heard.values) {
    expect(records.get(id)?.generation).toBeGreaterThanOrEqual(generation)
    if (heard.closed.has(id)) expect(records.get(id)?.lifecycle).toBe("Closed")
  }
  for (const [id, record] of records) expect([id, rows.has(id)]).toEqual([id, record.lifecycle === "Idle"])
  const sessions = new Map([...records.values()].map((record) => [record.acp_session_id, record]))
  for (const session of seen.prompted) expect(sessions.has(session)).toBe(true)
  for (const session of seen.closed) expect(sessions.get(session)?.lifecycle).toBe("Closed")
  for (const { id, problem } of yield* parent.session.subagents.list()) {
    expect([id, problem?.message]).toEqual([id, undefined])
    const runner = yield* SubagentRunner.load(parent.session, parent, id)
    const ran = yield* Effect.result(runner.run("ok"))
    const usable = rows.has(id) || !records.has(id)
    expect([id, ran._tag]).toEqual([id, usable ? "Success" : "Failure"])
  }
})

describe("a program that dies between any two writes", () => {
  it.live(
    "K07 K14 S100 S102 S103 leaves a session that knows every answer that was heard, and nothing that was not announced",
    () =>
      Effect.gen(function* () {
        const whole = yield* crashAt(Number.POSITIVE_INFINITY)
        expect(whole).toBeGreaterThan(30)
        for (let at = 1; at <= whole; at++) yield* crashAt(at)
      }),
    300_000,
  )
})

const crashAt = Effect.fnUntraced(function* (at: number) {
  const agents = new MemoryAgents()
  const model = new DiskModel({ tracking: true })
  const dead = Deferred.makeUnsafe<void>()
  const { disk, calls } = dying(model.calls, at, dead)
  const heard: Heard = { session: undefined, values: new Map(), closed: new Set() }
  const scope = yield* Scope.make()
  const run = program(heard).pipe(Effect.provide(services(agents, disk)), Effect.provideService(Scope.Scope, scope))
  yield* Effect.forkDetach(
    Effect.ignore(
      Effect.andThen(
        run,
        Effect.sync(() => Deferred.doneUnsafe(dead, Effect.void)),
      ),
    ),
    {
      startImmediately: true,
    },
  )
  yield* Deferred.await(dead)
  const count = calls()
  agents.endAll()
  const seed = yield* Random.nextIntBetween(0, 1_000)
  let draws = seed
  const seen = { prompted: new Set(agents.prompted), closed: new Set(agents.closed) }
  const states = [
    ["killed", model.afterKill()],
    ["power lost, nothing unsynced left", model.afterPowerLoss(() => 0)],
    ["power lost, some of it left", model.afterPowerLoss((choices) => draws++ % choices)],
  ] as const
  for (const [how, left] of states) {
    const exit = yield* Effect.exit(Effect.scoped(judge(heard, seen)).pipe(Effect.provide(services(agents, left.calls))))
    if (Exit.isFailure(exit)) expect.fail(`${how} at change ${at}, seed ${seed}: ${Cause.pretty(exit.cause)}`)
  }
  return count
})
