import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { SessionStore } from "../src/SessionStore.ts"
import { onDisk } from "./Backends.ts"
import { codeOf, contents, directoryOf, made } from "./Made.ts"

describe("paths", () => {
  it.live("T10 are never made of a hostile id", () =>
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

  it.live("T10 follow no link that stands in a session", () =>
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
          expect(yield* attack(file)).toEqual([file, "CORRUPT", "CORRUPT"])
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

  it.live("T10 follow no link that stands for all the agents of a session, nor one for the place of damage", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const id = yield* made
        const store = yield* SessionStore.Service
        const outside = path.join(home, "outside")
        fs.mkdirSync(outside)
        const directory = directoryOf(home, id)
        const log = path.join(directory, "wire.log")
        fs.writeFileSync(log, fs.readFileSync(log, "utf8").replace('{"q":3', '!"q":3'))
        fs.symlinkSync(outside, path.join(directory, ".quarantine"))
        const repaired = Effect.flatMap(store.openWriter("one"), ({ subagents }) => subagents.repair(id))
        const refused = yield* Effect.flip(Effect.scoped(repaired))
        expect(refused.message).toContain("a symlink stands where a directory belongs; Kit made no such thing")
        expect(fs.readdirSync(outside)).toEqual([])
        fs.rmSync(path.join(directory, ".quarantine"))
        expect(yield* Effect.scoped(repaired)).toHaveLength(1)

        const parent = path.dirname(directory)
        fs.renameSync(parent, `${outside}/moved`)
        fs.symlinkSync(`${outside}/moved`, parent)
        const before = contents(outside)
        const reader = yield* store.openReader("one")
        const reads = [
          reader.subagents.list(),
          reader.subagents.load(id),
          reader.subagents.tail(id, 1),
          reader.subagents.verify(id),
          reader.subagents.orphans,
        ]
        for (const read of reads) expect(yield* codeOf<unknown>(read)).toBe("CORRUPT")
        expect(contents(outside)).toEqual(before)
        yield* store.delete("one")
        expect(contents(outside)).toEqual(before)
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
