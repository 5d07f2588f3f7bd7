import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Frame } from "../src/Frame.ts"
import type { JsonObject } from "../src/Json.ts"
import { SessionStore } from "../src/SessionStore.ts"
import { onDisk } from "./Backends.ts"

const id = "s-01a22eb1-d6f4-7c12-8c07-000000000001"

/** A test over a copy of the session `golden`, as format version 1 wrote it. */
const golden = <A, E>(test: (session: string, agent: string) => Effect.Effect<A, E, SessionStore.Service | Scope.Scope>) =>
  onDisk((home) => {
    const released = fileURLToPath(new URL("./fixtures/v1/sessions", import.meta.url))
    fs.cpSync(released, path.join(home, "sessions"), { recursive: true })
    const session = path.join(home, "sessions/golden")
    return Effect.scoped(test(session, path.join(session, "subagents", id)))
  })

const edit = (file: string, change: (document: Record<string, unknown>) => void) => {
  const document = JSON.parse(fs.readFileSync(file, "utf8"))
  change(document)
  fs.writeFileSync(file, JSON.stringify(document))
}

const bytesBelow = (directory: string) =>
  fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith(".writer"))
    .map((entry) => [path.join(entry.parentPath, entry.name), fs.readFileSync(path.join(entry.parentPath, entry.name), "latin1")])

describe("what version 1 wrote", () => {
  it.live("T12 is read as it was meant", () =>
    golden(() =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const session = yield* store.openWriter("golden")
        expect(session.warnings.filter((warning) => warning.kind !== "wide_mode")).toEqual([])
        expect((yield* session.info).title).toBe("Golden")
        expect(yield* session.items).toEqual([
          { kind: "summary", text: "short" },
          { kind: "agent", text: "ok" },
        ])
        expect((yield* session.children).map((child) => [child.id, child.lifecycle, child.output])).toEqual([
          [id, "Idle", "done"],
        ])
        const { meta, prompt, context } = yield* session.subagents.load(id)
        expect(meta.spec).toEqual({
          name: "code-reviewer",
          harness: "acp.kit",
          env: { REPO_PATH: "/home/user/project" },
          secret_env: ["API_KEY"],
        })
        expect([meta.status, prompt]).toEqual(["idle", "You review code.\n"])
        expect(context).toEqual({ messages: ["one", "two", "three"], usage: { used: 1 } })
        const records = yield* Stream.runCollect(session.subagents.replay(id))
        expect(records.map((record) => ("gap" in record ? "gap" : record.kind)).join(" ")).toBe(
          "head event event event event event event event state seal head state",
        )
        expect((records[1] as { body: JsonObject }).body).toEqual({
          dir: "out",
          frame: { jsonrpc: "2.0", id: 1, big: 18446744073709551615n },
        })
      }),
    ),
  )

  it.live("S107 is read without child records too, by who knows them and who does not", () =>
    golden((directory) =>
      Effect.gen(function* () {
        const file = path.join(directory, "transcript.jsonl")
        const lines = fs.readFileSync(file, "utf8").trimEnd().split("\n")
        const versions = lines.map((line) => JSON.parse(line) as { k: string; v: number })
        expect(versions.filter(({ k, v }) => (k === "child" ? v !== 2 : v !== 1))).toEqual([])
        fs.writeFileSync(file, `${lines.slice(0, 2).join("\n")}\n`)
        const store = yield* SessionStore.Service
        const session = yield* store.openWriter("golden")
        expect(yield* session.children).toEqual([])
        expect((yield* session.items).length).toBe(1)
      }),
    ),
  )
})

describe("what a newer version wrote", () => {
  it.live("is kept where it is only more: members, kinds, a higher version that we may write", () =>
    golden((directory, agent) =>
      Effect.gen(function* () {
        const added = { future: { deep: [1, "x"] } }
        edit(path.join(directory, "session.json"), (document) => Object.assign(document, { version: 2, min_reader: 1, ...added }))
        edit(path.join(agent, "meta.json"), (document) => {
          Object.assign(document, { version: 2, min_reader: 1, ...added })
          Object.assign(document.spec as object, added)
        })
        edit(path.join(agent, "context.json"), (document) => Object.assign(document, added))
        fs.appendFileSync(path.join(directory, "transcript.jsonl"), Frame.encodeValue(7, 0, "mood", 2, added))
        const store = yield* SessionStore.Service
        const session = yield* store.openWriter("golden")
        yield* session.rename("Renamed")
        yield* session.appendItem("more", "disk")
        yield* session.subagents.setStatus(id, "idle", "working")
        yield* session.subagents.saveContext(id, { messages: ["four"] })
        const read = (file: string) => JSON.parse(fs.readFileSync(file, "utf8"))
        expect(read(path.join(directory, "session.json"))).toMatchObject({ version: 2, title: "Renamed", ...added })
        expect(read(path.join(agent, "meta.json"))).toMatchObject({ version: 2, status: "working", spec: added, ...added })
        expect(read(path.join(agent, "context.json"))).toMatchObject({ state: { messages: ["four"] }, ...added })
        const records = yield* Stream.runCollect(session.records)
        expect(records.at(-2)).toMatchObject({ kind: "other", record: { kind: "mood", body: added } })
        expect(records.at(-1)).toMatchObject({ kind: "item", item: "more", seq: 8 })
      }),
    ),
  )

  it.live("S107 is refused for writing, still listed and read, and loses nothing", () =>
    golden((directory, agent) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const transcript = path.join(directory, "transcript.jsonl")
        const kept = fs.readFileSync(transcript)
        const newer: ReadonlyArray<readonly [string, () => void]> = [
          ["a record", () => fs.appendFileSync(transcript, Frame.encodeValue(7, 0, "child", 3, { id, lifecycle: "Idle" }))],
          ["a record and a torn tail", () => fs.appendFileSync(transcript, '{"q":9,"t":')],
          [
            "the session",
            () => {
              fs.writeFileSync(transcript, kept)
              edit(path.join(directory, "session.json"), (document) => Object.assign(document, { version: 9, min_reader: 2 }))
            },
          ],
        ]
        fs.chmodSync(directory, 0o700)
        for (const [what, make] of newer) {
          make()
          const before = bytesBelow(directory)
          const error = yield* Effect.flip(Effect.scoped(store.openWriter("golden")))
          expect([what, error.code]).toEqual([what, "NEWER_VERSION"])
          expect(error.message).toContain("update Kit to open it")
          expect((yield* store.list()).map((row) => row.info?.title)).toEqual(["Golden"])
          const reader = yield* store.openReader("golden")
          expect((yield* reader.items).length).toBe(2)
          expect((yield* reader.subagents.load(id)).prompt).toBe("You review code.\n")
          expect(bytesBelow(directory)).toEqual(before)
        }
        expect((yield* store.list())[0]?.problem?.code).toBe("NEWER_VERSION")
        expect(fs.existsSync(agent)).toBe(true)
      }),
    ),
  )

  it.live("an agent of it is refused for writing, still listed, and hides no other", () =>
    golden((_, agent) =>
      Effect.gen(function* () {
        edit(path.join(agent, "meta.json"), (document) =>
          Object.assign(document, { version: 2, min_reader: 2, status: "dreaming" }),
        )
        const before = bytesBelow(agent)
        const store = yield* SessionStore.Service
        yield* Effect.scoped(
          Effect.gen(function* () {
            const session = yield* store.openWriter("golden")
            expect((yield* Effect.flip(session.subagents.setStatus(id, "idle", "working"))).code).toBe("NEWER_VERSION")
            expect((yield* Effect.flip(session.subagents.append(id, { note: "x" }))).code).toBe("NEWER_VERSION")
            expect((yield* session.subagents.list()).map((row) => row.meta?.status)).toEqual(["dreaming"])
          }),
        )
        expect(bytesBelow(agent)).toEqual(before)
      }),
    ),
  )

  it.live("a status we do not know is shown and does not run", () =>
    golden((_, agent) =>
      Effect.gen(function* () {
        edit(path.join(agent, "meta.json"), (document) => Object.assign(document, { status: "dreaming" }))
        const store = yield* SessionStore.Service
        const session = yield* store.openWriter("golden")
        expect((yield* session.subagents.load(id)).meta.status).toBe("dreaming")
        const error = yield* Effect.flip(session.subagents.setStatus(id, "idle", "working"))
        expect([error.code, error.message]).toEqual(["BUSY", `subagent "${id}" is dreaming; the caller took it for idle`])
      }),
    ),
  )

  it.live("members that an older version did not write have defaults", () =>
    golden((directory, agent) =>
      Effect.gen(function* () {
        edit(path.join(agent, "meta.json"), (document) => {
          for (const key of ["rev", "status", "ext", "migrated_from", "created_at", "updated_at", "min_reader"])
            delete document[key]
        })
        edit(path.join(directory, "session.json"), (document) => {
          for (const key of ["rev", "origin", "additional_directories", "title", "updated_at", "min_reader"]) delete document[key]
        })
        const store = yield* SessionStore.Service
        const session = yield* store.openWriter("golden")
        expect(yield* session.info).toMatchObject({ origin: "top_level", additional_directories: [] })
        expect((yield* session.subagents.load(id)).meta).toMatchObject({ status: "idle", migrated_from: [], ext: {} })
      }),
    ),
  )
})
