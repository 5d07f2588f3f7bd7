import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { SessionStore } from "../src/SessionStore.ts"
import { onDisk } from "./Backends.ts"
import { codeOf, contents, made } from "./Made.ts"

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
