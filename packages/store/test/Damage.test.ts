import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { SessionStore } from "../src/SessionStore.ts"
import { onDisk, spec } from "./Backends.ts"
import { codeOf, directoryOf, made } from "./Made.ts"

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

  it.live("T5 of any one byte or cut of any file is noticed, typed, and leaves no wrong data behind", () =>
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

  it.live("of a wire log that is gone or empty under a state that stands later is an error", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const id = yield* made
        const store = yield* SessionStore.Service
        const { subagents } = yield* store.openReader("one")
        const log = path.join(directoryOf(home, id), "wire.log")
        const errors = Effect.map(subagents.verify(id), (findings) =>
          findings.flatMap(({ path: file, severity, message }) =>
            severity === "error" && file.endsWith("context.json") ? [message] : [],
          ),
        )
        const whole = fs.readFileSync(log)
        expect(yield* errors).toEqual([])
        fs.writeFileSync(log, "")
        expect(yield* errors).toEqual([
          expect.stringMatching(/^it stands at record \d+, the wire log ends at 0: records are lost$/),
        ])
        fs.rmSync(log)
        expect(yield* errors).toHaveLength(1)
        fs.writeFileSync(log, whole)
        expect(yield* errors).toEqual([])
      }),
    ),
  )

  it.live("of an agent whose directory is a link is listed, though what it leads to is whole", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const id = yield* made
        const store = yield* SessionStore.Service
        const outside = path.join(home, "moved")
        fs.renameSync(directoryOf(home, id), outside)
        fs.symlinkSync(outside, directoryOf(home, id))
        const { subagents } = yield* store.openReader("one")
        const rows = yield* subagents.list()
        expect(rows.map((row) => [row.id, row.meta, row.problem?.code])).toEqual([[id, undefined, "CORRUPT"]])
        expect(rows[0]?.problem?.message).toContain("a symlink stands where a directory belongs")
      }),
    ),
  )
})
