import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { AgentStatus } from "../src/AgentMeta.ts"
import { DiskModel, layerOf } from "../src/DiskModel.ts"
import { Lock } from "../src/Lock.ts"
import { SessionStore } from "../src/SessionStore.ts"
import { defaults, StoreLimits } from "../src/StoreLimits.ts"
import { spec } from "./Backends.ts"

const Command = Schema.Literals([
  "create",
  "append kernel",
  "append disk",
  "save",
  "work",
  "rest",
  "close",
  "delete",
  "item",
  "flush",
  "reopen",
  "kill",
  "power loss",
])

interface AgentModel {
  status: AgentStatus
  /** Payloads on disk, then those that only the kernel has. */
  durable: number
  events: Array<number>
  context: number
}

const storeOver = (model: DiskModel) =>
  SessionStore.layerDisk({ home: "/home" }).pipe(
    Layer.provide(Layer.provideMerge(Lock.layerMemory, layerOf(model))),
    Layer.provide(Layer.succeed(StoreLimits, { ...defaults, rotateBytes: 700 })),
  )

/** Runs the commands on the store and on a plain model side by side; after each crash and at the end both must say the same. */
const run = (commands: ReadonlyArray<typeof Command.Type>, seed: number) =>
  Effect.gen(function* () {
    let random = seed >>> 0
    const choose = (count: number): number => {
      random = (Math.imul(random, 1664525) + 1013904223) >>> 0
      return Math.floor((random / 2 ** 32) * count)
    }
    let disk = new DiskModel({ tracking: true })
    const agents = new Map<string, AgentModel>()
    let items = 0
    /** Only the loss of power can leave a hole, and it stays where it is. */
    let lostPower = false
    let payload = 0
    let scope = yield* Scope.make()
    let session: SessionStore.SessionWriter

    const enter = Effect.gen(function* () {
      scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(storeOver(disk), scope)
      const exists =
        (yield* Effect.flatMap(SessionStore.Service, (store) => store.list()).pipe(Effect.provide(context))).length > 0
      session = yield* Effect.flatMap(SessionStore.Service, (store) =>
        exists ? store.openWriter("s") : store.create({ id: "s", cwd: "/w" }),
      ).pipe(Effect.provide(context), Scope.provide(scope))
    })

    const agree = (power: boolean) =>
      Effect.gen(function* () {
        const listed = (yield* session.subagents.list()).map((row) => row.id).sort()
        expect(listed).toEqual([...agents.keys()].sort())
        expect(yield* session.items).toEqual(Array.from({ length: items }, (_, index) => index))
        for (const [id, agent] of agents) {
          const { meta, context } = yield* session.subagents.load(id)
          expect([meta.status, context.value ?? 0]).toEqual([agent.status, agent.context])
          const seen: Array<number> = []
          yield* Stream.runForEach(session.subagents.replay(id), (record) =>
            Effect.sync(() => {
              if ("gap" in record) return expect(lostPower).toBe(true)
              if (record.kind === "event") seen.push((record.body as { frame: number }).frame)
            }),
          )
          expect(seen.slice(0, agent.durable)).toEqual(agent.events.slice(0, agent.durable))
          if (power) {
            expect(agent.events).toEqual(expect.arrayContaining(seen))
            agent.events = seen
          } else expect(seen).toEqual(agent.events)
          agent.durable = power ? seen.length : agent.durable
        }
      })

    const crash = (power: boolean) =>
      Effect.gen(function* () {
        lostPower ||= power
        disk = power ? disk.afterPowerLoss(choose) : disk.afterKill()
        for (const agent of agents.values()) {
          if (agent.status === "starting" || agent.status === "working") agent.status = "interrupted"
        }
        yield* enter
        yield* agree(power)
      })

    const pick = (): readonly [string, AgentModel] | undefined => [...agents][choose(Math.max(1, agents.size))]

    yield* enter
    for (const command of ["create", "append disk", ...commands] as const) {
      const chosen = pick()
      if (command === "create") {
        const { agent_id } = yield* session!.subagents.create(spec, "p")
        agents.set(agent_id, { status: "starting", durable: 0, events: [], context: 0 })
      } else if (command === "item") {
        yield* session!.appendItem(items++, "disk")
      } else if (command === "reopen") {
        yield* Scope.close(scope, Exit.void)
        yield* crash(false)
      } else if (command === "kill" || command === "power loss") {
        yield* crash(command === "power loss")
      } else if (chosen !== undefined) {
        const [id, agent] = chosen
        const { subagents } = session!
        if (command === "append kernel" || command === "append disk") {
          yield* subagents.append(
            id,
            { direction: "in", frame: String(++payload) },
            command === "append disk" ? "disk" : "kernel",
          )
          agent.events.push(payload)
          if (command === "append disk") agent.durable = agent.events.length
        } else if (command === "save") {
          agent.context++
          yield* subagents.saveContext(id, { value: agent.context })
          agent.durable = agent.events.length
        } else if (command === "flush") {
          yield* subagents.flush(id)
          agent.durable = agent.events.length
        } else if (command === "delete") {
          const busy = agent.status === "starting" || agent.status === "working"
          const result = yield* Effect.result(subagents.delete(id))
          expect(result._tag).toBe(busy ? "Failure" : "Success")
          if (!busy) agents.delete(id)
        } else {
          const to = ({ work: "working", rest: "idle", close: "closed" } as const)[command]
          const result = yield* Effect.result(subagents.setStatus(id, agent.status, to))
          if (result._tag === "Success") agent.status = to
        }
      }
    }
    yield* agree(false)
    yield* Scope.close(scope, Exit.void)
    yield* crash(true)
  })

describe("any sequence of commands and crashes", () => {
  it.live.prop(
    "T17 leaves what a plain model says",
    { commands: Schema.Array(Command).check(Schema.isMinLength(20), Schema.isMaxLength(40)), seed: Schema.Int },
    ({ commands, seed }) => run(commands, seed),
    { arbitrary: { runs: process.env.KIT_TEST_LONG === "1" ? 10_000 : 80 }, timeout: 1_200_000 },
  )
})
