import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { DiskFaulty } from "../src/DiskFaulty.ts"
import { DiskModel, layerOf } from "../src/DiskModel.ts"
import { Lock } from "../src/Lock.ts"
import { SessionStore } from "../src/SessionStore.ts"
import type { StoreError } from "../src/StoreError.ts"
import { backends, childOf, spec } from "./Backends.ts"

const codeOf = <A>(effect: Effect.Effect<A, StoreError>) => Effect.map(Effect.flip(effect), (error) => error.code)

/** Sessions `one`, with an idle agent of some history, and `two`. */
const made = Effect.gen(function* () {
  const store = yield* SessionStore.Service
  yield* Effect.scoped(store.create({ id: "two", cwd: "/w" }))
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const session = yield* store.create({ id: "one", cwd: "/w" })
      const { agent_id } = yield* session.subagents.create(spec, "You are kind.")
      for (let id = 1; id <= 5; id++) yield* session.subagents.append(agent_id, { direction: "out", frame: `{"id":${id}}` })
      yield* session.subagents.setStatus(agent_id, "starting", "working")
      yield* session.subagents.saveContext(agent_id, { messages: ["a", "b"] })
      yield* session.subagents.setStatus(agent_id, "working", "idle")
      yield* session.appendChild(childOf(agent_id))
      return agent_id
    }),
  )
})

/** What an agent in a session is, whole: `undefined` where it is not there. */
const seen = (session: string, id: string) =>
  Effect.gen(function* () {
    const store = yield* SessionStore.Service
    const writer = yield* store.openWriter(session)
    const { prompt, context, meta } = yield* writer.subagents.load(id)
    const records = yield* Stream.runCollect(writer.subagents.replay(id))
    const frames = records.flatMap((record) => ("gap" in record ? ["gap"] : record.kind === "event" ? [record.body] : []))
    const child = (yield* writer.children).find((record) => record.id === id)
    return {
      prompt,
      context,
      frames,
      status: meta.status,
      lifecycle: child?.lifecycle,
      from: meta.migrated_from.map((step) => step.session_id),
    }
  }).pipe(Effect.scoped)

const whole = {
  prompt: "You are kind.",
  context: { messages: ["a", "b"] },
  frames: [1, 2, 3, 4, 5].map((id) => ({ dir: "out", frame: { id } })),
  status: "idle",
  lifecycle: "Idle",
}

for (const { name, run } of backends) {
  describe(name, () => {
    it.live("K10 moves an agent with its history, state and checkpoint, and leaves nothing behind", () =>
      run(
        Effect.gen(function* () {
          const id = yield* made
          const store = yield* SessionStore.Service
          expect(yield* store.migrate(id, { from: "one", to: "two" })).toBe(id)
          expect(yield* seen("two", id)).toEqual({ ...whole, from: ["one"] })
          const error = yield* Effect.flip(seen("one", id))
          expect(error.code).toBe("FOREIGN_SESSION")
          const left = yield* Effect.flatMap(store.openReader("one"), (reader) => reader.children)
          expect(left.map((child) => child.lifecycle)).toEqual(["Closed"])
          yield* Effect.scoped(
            Effect.gen(function* () {
              const { subagents } = yield* store.openWriter("two")
              yield* subagents.append(id, { direction: "in", frame: '{"id":6}' }, "disk")
              yield* subagents.saveContext(id, { messages: ["a", "b", "c"] })
              const findings = yield* subagents.verify(id)
              expect(findings.map((finding) => finding.severity)).toEqual(["ok", "ok", "ok", "ok"])
            }),
          )
          yield* store.migrate(id, { from: "two", to: "one" })
          expect((yield* seen("one", id)).context).toEqual({ messages: ["a", "b", "c"] })
        }),
      ),
    )

    it.live("K10 an agent that comes back goes on where the other session stopped", () =>
      run(
        Effect.gen(function* () {
          const id = yield* made
          const store = yield* SessionStore.Service
          const last = (session: string) =>
            Effect.map(
              Effect.flatMap(store.openReader(session), (reader) => reader.children),
              (children) => children.map(({ lifecycle, generation }) => [lifecycle, generation]),
            )
          yield* store.migrate(id, { from: "one", to: "two" })
          yield* Effect.scoped(
            Effect.flatMap(store.openWriter("two"), (session) =>
              session.appendChild({ ...childOf(id), generation: 7, handle_generation: 7 }),
            ),
          )
          yield* store.migrate(id, { from: "two", to: "one" })
          expect(yield* seen("one", id)).toEqual({ ...whole, from: ["one", "two"] })
          expect([yield* last("one"), yield* last("two")]).toEqual([[["Idle", 7]], [["Closed", 7]]])
          yield* store.migrate(id, { from: "one", to: "two" })
          expect([yield* last("one"), yield* last("two")]).toEqual([[["Closed", 7]], [["Idle", 7]]])
          expect((yield* seen("two", id)).status).toBe("idle")
        }),
      ),
    )

    it.live("copies an agent under a new id as a closed record, and leaves the first as it was", () =>
      run(
        Effect.gen(function* () {
          const id = yield* made
          const store = yield* SessionStore.Service
          const copy = yield* store.migrate(id, { from: "one", to: "two", mode: "copy" })
          expect(copy).not.toBe(id)
          expect(yield* seen("two", copy)).toEqual({ ...whole, status: "closed", lifecycle: undefined, from: ["one"] })
          expect(yield* seen("one", id)).toEqual({ ...whole, from: [] })
        }),
      ),
    )

    it.live("refuses what it cannot move and changes nothing", () =>
      run(
        Effect.gen(function* () {
          const id = yield* made
          const store = yield* SessionStore.Service
          expect(yield* codeOf(store.migrate(id, { from: "one", to: "one" }))).toBe("INVALID")
          expect(yield* codeOf(store.migrate(id, { from: "two", to: "one" }))).toBe("NOT_FOUND")
          expect(yield* codeOf(store.migrate(id, { from: "one", to: "three" }))).toBe("NOT_FOUND")
          yield* Effect.scoped(
            Effect.gen(function* () {
              yield* store.openWriter("two")
              expect(yield* codeOf(store.migrate(id, { from: "one", to: "two" }))).toBe("LOCKED")
            }),
          )
          expect(yield* seen("one", id)).toEqual({ ...whole, from: [] })
        }),
      ),
    )
  })
}

describe("a move that is cut short at any call", () => {
  for (const returns of [false, true]) {
    it.live(
      `T15 leaves one usable agent, and calling again finishes it${returns ? ", where it comes back to a session" : ""}`,
      () =>
        Effect.gen(function* () {
          const [source, target] = returns ? (["two", "one"] as const) : (["one", "two"] as const)
          const from = returns ? ["one", "two"] : ["one"]
          const storeOver = (model: DiskModel, die: number, count: () => void = () => {}) =>
            SessionStore.layerDisk({ home: "/home" }).pipe(
              Layer.provide(
                Layer.provideMerge(
                  Lock.layerMemory,
                  DiskFaulty.layerWith(({ index }) => {
                    count()
                    return index === die ? { die: true } : undefined
                  }),
                ),
              ),
              Layer.provide(layerOf(model)),
            )
          let tried = 0
          for (let die = 0; ; die += 1) {
            for (const power of [false, true]) {
              const model = new DiskModel({ tracking: true })
              const id = yield* Effect.gen(function* () {
                const agent = yield* made
                if (returns)
                  yield* Effect.flatMap(SessionStore.Service, (store) => store.migrate(agent, { from: "one", to: "two" }))
                return agent
              }).pipe(Effect.provide(storeOver(model, -1)))
              const move = Effect.flatMap(SessionStore.Service, (store) => store.migrate(id, { from: source, to: target }))
              const exit = yield* Effect.exit(move.pipe(Effect.provide(storeOver(model, die))))
              const after = power ? model.afterPowerLoss((count) => (die * 7919) % count) : model.afterKill()
              const usable = yield* Effect.gen(function* () {
                const sides = [yield* Effect.result(seen("one", id)), yield* Effect.result(seen("two", id))]
                return sides.filter((side) => side._tag === "Success").length
              }).pipe(Effect.provide(storeOver(after, -1)))
              expect([die, power, usable <= 1]).toEqual([die, power, true])
              if (Exit.isSuccess(exit)) {
                expect(usable).toBe(1)
                if (power) {
                  console.log(`${tried} deaths during a move, none lost, none doubled`)
                  return
                }
                continue
              }
              tried++
              yield* Effect.gen(function* () {
                const again = yield* Effect.result(move)
                if (again._tag === "Failure") expect(again.failure.code).toBe("NOT_FOUND")
                expect(yield* seen(target, id)).toEqual({ ...whole, from })
                expect((yield* Effect.flip(seen(source, id))).code).toBe("FOREIGN_SESSION")
              }).pipe(Effect.provide(storeOver(after, -1)))
            }
          }
        }),
    )
  }
})
