import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as DiskModel from "../src/DiskModel.ts"
import { Lock } from "../src/Lock.ts"
import { SessionStore } from "../src/SessionStore.ts"
import type { StoreError } from "../src/StoreError.ts"
import { defaults, StoreLimits } from "../src/StoreLimits.ts"
import { gather } from "../src/Transcript.ts"
import { agentId, backends, childOf, spec } from "./Backends.ts"

const codeOf = <A>(effect: Effect.Effect<A, StoreError>) => Effect.map(Effect.flip(effect), (error) => error.code)

for (const { name, run } of backends) {
  describe(name, () => {
    it.live("keeps what a session was created with", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const session = yield* store.create({ id: "one", cwd: "/w", additionalDirectories: ["/x"], title: "First" })
          const reader = yield* store.openReader("one")
          const info = yield* reader.info
          expect(info).toMatchObject({
            id: "one",
            cwd: "/w",
            additional_directories: ["/x"],
            origin: "top_level",
            title: "First",
          })
          expect(yield* session.info).toEqual(info)
        }),
      ),
    )

    it.live("makes an id that sorts by time where none is given", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const { id } = yield* Effect.scoped(store.create({ cwd: "/w" }))
          expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        }),
      ),
    )

    it.live("refuses an id that is taken, malformed, or unknown", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          yield* Effect.scoped(store.create({ id: "one", cwd: "/w" }))
          expect(yield* codeOf(Effect.scoped(store.create({ id: "one", cwd: "/w" })))).toBe("ALREADY_EXISTS")
          expect(yield* codeOf(Effect.scoped(store.create({ id: "../one", cwd: "/w" })))).toBe("INVALID_ID")
          expect(yield* codeOf(store.openReader("two"))).toBe("NOT_FOUND")
          expect(yield* codeOf(Effect.scoped(store.openWriter("two")))).toBe("NOT_FOUND")
          expect(yield* codeOf(store.delete("two"))).toBe("NOT_FOUND")
          expect(yield* codeOf(Effect.scoped(store.create({ cwd: "relative" })))).toBe("INVALID")
        }),
      ),
    )

    it.live("has one writer at a time and names it to others", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          yield* Effect.scoped(
            Effect.gen(function* () {
              yield* store.create({ id: "one", cwd: "/w" })
              const error = yield* Effect.flip(Effect.scoped(store.openWriter("one")))
              expect(error.code).toBe("LOCKED")
              expect(error.message).toContain(`process ${process.pid} on `)
              expect((yield* store.holder("one"))?.pid).toBe(process.pid)
            }),
          )
          expect(yield* store.holder("one")).toBeUndefined()
          yield* Effect.scoped(store.openWriter("one"))
        }),
      ),
    )

    it.live("numbers transcript records without gaps over reopenings", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const id = yield* agentId
          yield* Effect.scoped(
            Effect.gen(function* () {
              const session = yield* store.create({ id: "one", cwd: "/w" })
              yield* session.appendItem("a")
              yield* session.appendItem({ b: 2n ** 60n }, "disk")
              yield* session.appendChild(childOf(id))
            }),
          )
          yield* Effect.scoped(Effect.flatMap(store.openWriter("one"), (session) => session.appendItem("c")))
          const reader = yield* store.openReader("one")
          const records = yield* Stream.runCollect(reader.records)
          expect(records.map((record) => (record.kind === "gap" ? -1 : record.seq))).toEqual([1, 2, 3, 4, 5])
          expect(records.map((record) => record.kind)).toEqual(["other", "item", "item", "child", "item"])
          expect(yield* reader.items).toEqual(["a", { b: 2n ** 60n }, "c"])
        }),
      ),
    )

    it.live("starts anew at a replacement and keeps the children", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const session = yield* store.create({ id: "one", cwd: "/w" })
          const [first, second] = [yield* agentId, yield* agentId]
          yield* session.appendItem("old")
          yield* session.appendChild(childOf(first, { lifecycle: "Interrupted" }))
          yield* session.appendChild(childOf(second))
          yield* session.appendReplacement(["summary"])
          yield* session.appendItem("new")
          yield* session.appendChild(childOf(first, { lifecycle: "Closed", task: "kept as it is" }))
          expect(yield* session.items).toEqual(["summary", "new"])
          const expected = [childOf(first, { lifecycle: "Closed", task: "kept as it is" }), childOf(second)]
          expect(yield* session.children).toEqual(expected)
          expect(yield* Effect.flatMap(store.openReader("one"), (reader) => reader.children)).toEqual(expected)
        }),
      ),
    )

    it.live("refuses a child record that breaks a rule", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const session = yield* store.create({ id: "one", cwd: "/w" })
          const id = yield* agentId
          const broken = [
            { id: "s-1" },
            { lifecycle: "Gone" as "Idle" },
            { acp_session_id: "" },
            { harness: "" },
            { cwd: "w" },
            { depth: 0 },
            { generation: 0 },
            { lifecycle: "Interrupted" as const, handle_generation: 2 },
            { generation: 2 },
          ]
          for (const change of broken) expect(yield* codeOf(session.appendChild(childOf(id, change)))).toBe("INVALID")
          expect(yield* session.children).toEqual([])
        }),
      ),
    )

    it.live("lists newest first, by workspace, without those of subagents", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          yield* Effect.scoped(store.create({ id: "a", cwd: "/one" }))
          yield* Effect.sleep(5)
          yield* Effect.scoped(store.create({ id: "b", cwd: "/two" }))
          yield* Effect.sleep(5)
          yield* Effect.scoped(store.create({ id: "c", cwd: "/one" }))
          yield* Effect.sleep(5)
          yield* Effect.scoped(store.create({ id: "d", cwd: "/one", origin: "subagent" }))
          const ids = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map((row) => row.id)
          expect(ids(yield* store.list())).toEqual(["c", "b", "a"])
          expect(ids(yield* store.list({ cwd: "/one" }))).toEqual(["c", "a"])
          expect(ids(yield* store.list({ subagents: true }))).toEqual(["d", "c", "b", "a"])
        }),
      ),
    )

    it.live("renames, also while it is open here, and refuses a title that cannot be shown", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          yield* Effect.scoped(
            Effect.gen(function* () {
              const session = yield* store.create({ id: "one", cwd: "/w" })
              expect((yield* store.rename("one", "First")).title).toBe("First")
              expect((yield* session.info).title).toBe("First")
            }),
          )
          expect((yield* store.rename("one", "Second")).rev).toBe(3)
          for (const title of ["", "  ", "a\nb", "x".repeat(101), "\u202egnp.exe"]) {
            expect(yield* codeOf(store.rename("one", title))).toBe("INVALID")
          }
          expect((yield* store.rename("one", undefined)).title).toBeUndefined()
        }),
      ),
    )

    it.live("K17 deletes a session with its agents, unless it is open", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          yield* Effect.scoped(
            Effect.gen(function* () {
              const session = yield* store.create({ id: "one", cwd: "/w" })
              yield* session.subagents.create(spec, "")
              expect(yield* codeOf(store.delete("one"))).toBe("LOCKED")
            }),
          )
          yield* store.delete("one")
          expect(yield* store.list()).toEqual([])
          expect(yield* codeOf(store.openReader("one"))).toBe("NOT_FOUND")
          yield* Effect.scoped(store.create({ id: "one", cwd: "/w" }))
        }),
      ),
    )
  })
}

it.effect("tells whoever opens a session what its transcript holds, over all of its files", () =>
  Effect.gen(function* () {
    const store = yield* SessionStore.Service
    const id = yield* agentId
    yield* Effect.scoped(
      Effect.gen(function* () {
        const session = yield* store.create({ id: "one", cwd: "/w" })
        yield* session.appendItem("replaced")
        yield* session.appendChild(childOf(id))
        yield* session.appendReplacement(["first"])
        for (let at = 0; at < 20; at++) yield* session.appendItem({ at, text: "x".repeat(100) }, "disk")
      }),
    )
    const told: Array<SessionStore.TranscriptRecord> = []
    const { take, items } = gather()
    const session = yield* store.openWriter("one", (record) => {
      told.push(record)
      take(record)
    })
    expect(told).toEqual(yield* Stream.runCollect(session.records))
    expect(items()).toEqual(yield* session.items)
    expect([items()[0], items().length]).toEqual(["first", 21])
    expect(yield* session.children).toMatchObject([{ id }])
    expect(told.filter(({ kind }) => kind === "other").length).toBeGreaterThan(3)
  }).pipe(
    Effect.scoped,
    Effect.provide(
      SessionStore.layerDisk({ home: "/home" }).pipe(
        Layer.provide(Layer.provideMerge(Lock.layerMemory, DiskModel.layer)),
        Layer.provide(Layer.succeed(StoreLimits, { ...defaults, rotateBytes: 700 })),
      ),
    ),
  ),
)
