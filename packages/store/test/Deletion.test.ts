import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Disk } from "../src/Disk.ts"
import { DiskFaulty } from "../src/DiskFaulty.ts"
import { DiskNode } from "../src/DiskNode.ts"
import { Lock } from "../src/Lock.ts"
import { SessionStore } from "../src/SessionStore.ts"
import { onDisk, spec, temporaryHome } from "./Backends.ts"
import { codeOf } from "./Made.ts"

/** A session `one` with an agent that keeps a session of its own, whose agent does too; the ids of both agents. */
const nested = Effect.gen(function* () {
  const store = yield* SessionStore.Service
  const agentOf = (id: string, origin: "top_level" | "subagent") =>
    Effect.scoped(
      Effect.gen(function* () {
        const { subagents } = yield* store.create({ id, cwd: "/w", origin })
        const { agent_id } = yield* subagents.create(spec, "")
        yield* subagents.setStatus(agent_id, "starting", "idle")
        return agent_id
      }),
    )
  const outer = yield* agentOf("one", "top_level")
  const inner = yield* agentOf(outer, "subagent")
  yield* agentOf(inner, "subagent")
  return [outer, inner] as const
})

const sessionsIn = (home: string) => fs.readdirSync(path.join(home, "sessions")).sort()

describe("deleting", () => {
  it.live("K17 a session takes the sessions of its agents along, however deep; one that is open refuses", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const [outer, inner] = yield* nested
        const store = yield* SessionStore.Service
        yield* Effect.scoped(store.create({ id: "two", cwd: "/w" }))
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* store.openWriter(inner)
            expect(yield* codeOf(store.delete("one"))).toBe("LOCKED")
            expect(sessionsIn(home)).toEqual(["one", "two", outer, inner].sort())
          }),
        )
        yield* store.delete("one")
        expect(sessionsIn(home)).toEqual(["two"])
      }),
    ),
  )

  it.live("K11 an agent takes its own session along, and leaves one of that name that is none of an agent", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const [outer, inner] = yield* nested
        const store = yield* SessionStore.Service
        const file = path.join(home, "sessions", inner, "session.json")
        fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace('"subagent"', '"top_level"'))
        yield* Effect.scoped(Effect.flatMap(store.openWriter("one"), ({ subagents }) => subagents.delete(outer)))
        expect(sessionsIn(home)).toEqual(["one", inner].sort())
        expect(fs.readdirSync(path.join(home, "sessions/one/subagents"))).toEqual([])
      }),
    ),
  )

  it.live("K16 collection takes them along too", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        yield* nested
        const store = yield* SessionStore.Service
        for (const id of sessionsIn(home)) {
          const file = path.join(home, "sessions", id, "session.json")
          const at = id === "one" ? "2020-01-01T00:00:00.000Z" : "2038-01-01T00:00:00.000Z"
          fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace(/"updated_at": "[^"]*"/, `"updated_at": "${at}"`))
          if (id === "one") fs.utimesSync(path.join(home, "sessions/one/transcript.jsonl"), 1, 1)
        }
        const gone = yield* store.collect({ olderThanDays: 30, keep: 0 }, { dryRun: false })
        expect(gone.map(({ id }) => id)).toEqual(["one"])
        expect(sessionsIn(home)).toEqual([])
      }),
    ),
  )

  it.live("a session that somebody else deletes meanwhile says that it is gone, to whoever wanted it", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const home = yield* temporaryHome
        const directory = path.join(home, "sessions/one")
        const doomed = { now: false }
        const disk = Layer.effect(
          Disk.Service,
          Effect.map(Disk.Service, (inner) => ({
            ...inner,
            stat: (file: string) =>
              Effect.tap(inner.stat(file), () =>
                Effect.sync(() => {
                  if (doomed.now && file.endsWith(".writer.lock")) fs.rmSync(directory, { recursive: true, force: true })
                }),
              ),
          })),
        ).pipe(Layer.provide(DiskNode.layer))
        const use = Effect.gen(function* () {
          const store = yield* SessionStore.Service
          for (const call of [store.delete("one"), Effect.scoped(store.openWriter("one")), store.rename("one", "t")]) {
            doomed.now = false
            yield* Effect.scoped(store.create({ id: "one", cwd: "/w" }))
            doomed.now = true
            expect(yield* codeOf<unknown>(call)).toBe("NOT_FOUND")
          }
        })
        yield* Effect.provide(use, SessionStore.layerDisk({ home }).pipe(Layer.provide(Layer.merge(disk, Lock.layer))))
      }),
    ),
  )

  for (const alsoNames of [false, true]) {
    const what = alsoNames ? "no byte and no name" : "no byte"
    it.live(`K17 takes ${what} of a full disk: sessions, agents and what a policy names can still go`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const home = yield* temporaryHome
          const disk = { full: false }
          const needs: ReadonlyArray<string> = [
            ...["write", "openExclusive", "makeDirectory"],
            ...(alsoNames ? ["rename", "syncDirectory"] : []),
          ]
          const faulty = DiskFaulty.layerWith(({ call }) =>
            disk.full && needs.includes(call) ? { code: "ENOSPC" } : undefined,
          ).pipe(Layer.provide(DiskNode.layer))
          const use = Effect.gen(function* () {
            const store = yield* SessionStore.Service
            const [outer] = yield* nested
            for (const id of ["two", "three"]) yield* Effect.scoped(store.create({ id, cwd: "/w" }))
            disk.full = true
            yield* Effect.scoped(
              Effect.gen(function* () {
                const { subagents } = yield* store.openWriter("one")
                expect(yield* store.holder("one")).toEqual({ pid: null, host: null, since: null })
                yield* subagents.delete(outer)
              }),
            )
            expect(sessionsIn(home)).toEqual(["one", "three", "two"])
            yield* store.delete("two")
            expect(sessionsIn(home)).toEqual(["one", "three"])
            const gone = yield* store.collect({ maxBytes: 0, keep: 0 }, { dryRun: false })
            expect(gone.map(({ problem }) => problem)).toEqual([undefined, undefined])
            expect(sessionsIn(home)).toEqual([])
          })
          yield* Effect.provide(use, SessionStore.layerDisk({ home }).pipe(Layer.provide(Layer.merge(faulty, Lock.layer))))
        }),
      ),
    )
  }
})
