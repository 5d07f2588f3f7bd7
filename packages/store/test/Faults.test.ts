import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { SessionStore } from "../src/SessionStore.ts"
import { onDisk, spec } from "./Backends.ts"

/** Faults that stores like this one have had, each as the small test that would have shown it. */
describe("a store of conversations once", () => {
  it.live("rewrote history at compaction", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const session = yield* store.create({ id: "one", cwd: "/w" })
        for (let i = 0; i < 10; i++) yield* session.appendItem({ answer: i }, "disk")
        const file = path.join(home, "sessions/one/transcript.jsonl")
        const before = fs.readFileSync(file, "utf8")
        yield* session.appendReplacement([{ summary: true }])
        expect(fs.readFileSync(file, "utf8").startsWith(before)).toBe(true)
        expect(yield* session.items).toEqual([{ summary: true }])
      }),
    ),
  )

  it.live("was between the boundary of a compaction and its messages when it died", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const items = Array.from({ length: 500 }, (_, i) => ({ i }))
        yield* Effect.scoped(
          Effect.gen(function* () {
            const session = yield* store.create({ id: "one", cwd: "/w" })
            yield* session.appendItem("before", "disk")
            yield* session.appendReplacement(items)
          }),
        )
        const file = path.join(home, "sessions/one/transcript.jsonl")
        const whole = fs.readFileSync(file)
        const boundary = whole.lastIndexOf(10, whole.length - 2) + 1
        for (const cut of [boundary + 1, boundary + 1000, whole.length - 2]) {
          fs.writeFileSync(file, whole.subarray(0, cut))
          const seen = yield* Effect.scoped(Effect.flatMap(store.openWriter("one"), (session) => session.items))
          expect(seen).toEqual(["before"])
        }
      }),
    ),
  )

  it.live("froze on one line of twelve megabytes, or called it damaged", () =>
    onDisk(() =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const { subagents } = yield* store.create({ id: "one", cwd: "/w" })
        const { agent_id } = yield* subagents.create(spec, "")
        const filler = "x".repeat(12_000_000)
        yield* subagents.append(agent_id, { direction: "in", frame: `{"before":1}` })
        yield* subagents.append(agent_id, { direction: "in", frame: JSON.stringify({ filler }) }, "disk")
        yield* subagents.append(agent_id, { direction: "in", frame: `{"after":1}` }, "disk")
        const reader = yield* store.openReader("one")
        const tail = yield* reader.subagents.tail(agent_id, 3)
        expect(tail.map((record) => JSON.stringify(record.body).length)).toEqual([33, 12_000_034, 32])
        expect((yield* Stream.runCollect(reader.subagents.replay(agent_id, { fromSeq: 3 }))).length).toBe(2)
        expect((yield* reader.subagents.verify(agent_id)).every((finding) => finding.severity === "ok")).toBe(true)
      }),
    ),
  )

  it.live("made a second file at each resume, and wrote to the first", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const id = yield* Effect.scoped(
          Effect.gen(function* () {
            const { subagents } = yield* store.create({ id: "one", cwd: "/w" })
            return (yield* subagents.create(spec, "")).agent_id
          }),
        )
        const names = () => fs.readdirSync(path.join(home, "sessions"), { recursive: true }).map(String).sort()
        const before = names()
        for (let i = 0; i < 5; i++) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const session = yield* store.openWriter("one")
              yield* session.appendItem(i, "disk")
              yield* session.subagents.saveContext(id, { i })
            }),
          )
          expect(names()).toEqual(before)
        }
        const reader = yield* store.openReader("one")
        expect(yield* reader.items).toEqual([0, 1, 2, 3, 4])
        expect((yield* reader.subagents.load(id)).context).toEqual({ i: 4 })
      }),
    ),
  )

  it.live("mixed the lines of agents that spoke at once", () =>
    onDisk(() =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const { subagents } = yield* store.create({ id: "one", cwd: "/w" })
        const ids = yield* Effect.forEach([1, 2, 3, 4], () => Effect.map(subagents.create(spec, ""), (meta) => meta.agent_id))
        yield* Effect.forEach(
          Array.from({ length: 200 }, (_, i) => i),
          (i) => {
            const id = ids[i % 4] as string
            return subagents.append(id, { direction: "in", frame: JSON.stringify({ id, i }) }, i % 10 === 0 ? "disk" : "kernel")
          },
          { concurrency: "unbounded" },
        )
        for (const id of ids) {
          const frames = (yield* subagents.tail(id, 1000)).flatMap((record) =>
            record.kind === "event" ? [(record.body as unknown as { frame: { id: string; i: number } }).frame] : [],
          )
          expect(frames.length).toBe(50)
          expect(frames.every((frame) => frame.id === id)).toBe(true)
          expect(frames.map((frame) => frame.i)).toEqual(frames.map((frame) => frame.i).toSorted((a, b) => a - b))
        }
      }),
    ),
  )

  it.live("shortened a transcript by opening it", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        yield* Effect.scoped(
          Effect.gen(function* () {
            const session = yield* store.create({ id: "one", cwd: "/w" })
            for (let i = 0; i < 50; i++) yield* session.appendItem({ i }, "disk")
          }),
        )
        const file = path.join(home, "sessions/one/transcript.jsonl")
        const whole = fs.readFileSync(file, "latin1")
        const broken = `${whole.slice(0, 900)}#${whole.slice(901)}`
        fs.writeFileSync(file, broken, "latin1")
        yield* Effect.scoped(store.openWriter("one"))
        const kept = fs.readFileSync(path.join(home, "sessions/one/transcript.000001.jsonl"), "latin1")
        expect(kept.startsWith(broken)).toBe(true)
        const reader = yield* store.openReader("one")
        expect((yield* reader.items).length).toBe(49)
      }),
    ),
  )
})
