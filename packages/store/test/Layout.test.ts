import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { SessionStore } from "../src/SessionStore.ts"
import { onDisk, spec } from "./Backends.ts"
import { contents, directoryOf, made } from "./Made.ts"

describe("the layout", () => {
  it.live("K01 K02 K03 K07 is one directory per agent with exactly four files, whole once the agent has an id", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const session = yield* store.create({ id: "one", cwd: "/w" })
        const { agent_id } = yield* session.subagents.create(spec, "You are kind.\n")
        const directory = directoryOf(home, agent_id)
        expect(fs.readdirSync(directory).sort()).toEqual(["context.json", "meta.json", "prompt.txt", "wire.log"])
        expect(fs.readFileSync(path.join(directory, "prompt.txt"), "utf8")).toBe("You are kind.\n")
        const meta = JSON.parse(fs.readFileSync(path.join(directory, "meta.json"), "utf8"))
        expect(meta).toMatchObject({ agent_id, session_id: "one", status: "starting", spec })
        expect(new Date(meta.created_at).toISOString()).toBe(meta.created_at)
        const lines = fs.readFileSync(path.join(directory, "wire.log"), "utf8").trimEnd().split("\n")
        expect(lines.map((line) => JSON.parse(line).k)).toEqual(["head"])
        yield* session.subagents.setStatus(agent_id, "starting", "working")
        expect(fs.readFileSync(path.join(directory, "prompt.txt"), "utf8")).toBe("You are kind.\n")
      }),
    ),
  )

  it.live("K04 K08 has an event in wire.log when the append returns, in order, and rewrites no line", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const session = yield* store.create({ id: "one", cwd: "/w" })
        const { agent_id } = yield* session.subagents.create(spec, "")
        const file = path.join(directoryOf(home, agent_id), "wire.log")
        let before = fs.readFileSync(file, "utf8")
        for (let id = 1; id <= 20; id++) {
          yield* session.subagents.append(agent_id, { direction: id % 2 === 0 ? "in" : "out", frame: `{"id":${id},"x":1.50}` })
          const now = fs.readFileSync(file, "utf8")
          expect(now.startsWith(before)).toBe(true)
          expect(now.slice(before.length)).toContain(`"e":{"dir":"${id % 2 === 0 ? "in" : "out"}","frame":{"id":${id},"x":1.50}}`)
          before = now
        }
      }),
    ),
  )

  it.live("K11 K16 K17 leaves nothing of what was deleted", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const id = yield* made
        const store = yield* SessionStore.Service
        yield* Effect.scoped(
          Effect.gen(function* () {
            const session = yield* store.openWriter("one")
            yield* session.subagents.setStatus(id, "idle", "closed")
            expect(fs.existsSync(directoryOf(home, id))).toBe(true)
            yield* session.subagents.delete(id)
            expect(fs.readdirSync(path.join(home, "sessions/one/subagents"))).toEqual([])
          }),
        )
        yield* store.delete("one")
        expect(fs.readdirSync(path.join(home, "sessions"))).toEqual([])
      }),
    ),
  )

  for (const gone of ["wire.log", "context.json"]) {
    it.live(`K05 K09 restores prompt and state without ${gone}`, () =>
      onDisk((home) =>
        Effect.gen(function* () {
          const id = yield* made
          const store = yield* SessionStore.Service
          const directory = directoryOf(home, id)
          const expected = { prompt: "You are kind.\n", context: { messages: ["a", "b"] } }
          fs.rmSync(path.join(directory, gone))
          const reader = yield* store.openReader("one")
          expect(yield* reader.subagents.load(id)).toMatchObject(expected)
          const session = yield* store.openWriter("one")
          const loaded = yield* session.subagents.load(id)
          expect(loaded).toMatchObject(expected)
          expect(loaded.warnings.map((warning) => warning.kind)).toContain("missing_file")
          yield* session.subagents.saveContext(id, { messages: ["a", "b", "c"] })
          expect(yield* reader.subagents.load(id)).toMatchObject({ context: { messages: ["a", "b", "c"] } })
          expect(fs.readdirSync(directory)).toEqual(
            expect.arrayContaining(["context.json", "meta.json", "prompt.txt", "wire.log"]),
          )
        }),
      ),
    )
  }

  it.live("K14 survives any number of restarts, whatever was done in each", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const id = yield* made
        for (let restart = 1; restart <= 12; restart++) {
          yield* Effect.gen(function* () {
            const store = yield* SessionStore.Service
            const session = yield* store.openWriter("one")
            const { context, prompt, meta } = yield* session.subagents.load(id)
            expect([prompt, meta.status, context.restarts ?? 0]).toEqual(["You are kind.\n", "idle", restart - 1])
            yield* session.subagents.setStatus(id, "idle", "working")
            yield* session.subagents.saveContext(id, { ...context, restarts: restart })
            yield* session.subagents.setStatus(id, "working", "idle")
          }).pipe(Effect.scoped, Effect.provide(SessionStore.layerWith({ home })))
        }
      }),
    ),
  )

  for (const umask of [0o000, 0o022, 0o077]) {
    it.live(`T16 lets nobody else in under umask ${umask.toString(8).padStart(3, "0")}`, () =>
      onDisk((home) =>
        Effect.gen(function* () {
          const before = process.umask(umask)
          yield* Effect.addFinalizer(() => Effect.sync(() => process.umask(before)))
          const inner = path.join(home, "deep/kit")
          yield* made.pipe(Effect.provide(SessionStore.layerWith({ home: inner })))
          for (const entry of fs.readdirSync(inner, { recursive: true, withFileTypes: true })) {
            const file = path.join(entry.parentPath, entry.name)
            expect([file, (fs.statSync(file).mode & 0o777).toString(8)]).toEqual([file, entry.isDirectory() ? "700" : "600"])
          }
          expect((fs.statSync(inner).mode & 0o777).toString(8)).toBe("700")
        }),
      ),
    )
  }

  it.live("narrows a session that others could read, and says so", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const id = yield* made
        const directory = path.join(home, "sessions/one")
        fs.chmodSync(directory, 0o755)
        fs.chmodSync(path.join(directoryOf(home, id), "prompt.txt"), 0o644)
        const store = yield* SessionStore.Service
        const session = yield* store.openWriter("one")
        expect(session.warnings.map((warning) => warning.kind)).toEqual(["wide_mode"])
        expect(fs.statSync(directory).mode & 0o777).toBe(0o700)
        const done = yield* session.subagents.repair(id)
        expect(done.map((finding) => path.basename(finding.path))).toEqual(["prompt.txt"])
        expect(fs.statSync(path.join(directoryOf(home, id), "prompt.txt")).mode & 0o777).toBe(0o600)
      }),
    ),
  )

  it.live("makes nothing while it only reads", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        expect(yield* store.list()).toEqual([])
        yield* Effect.flip(store.openReader("none"))
        expect(fs.readdirSync(home)).toEqual([])
        const id = yield* made
        const before = contents(home)
        const session = yield* store.openReader("one")
        yield* session.subagents.load(id)
        yield* session.subagents.verify(id)
        yield* session.items
        yield* session.children
        yield* store.holder("one")
        yield* store.orphans
        expect(contents(home)).toEqual(before)
      }),
    ),
  )
})

describe("time", () => {
  it.effect("T14 that goes back changes no order, and no stamp goes back", () =>
    onDisk(() =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        yield* TestClock.setTime(10_000_000)
        const session = yield* store.create({ id: "one", cwd: "/w" })
        const { agent_id } = yield* session.subagents.create(spec, "")
        yield* session.subagents.append(agent_id, { note: "first" }, "disk")
        const before = yield* session.subagents.setStatus(agent_id, "starting", "working")
        yield* TestClock.setTime(10_000_000 - 3_600_000)
        yield* session.subagents.append(agent_id, { note: "second" }, "disk")
        const after = yield* session.subagents.setStatus(agent_id, "working", "idle")
        expect(after.updated_at > before.updated_at).toBe(true)
        expect(after.rev).toBe(before.rev + 1)
        const records = yield* session.subagents.tail(agent_id, 2)
        expect(records.map((record) => (record.body as { note: string }).note)).toEqual(["first", "second"])
        expect(records.map((record) => record.time)).toEqual([10_000_000, 6_400_000])
      }),
    ),
  )
})
