import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { SessionStore } from "../src/SessionStore.ts"
import type { StoreError } from "../src/StoreError.ts"
import { childOf, onDisk, spec } from "./Backends.ts"

const codeOf = <A>(effect: Effect.Effect<A, StoreError>) => Effect.map(Effect.flip(effect), (error) => error.code)

/** A session `one` with one agent that has a prompt, events and a state, closed again. */
const made = Effect.gen(function* () {
  const store = yield* SessionStore.Service
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const session = yield* store.create({ id: "one", cwd: "/w" })
      const { agent_id } = yield* session.subagents.create(spec, "You are kind.\n")
      for (let id = 1; id <= 3; id++)
        yield* session.subagents.append(agent_id, { direction: "out", frame: `{"id":${id}}` }, "disk")
      yield* session.subagents.setStatus(agent_id, "starting", "working")
      yield* session.subagents.saveContext(agent_id, { messages: ["a", "b"] })
      yield* session.subagents.setStatus(agent_id, "working", "idle")
      yield* session.appendItem("item")
      yield* session.appendChild(childOf(agent_id))
      return agent_id
    }),
  )
})

const directoryOf = (home: string, id: string) => path.join(home, "sessions/one/subagents", id)

/** Every file below a directory with its bytes. */
const contents = (directory: string): Record<string, string> => {
  const found: Record<string, string> = {}
  for (const entry of fs.readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name)
    if (entry.isFile()) found[path.relative(directory, file)] = fs.readFileSync(file).toString("latin1")
  }
  return found
}

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
    it.live(`lets nobody else in under umask ${umask.toString(8).padStart(3, "0")}`, () =>
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

describe("paths", () => {
  it.live("are never made of a hostile id", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        yield* made
        const before = contents(home)
        const store = yield* SessionStore.Service
        const { subagents } = yield* store.openReader("one")
        const parts = [
          "..",
          ".",
          "/",
          "\\",
          "\u0000",
          "a",
          "é",
          "con",
          "s-",
          "%2e",
          "~",
          " ",
          "\n",
          "C:",
          "one",
          "$HOME",
          "x".repeat(300),
        ]
        let tried = 0
        for (let seed = 0; tried < 10_000; seed++) {
          let id = ""
          for (let rest = seed; rest > 0 || id === ""; rest = Math.floor(rest / parts.length)) id += parts[rest % parts.length]
          if (/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/.test(id) && !/^con(\.|$)/.test(id) && !id.endsWith(".")) continue
          tried++
          const session = yield* Effect.flip(store.openReader(id))
          const agent = yield* Effect.flip(subagents.load(id))
          if (session.code !== "INVALID_ID" || agent.code !== "NOT_FOUND") expect([id, session.code, agent.code]).toBe("refused")
        }
        expect(contents(home)).toEqual(before)
      }),
    ),
  )

  it.live("follow no link that stands in a session", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const id = yield* made
        const store = yield* SessionStore.Service
        const directory = directoryOf(home, id)
        const outside = path.join(home, "outside")
        fs.cpSync(directory, outside, { recursive: true })
        const before = contents(outside)
        const attack = (name: string) =>
          Effect.gen(function* () {
            const session = yield* store.openWriter("one")
            return [name, yield* codeOf(session.subagents.load(id)), yield* codeOf(session.subagents.saveContext(id, { a: 1 }))]
          }).pipe(Effect.scoped)
        for (const file of ["meta.json", "wire.log", "context.json"]) {
          const target = path.join(directory, file)
          const kept = fs.readFileSync(target)
          fs.rmSync(target)
          fs.symlinkSync(path.join(outside, file), target)
          expect(yield* attack(file)).toEqual([file, "DENIED", "DENIED"])
          fs.rmSync(target)
          fs.writeFileSync(target, kept)
        }
        fs.renameSync(directory, `${directory}-moved`)
        fs.symlinkSync(outside, directory)
        expect(yield* attack("directory")).toEqual(["directory", "CORRUPT", "CORRUPT"])
        expect(contents(outside)).toEqual(before)
        fs.symlinkSync(path.join(home, "sessions/one"), path.join(home, "sessions/two"))
        expect(yield* codeOf(Effect.scoped(store.openWriter("two")))).toBe("CORRUPT")
        expect(yield* codeOf(store.delete("two"))).toBe("CORRUPT")
        expect(fs.existsSync(path.join(home, "sessions/one/session.json"))).toBe(true)
      }),
    ),
  )

  it.live("that are pipes neither block nor pass for files", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const id = yield* made
        const store = yield* SessionStore.Service
        const file = path.join(directoryOf(home, id), "meta.json")
        fs.rmSync(file)
        const { spawnSync } = yield* Effect.promise(() => import("node:child_process"))
        spawnSync("mkfifo", [file])
        const session = yield* store.openReader("one")
        expect(yield* codeOf(session.subagents.load(id))).toMatch(/^(IO|CORRUPT)$/)
      }),
    ),
  )
})

describe("damage", () => {
  it.live("of one agent hides no other, and is listed with what is wrong", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const id = yield* made
        const store = yield* SessionStore.Service
        const others = yield* Effect.scoped(
          Effect.gen(function* () {
            const { subagents } = yield* store.openWriter("one")
            return [yield* subagents.create(spec, ""), yield* subagents.create(spec, ""), yield* subagents.create(spec, "")]
          }),
        )
        const [empty, zeros, alien] = others.map((meta) => path.join(directoryOf(home, meta.agent_id), "meta.json")) as [
          string,
          string,
          string,
        ]
        fs.writeFileSync(empty, "")
        fs.writeFileSync(zeros, new Uint8Array(1206))
        fs.writeFileSync(alien, '{"schema":"other"}')
        const session = yield* store.openWriter("one")
        const rows = yield* session.subagents.list()
        expect(rows.filter((row) => row.problem === undefined).map((row) => row.id)).toEqual([id])
        expect(rows.filter((row) => row.problem?.code === "CORRUPT").length).toBe(3)
        expect((yield* session.subagents.orphans).map((orphan) => orphan.why)).toEqual([
          "damaged_metadata",
          "damaged_metadata",
          "damaged_metadata",
        ])
      }),
    ),
  )

  it.live("of a session's metadata hides no other session", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        yield* made
        const store = yield* SessionStore.Service
        yield* Effect.scoped(store.create({ id: "two", cwd: "/w" }))
        fs.writeFileSync(path.join(home, "sessions/two/session.json"), "\u0000\u0000")
        fs.mkdirSync(path.join(home, "sessions/three"))
        const rows = yield* store.list()
        expect(rows.map((row) => [row.id, row.problem?.code]).sort()).toEqual([
          ["one", undefined],
          ["three", "CORRUPT"],
          ["two", "CORRUPT"],
        ])
      }),
    ),
  )

  it.live("of any one byte or cut of any file is noticed, typed, and leaves no wrong data behind", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const id = yield* made
        const store = yield* SessionStore.Service
        const directory = directoryOf(home, id)
        const healthy = yield* Effect.flatMap(store.openReader("one"), (session) => session.subagents.load(id))
        const events = yield* Effect.flatMap(store.openReader("one"), (session) =>
          Stream.runCollect(session.subagents.replay(id)),
        )
        let inputs = 0
        for (const file of ["prompt.txt", "context.json", "meta.json", "wire.log"]) {
          const target = path.join(directory, file)
          const original = fs.readFileSync(target)
          const variants: Array<Uint8Array> = []
          const step = process.env.KIT_TEST_LONG === "1" ? 1 : 7
          for (let at = 0; at < original.length; at += step) {
            variants.push(original.subarray(0, at))
            for (const flip of [0x01, 0x20, 0x80]) {
              const copy = new Uint8Array(original)
              copy[at] = (copy[at] as number) ^ flip
              variants.push(copy)
            }
          }
          for (const variant of variants) {
            inputs++
            fs.writeFileSync(target, variant)
            const session = yield* store.openReader("one")
            const loaded = yield* Effect.result(session.subagents.load(id))
            const seen = yield* Effect.result(Stream.runCollect(session.subagents.replay(id)))
            yield* session.subagents.list()
            const findings = yield* Effect.result(session.subagents.verify(id))
            expect(findings._tag).toBe("Success")
            if (seen._tag === "Success") {
              for (const element of seen.success) {
                if ("gap" in element) continue
                expect(events).toContainEqual(element)
              }
            }
            if (loaded._tag === "Success") {
              const { prompt, context, meta, warnings } = loaded.success
              expect(prompt).toBe(healthy.prompt)
              expect(meta.agent_id).toBe(id)
              const edited = warnings.some((warning) => warning.kind === "hand_edited")
              if (file === "context.json" && !edited && warnings.length === 0) expect(context).toEqual(healthy.context)
              if (file === "meta.json") expect(context).toEqual(healthy.context)
            }
          }
          fs.writeFileSync(target, original)
        }
        console.log(`${inputs} damaged files, no untyped error, no silent wrong data`)
      }),
    ),
  )

  it.live("is mended by repair, from what is left, with a copy of what was there", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const id = yield* made
        const store = yield* SessionStore.Service
        const directory = directoryOf(home, id)
        const healthy = yield* Effect.flatMap(store.openReader("one"), (session) => session.subagents.load(id))
        fs.writeFileSync(path.join(directory, "meta.json"), "half a ")
        fs.writeFileSync(path.join(directory, "context.json"), "")
        fs.appendFileSync(path.join(directory, "wire.log"), '{"q":99,"torn')
        fs.chmodSync(path.join(directory, "wire.log"), 0o600)
        const session = yield* store.openWriter("one")
        const severities = (findings: ReadonlyArray<{ readonly severity: string }>) => findings.map((finding) => finding.severity)
        expect(severities(yield* session.subagents.verify(id))).toEqual(["error", "warning", "warning", "warning"])
        expect(yield* codeOf(session.subagents.load(id))).toBe("CORRUPT")
        const done = yield* session.subagents.repair(id)
        expect(done.map((finding) => path.basename(finding.path))).toEqual(["meta.json", "context.json", "wire.log"])
        expect(severities(yield* session.subagents.verify(id))).toEqual(["ok", "ok", "ok", "ok"])
        const mended = yield* session.subagents.load(id)
        expect([mended.prompt, mended.context, mended.meta.spec]).toEqual([healthy.prompt, healthy.context, healthy.meta.spec])
        expect([mended.meta.status, mended.meta.created_at]).toEqual(["interrupted", healthy.meta.created_at])
        const kept = fs.readdirSync(path.join(directory, ".quarantine"))
        expect(kept.map((file) => file.split(".")[0]).sort()).toEqual(["context", "meta"])
        expect(yield* session.subagents.repair(id)).toEqual([])
      }),
    ),
  )

  it.live("that cannot be mended is said plainly: a prompt that is gone, a log that is another's", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const id = yield* made
        const store = yield* SessionStore.Service
        fs.rmSync(path.join(directoryOf(home, id), "prompt.txt"))
        const session = yield* store.openWriter("one")
        const error = yield* Effect.flip(session.subagents.load(id))
        expect(error.message).toContain(
          "prompt.txt is damaged: it is missing; the agent cannot be resumed without its system prompt",
        )
        yield* session.subagents.repair(id)
        expect(yield* codeOf(session.subagents.load(id))).toBe("CORRUPT")
        const other = yield* session.subagents.create(spec, "")
        fs.copyFileSync(path.join(directoryOf(home, id), "wire.log"), path.join(directoryOf(home, other.agent_id), "wire.log"))
        expect(yield* codeOf(session.subagents.load(other.agent_id))).toBe("CORRUPT")
      }),
    ),
  )
})

describe("orphans", () => {
  it.live("K12 are found and told apart, and neither adopted nor dropped by looking", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const id = yield* made
        const store = yield* SessionStore.Service
        const parent = path.join(home, "sessions/one/subagents")
        const uuid = (last: number) => `s-01a22eb1-d6f4-7c12-8c07-00000000000${last}`
        fs.mkdirSync(path.join(parent, uuid(1)))
        fs.mkdirSync(path.join(parent, uuid(2)))
        fs.writeFileSync(path.join(parent, uuid(2), "meta.json"), "{")
        fs.cpSync(path.join(parent, id), path.join(parent, uuid(3)), { recursive: true })
        fs.writeFileSync(
          path.join(parent, uuid(3), "meta.json"),
          fs.readFileSync(path.join(parent, id, "meta.json"), "utf8").replace('"session_id": "one"', '"session_id": "gone"'),
        )
        fs.mkdirSync(path.join(parent, `.new-${uuid(4)}`))
        fs.mkdirSync(path.join(parent, `.trash-${uuid(5)}.x`))
        fs.mkdirSync(path.join(parent, "notes"))
        fs.mkdirSync(path.join(home, "sessions/lost/subagents"), { recursive: true })
        fs.cpSync(path.join(parent, id), path.join(home, "sessions/lost/subagents", id), { recursive: true })
        fs.writeFileSync(
          path.join(home, "sessions/lost/subagents", id, "meta.json"),
          fs.readFileSync(path.join(parent, id, "meta.json"), "utf8").replace('"session_id": "one"', '"session_id": "lost"'),
        )
        fs.writeFileSync(
          path.join(parent, id, "meta.json"),
          fs.readFileSync(path.join(parent, id, "meta.json"), "utf8").replace('"status": "idle"', '"status": "working"'),
        )
        const before = contents(home)
        const found = (yield* store.orphans).map((orphan) => [orphan.session, orphan.id, orphan.why])
        expect(found).toEqual([
          ["lost", id, "owner_gone"],
          ["one", uuid(4), "unfinished_create"],
          ["one", uuid(5), "unfinished_delete"],
          ["one", "notes", "no_metadata"],
          ["one", uuid(1), "no_metadata"],
          ["one", uuid(2), "damaged_metadata"],
          ["one", uuid(3), "foreign"],
          ["one", id, "process_gone"],
        ])
        expect(contents(home)).toEqual(before)
        const reader = yield* store.openReader("one")
        const row = (yield* reader.subagents.list()).find((one) => one.id === id)
        expect([row?.meta?.status, row?.meta?.status_reason]).toEqual(["interrupted", "its process ended while it was working"])
        const session = yield* store.openWriter("one")
        expect((yield* session.subagents.orphans).map((orphan) => orphan.why)).toEqual([
          "no_metadata",
          "no_metadata",
          "damaged_metadata",
          "foreign",
        ])
        expect(fs.readdirSync(parent).filter((name) => name.startsWith("."))).toEqual([])
        expect(yield* codeOf(session.subagents.load(uuid(3)))).toBe("FOREIGN_SESSION")
      }),
    ),
  )
})

describe("time", () => {
  it.effect("that goes back changes no order, and no stamp goes back", () =>
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
