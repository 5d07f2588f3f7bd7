import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { Disk } from "../src/Disk.ts"
import { DiskNode } from "../src/DiskNode.ts"
import { Lock } from "../src/Lock.ts"
import { SessionStore } from "../src/SessionStore.ts"
import { spec, temporaryHome } from "./Backends.ts"

interface Read {
  bytes: number
  largest: number
  readonly whole: Array<string>
}

/** A store on disk, and what is read of it. */
const watched = Effect.fnUntraced(function* <A, E>(use: (read: Read) => Effect.Effect<A, E, SessionStore.Service>) {
  const home = yield* temporaryHome
  const read: Read = { bytes: 0, largest: 0, whole: [] }
  const disk = Layer.effect(
    Disk.Service,
    Effect.map(
      Disk.Service,
      (inner): Disk.Interface => ({
        ...inner,
        read: (file, offset, length) =>
          Effect.map(inner.read(file, offset, length), (bytes) => {
            read.bytes += bytes.length
            read.largest = Math.max(read.largest, bytes.length)
            return bytes
          }),
        readFiles: (paths) => {
          read.whole.push(...paths)
          return inner.readFiles(paths)
        },
      }),
    ),
  ).pipe(Layer.provide(DiskNode.layer))
  const store = SessionStore.layerDisk({ home }).pipe(Layer.provide(Layer.merge(disk, Lock.layer)))
  return yield* Effect.provide(use(read), store)
}, Effect.scoped)

describe("reading", () => {
  it.live("T11 costs no more as a log grows: its tail one piece of the end, a replay one piece at a time", () =>
    watched((read) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const id = yield* Effect.scoped(
          Effect.gen(function* () {
            const { subagents } = yield* store.create({ id: "one", cwd: "/w" })
            const { agent_id } = yield* subagents.create(spec, "")
            const data = "x".repeat(100_000)
            for (let n = 0; n < 200; n++) yield* subagents.append(agent_id, { note: "event", data })
            yield* subagents.append(agent_id, { note: "the last" }, "disk")
            return agent_id
          }),
        )
        const { subagents } = yield* store.openReader("one")
        Object.assign(read, { bytes: 0, largest: 0 })
        expect(yield* subagents.tail(id, 1)).toMatchObject([{ body: { note: "the last" } }])
        expect(read.bytes).toBeLessThan(512 * 1024)
        Object.assign(read, { bytes: 0, largest: 0 })
        expect(yield* Stream.runCount(subagents.replay(id))).toBe(202)
        expect(read.bytes).toBeGreaterThan(20_000_000)
        expect(read.largest).toBeLessThanOrEqual(256 * 1024)
        Object.assign(read, { bytes: 0, largest: 0 })
        expect(yield* Stream.runCount(subagents.replay(id, { fromSeq: 200 }))).toBe(3)
        expect(read.bytes).toBeLessThan(4 * 1024 * 1024)
      }),
    ),
  )

  it.live("T11 costs one small file for each agent in a list, whatever the agents have written", () =>
    watched((read) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        yield* Effect.scoped(
          Effect.gen(function* () {
            const { subagents } = yield* store.create({ id: "one", cwd: "/w" })
            for (let n = 0; n < 100; n++) {
              const { agent_id } = yield* subagents.create(spec, "")
              if (n < 3) yield* subagents.append(agent_id, { note: "event", data: "x".repeat(1_000_000) })
            }
          }),
        )
        Object.assign(read, { bytes: 0 })
        const { subagents } = yield* store.openReader("one")
        expect(yield* subagents.list()).toHaveLength(100)
        expect(read.bytes).toBe(0)
        expect(read.whole).toHaveLength(100)
        expect(read.whole.every((path) => path.endsWith("/meta.json"))).toBe(true)
      }),
    ),
  )
})
