import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { DiskFaulty } from "../src/DiskFaulty.ts"
import { DiskNode } from "../src/DiskNode.ts"
import { Lock } from "../src/Lock.ts"
import { SessionStore } from "../src/SessionStore.ts"
import { Tree } from "../src/Tree.ts"
import { onDisk, spec } from "./Backends.ts"
import { codeOf } from "./Made.ts"

/** Makes a session look as if nobody had changed it for so many days. */
const aged = (home: string, id: string, days: number) => {
  const at = new Date(Date.now() - days * 86_400_000)
  const file = path.join(home, "sessions", id, "session.json")
  const document = JSON.parse(fs.readFileSync(file, "utf8"))
  fs.writeFileSync(file, JSON.stringify({ ...document, updated_at: at.toISOString() }))
  fs.utimesSync(path.join(home, "sessions", id, "transcript.jsonl"), at, at)
}

/** A session with an item and one agent that is over. */
const ended = (id: string) =>
  Effect.gen(function* () {
    const store = yield* SessionStore.Service
    return yield* Effect.scoped(
      Effect.gen(function* () {
        const session = yield* store.create({ id, cwd: "/w" })
        yield* session.appendItem(id, "disk")
        const { agent_id } = yield* session.subagents.create(spec, "")
        yield* session.subagents.setStatus(agent_id, "starting", "closed")
        return agent_id
      }),
    )
  })

describe("collection", () => {
  it.live("K16 names what a policy would remove, then removes just that", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        for (const id of ["old", "older", "young", "open"]) yield* Effect.scoped(store.create({ id, cwd: "/w" }))
        const ended = yield* Effect.scoped(
          Effect.gen(function* () {
            const { subagents } = yield* store.openWriter("young")
            const gone = (yield* subagents.create(spec, "")).agent_id
            yield* subagents.create(spec, "")
            yield* subagents.setStatus(gone, "starting", "closed")
            return gone
          }),
        )
        const meta = path.join(home, "sessions/young/subagents", ended, "meta.json")
        fs.writeFileSync(
          meta,
          fs.readFileSync(meta, "utf8").replace(/"updated_at": "[^"]*"/, '"updated_at": "2020-01-01T00:00:00.000Z"'),
        )
        aged(home, "old", 40)
        aged(home, "older", 50)
        aged(home, "open", 60)
        yield* store.openWriter("open")
        const policy = { olderThanDays: 30 }
        const planned = yield* store.collect(policy, { dryRun: true })
        expect(planned.map((one) => [one.kind, one.id])).toEqual([
          ["session", "older"],
          ["session", "old"],
          ["subagent", ended],
        ])
        expect(planned.every((one) => one.bytes > 0)).toBe(true)
        expect((yield* store.list()).length).toBe(4)
        expect(yield* store.collect(policy, { dryRun: false })).toEqual(planned)
        expect((yield* store.list()).map((row) => row.id).sort()).toEqual(["open", "young"])
        const left = yield* Effect.flatMap(store.openReader("young"), (reader) => reader.subagents.list())
        expect(left.map((row) => row.id)).not.toContain(ended)
        expect(yield* store.collect(policy, { dryRun: false })).toEqual([])
      }),
    ),
  )

  it.live("K16 leaves the session that a nested Kit keeps for an agent to the agent, and counts only sessions of people", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const agents = yield* Effect.scoped(
          Effect.gen(function* () {
            const { subagents } = yield* store.create({ id: "parent", cwd: "/w" })
            const both = [(yield* subagents.create(spec, "")).agent_id, (yield* subagents.create(spec, "")).agent_id]
            for (const id of both) yield* Effect.scoped(store.create({ id, cwd: "/w", origin: "subagent" }))
            return both
          }),
        )
        const gone = "s-01890000-0000-7000-8000-000000000001"
        yield* Effect.scoped(store.create({ id: gone, cwd: "/w", origin: "subagent" }))
        for (const id of [...agents, gone]) aged(home, id, 40)
        const named = (policy: Parameters<typeof store.collect>[0]) =>
          Effect.map(store.collect(policy, { dryRun: true }), (found) => found.map((one) => one.id))
        expect(yield* named({ olderThanDays: 30 })).toEqual([gone])
        expect(yield* named({ olderThanDays: 0 })).toEqual([gone])
        expect(yield* named({ maxBytes: 0 })).toEqual([gone])
        expect(yield* named({ maxBytes: 0, keep: 0 })).toEqual([gone, "parent"])
        aged(home, "parent", 35)
        yield* Effect.scoped(store.create({ id: "young", cwd: "/w" }))
        const sized = (ids: ReadonlyArray<string>) =>
          Effect.reduce(
            ids,
            () => 0,
            (sum, id) => Effect.map(Tree.size(path.join(home, "sessions", id)), (bytes) => sum + bytes),
          ).pipe(Effect.provide(DiskNode.layer))
        const whole = yield* sized(["parent", ...agents])
        const found = yield* store.collect({ olderThanDays: 30 }, { dryRun: false })
        expect(found.map((one) => one.id)).toEqual([gone, "parent"])
        expect(found[1]?.bytes).toBe(whole)
        expect(fs.readdirSync(path.join(home, "sessions"))).toEqual(["young"])
      }),
    ),
  )

  it.live("by size takes the oldest first and keeps the youngest", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        for (const [index, id] of ["a", "b", "c"].entries()) {
          yield* Effect.scoped(
            Effect.flatMap(store.create({ id, cwd: "/w" }), (session) => session.appendItem("x".repeat(10_000), "disk")),
          )
          aged(home, id, 3 - index)
        }
        expect(yield* codeOf(store.collect({}, { dryRun: true }))).toBe("INVALID")
        expect((yield* store.collect({ maxBytes: 25_000 }, { dryRun: true })).map((one) => one.id)).toEqual(["a"])
        expect((yield* store.collect({ maxBytes: 0 }, { dryRun: true })).map((one) => one.id)).toEqual(["a", "b"])
        expect((yield* store.collect({ maxBytes: 0, keep: 3 }, { dryRun: true })).length).toBe(0)
      }),
    ),
  )

  it.live("T15 cut short or refused at any call leaves each session whole or gone, and calling again finishes", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const policy = { olderThanDays: 30, keep: 0 }
        let tried = 0
        for (const fault of [{ die: true }, { code: "EIO" }, { code: "ENOSPC" }, { code: "EACCES" }] as const) {
          for (let at = 0, reached = true; reached; at += 6) {
            const agent = yield* ended("old")
            yield* ended("young")
            aged(home, "old", 40)
            reached = false
            const disk = DiskFaulty.layerWith(({ index, call }) => {
              if (index !== at || call === "close") return undefined
              reached = true
              return fault
            }).pipe(Layer.provide(DiskNode.layer))
            const faulty = SessionStore.layerDisk({ home }).pipe(Layer.provide(Layer.merge(disk, Lock.layer)))
            const collected = Effect.flatMap(SessionStore.Service, (other) => other.collect(policy, { dryRun: false }))
            yield* Effect.exit(Effect.provide(collected, faulty))
            tried++
            for (const { id } of yield* store.list()) {
              const session = yield* store.openReader(id)
              expect([id, yield* session.items]).toEqual([id, [id]])
              if (id === "old") expect((yield* session.subagents.load(agent)).meta.status).toBe("closed")
            }
            yield* store.collect(policy, { dryRun: false })
            expect((yield* store.list()).map(({ id }) => id)).toEqual(["young"])
            yield* store.delete("young")
            expect(fs.readdirSync(path.join(home, "sessions"))).toEqual([])
          }
        }
        console.log(`${tried} collections cut short or refused`)
        expect(tried).toBeGreaterThan(30)
      }),
    ),
  )

  it.live("keeps what changed since it was looked at, what cannot be read, and what does not say when it was changed", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        for (const id of ["busy", "broken", "timeless", "old"]) {
          yield* ended(id)
          aged(home, id, 40)
        }
        fs.writeFileSync(path.join(home, "sessions/broken/session.json"), "{")
        const timeless = path.join(home, "sessions/timeless/session.json")
        fs.writeFileSync(timeless, JSON.stringify({ ...JSON.parse(fs.readFileSync(timeless, "utf8")), updated_at: "x" }))
        fs.utimesSync(path.join(home, "sessions/timeless/transcript.jsonl"), 0, 0)
        const looked: Array<number> = []
        const gone = yield* store.collect(
          { olderThanDays: 30, keep: 0 },
          {
            dryRun: false,
            onLooked: (sessions, of) => {
              looked.push(sessions)
              if (sessions === of) fs.utimesSync(path.join(home, "sessions/busy/transcript.jsonl"), new Date(), new Date())
            },
          },
        )
        expect(gone.map(({ id, problem }) => [id, problem])).toEqual([["old", undefined]])
        expect(looked).toEqual([1, 2, 3, 4])
        expect(fs.readdirSync(path.join(home, "sessions")).sort()).toEqual(["broken", "busy", "timeless"])
        expect(yield* codeOf(store.collect({ keep: 1 }, { dryRun: true }))).toBe("INVALID")
      }),
    ),
  )
})
