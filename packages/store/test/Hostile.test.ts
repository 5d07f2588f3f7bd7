import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { encodeValue } from "../src/Frame.ts"
import { type Json, stringify } from "../src/Json.ts"
import { SessionStore } from "../src/SessionStore.ts"
import { childOf, onDisk } from "./Backends.ts"
import { codeOf, directoryOf, made } from "./Made.ts"

/** Values that stand where others are expected. */
const odd: ReadonlyArray<Json> = [null, 5, -1, 1.5, true, "", "\u001b[31m", [], [[]], {}, { length: 3 }]

const rewrite = (file: string, change: (document: any) => void): void => {
  const document = JSON.parse(fs.readFileSync(file, "utf8"))
  change(document)
  fs.writeFileSync(file, stringify(document))
}

describe("what somebody else may have written", () => {
  it.live("in any member of a document is listed and shown, or refused with a code", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const id = yield* made
        const store = yield* SessionStore.Service
        fs.cpSync(path.join(home, "sessions/one"), path.join(home, "kept"), { recursive: true })
        const files = [
          path.join(home, "sessions/one/session.json"),
          ...["meta.json", "context.json"].map((file) => path.join(directoryOf(home, id), file)),
        ]
        let tried = 0
        for (const file of files) {
          const document = JSON.parse(fs.readFileSync(file, "utf8"))
          const places: Array<(document: any) => any> = [(top) => top]
          for (const key of Object.keys(document)) {
            if (typeof document[key] === "object" && document[key] !== null) places.push((top) => top[key])
          }
          for (const place of places) {
            for (const key of Object.keys(place(document))) {
              for (const value of odd) {
                rewrite(file, (top) => {
                  place(top)[key] = value
                })
                tried++
                yield* store.list({ cwd: "/w" })
                yield* store.orphans
                yield* Effect.ignore(
                  Effect.gen(function* () {
                    const session = yield* store.openReader("one")
                    for (const { meta } of yield* session.subagents.list()) {
                      const { description, harness, model, cwd } = meta?.spec ?? {}
                      for (const text of [description, harness, model, cwd])
                        expect(["string", "undefined"]).toContain(typeof text)
                    }
                    yield* session.subagents.verify(id)
                    yield* session.subagents.load(id)
                  }),
                )
                if (tried % 8 !== 0) {
                  rewrite(file, (top) => {
                    place(top)[key] = place(document)[key]
                  })
                  continue
                }
                const written = Effect.flatMap(store.openWriter("one"), ({ subagents }) =>
                  Effect.andThen(subagents.load(id), subagents.append(id, { note: "more" }, "disk")),
                )
                yield* Effect.ignore(Effect.scoped(written))
                fs.rmSync(path.join(home, "sessions/one"), { recursive: true })
                fs.cpSync(path.join(home, "kept"), path.join(home, "sessions/one"), { recursive: true })
              }
            }
          }
        }
        console.log(`${tried} odd documents`)
        expect(tried).toBeGreaterThan(300)
      }),
    ),
  )

  it.live("in a line of a log with a right checksum is kept, and is no child, no item and no state", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const id = yield* made
        const store = yield* SessionStore.Service
        const append = (file: string, lines: ReadonlyArray<readonly [string, Json]>): void => {
          let seq = fs.readFileSync(file, "utf8").trimEnd().split("\n").length
          for (const [kind, body] of lines) fs.appendFileSync(file, encodeValue(++seq, 1e300, kind, 1, body))
        }
        const child = childOf(id)
        const strange = Object.keys(child).flatMap((key) =>
          odd.map((value) => ({ ...child, id: `${id.slice(0, -1)}f`, [key]: value })),
        )
        const children = strange.filter(
          (record) =>
            record.harness !== "\u001b[31m" &&
            record.name !== "\u001b[31m" &&
            record.acp_session_id !== "\u001b[31m" &&
            record.cwd === child.cwd &&
            record.depth === 1,
        )
        append(path.join(home, "sessions/one/transcript.jsonl"), [
          ...children.map((record) => ["child", record] as const),
          ...odd.map((body) => ["replacement", Array.isArray(body) ? 1 : body] as const),
        ])
        const changes = odd.flatMap(
          (value): ReadonlyArray<Json> => [
            ["set", value, 1],
            ["cut", ["messages"], value, value],
            ["cut", ["messages"], value, []],
            [value, ["messages"], 1],
            ["drop", value],
          ],
        )
        append(path.join(directoryOf(home, id), "wire.log"), [
          ...changes.map((change) => ["state", { changes: [change] }] as const),
          ...odd.map((body) => ["state", body] as const),
          ...odd.map((body) => ["event", body] as const),
        ])
        const session = yield* store.openWriter("one")
        expect((yield* session.children).map((record) => record.id)).toEqual([id])
        expect(yield* session.items).toEqual(["item"])
        expect((yield* session.subagents.load(id)).meta.status).toBe("idle")
        expect((yield* session.subagents.verify(id)).some(({ severity }) => severity === "error")).toBe(false)
        const records = yield* Stream.runCollect(session.subagents.replay(id))
        expect(records.length).toBeGreaterThan(70)
        for (const record of records) expect("gap" in record || new Date(record.time).toISOString()).toBeTruthy()
      }),
    ),
  )

  it.live("is no file at all: a directory in its place is damage, hides nothing, and can be deleted", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        yield* Effect.scoped(store.create({ id: "two", cwd: "/w" }))
        const id = yield* made
        const inSession = ["session.json", "transcript.jsonl"].map((file) => path.join(home, "sessions/one", file))
        const inAgent = ["meta.json", "prompt.txt", "wire.log", "context.json"].map((file) =>
          path.join(directoryOf(home, id), file),
        )
        for (const file of [...inSession, ...inAgent]) {
          fs.renameSync(file, `${home}/kept`)
          fs.mkdirSync(file)
          expect((yield* store.list({ cwd: "/w" })).map((row) => row.id).sort()).toEqual(["one", "two"])
          const session = yield* store.openReader("one")
          if (inAgent.includes(file)) {
            expect((yield* session.subagents.list()).map((row) => row.id)).toEqual([id])
            expect(yield* codeOf(session.subagents.load(id))).toBe("CORRUPT")
            const findings = yield* Effect.option(session.subagents.verify(id))
            expect([file, findings._tag]).toEqual([file, "Some"])
          } else expect(yield* codeOf(Effect.andThen(session.info, session.items))).toBe("CORRUPT")
          fs.rmdirSync(file)
          fs.renameSync(`${home}/kept`, file)
        }
        fs.rmSync(inSession[0] as string)
        fs.mkdirSync(inSession[0] as string)
        yield* store.delete("one")
        expect((yield* store.list()).map((row) => row.id)).toEqual(["two"])
      }),
    ),
  )
})
