import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Frame } from "../src/Frame.ts"
import type { JsonObject } from "../src/Json.ts"
import { bodies, damaged, encoder, identity, numbers, open, text, world, written } from "./LogWorld.ts"

describe("opening", () => {
  it.effect("cuts a torn tail before the first append, so that the next record is not glued to it", () =>
    Effect.gen(function* () {
      const model = yield* damaged((content) => content.slice(0, -9))
      yield* world(
        () =>
          Effect.gen(function* () {
            const log = yield* open()
            expect(log.warnings.map((warning) => warning.kind)).toEqual(["torn_tail_cut"])
            yield* log.append("event", 1, '"d"', "disk")
            expect(yield* bodies).toEqual(["head", "a", "b", "note", "d"])
            expect(yield* numbers).toEqual([1, 2, 3, 4, 5])
          }),
        {},
        model,
      )
      expect(text(model).endsWith("\n")).toBe(true)
    }),
  )

  it.effect("cuts a tail that a power loss left zero, and one torn inside a character", () =>
    Effect.gen(function* () {
      const model = yield* written
      for (const tail of [new Uint8Array(1206), encoder.encode('{"q":5,"t":0,"k":"event","v":1,"e":"ü').slice(0, -1)]) {
        const content = model.contentOf("/d/wire.log") as Uint8Array
        const joined = new Uint8Array(content.length + tail.length)
        joined.set(content)
        joined.set(tail, content.length)
        model.corrupt("/d/wire.log", joined)
        yield* world(
          () =>
            Effect.gen(function* () {
              const before = yield* bodies
              const log = yield* open()
              expect(log.warnings.map((warning) => warning.kind)).toEqual(["torn_tail_cut"])
              expect((yield* bodies).slice(0, before.length)).toEqual(before)
            }),
          {},
          model,
        )
      }
    }),
  )

  it.effect("keeps a last line that only lacks its line feed, also where zeros stand in its place", () =>
    Effect.gen(function* () {
      for (const zeros of [0, 1, 5000]) {
        const model = yield* damaged((content) => content.slice(0, -1) + "\u0000".repeat(zeros))
        yield* world(
          () =>
            Effect.gen(function* () {
              expect(yield* bodies).toEqual(["head", "a", "b", "c"])
              const log = yield* open()
              expect(log.warnings).toEqual([])
              yield* log.append("event", 1, '"d"', "disk")
              expect(yield* bodies).toEqual(["head", "a", "b", "c", "d"])
              expect(text(model)).not.toContain("\u0000")
            }),
          {},
          model,
        )
      }
    }),
  )

  it.effect("skips damage in the middle, keeps a copy, and hides nothing else", () =>
    Effect.gen(function* () {
      const model = yield* damaged((content) => content.replace('"e":"b"', '"e":"B"'))
      yield* world(
        () =>
          Effect.gen(function* () {
            expect(yield* bodies).toEqual(["head", "a", "gap", "c"])
            const log = yield* open()
            expect(log.warnings.map((warning) => warning.kind)).toEqual(["damage_skipped"])
            expect(log.warnings[0]?.message).toContain("(records 3 to 3)")
            yield* log.append("event", 1, '"d"', "disk")
            expect(yield* bodies).toEqual(["head", "a", "gap", "c", "seal", "head", "d"])
            const kept = yield* model.calls.list("/d/.quarantine")
            expect(kept?.length).toBe(1)
            expect(text(model, `/d/.quarantine/${kept?.[0]}`)).toContain('"e":"B"')
            expect(text(model, "/d/wire.000001.log")).toContain('"e":"B"')
          }),
        {},
        model,
      )
      yield* world(() => Effect.map(open(), (log) => expect(log.warnings).toEqual([])), {}, model)
    }),
  )

  it.effect("goes on where every line was lost, and where the file was", () =>
    Effect.gen(function* () {
      for (const content of ["", "garbage\nmore\n", "\u0000".repeat(500)]) {
        const model = yield* damaged(() => content)
        yield* world(
          () =>
            Effect.gen(function* () {
              const log = yield* open({ from: { segment: 1, offset: 999, seq: 4 } })
              yield* log.append("event", 1, '"d"', "disk")
              expect((yield* numbers).at(-1)).toBeGreaterThan(4)
              expect((yield* bodies).at(-1)).toBe("d")
            }),
          {},
          model,
        )
      }
      const model = yield* written
      yield* model.calls.unlink("/d/wire.log")
      yield* world(
        () =>
          Effect.gen(function* () {
            const log = yield* open({ from: { segment: 1, offset: 999, seq: 4 } })
            expect(log.warnings.map((warning) => warning.kind)).toEqual(["missing_file", "damage_skipped"])
            expect(log.warnings[1]?.message).toBe("records 1 to 4 are missing")
            expect((yield* log.append("event", 1, '"d"', "disk")).seq).toBeGreaterThan(5)
          }),
        {},
        model,
      )
    }),
  )

  it.effect("reads lines that an editor saved with a byte order mark and carriage returns", () =>
    Effect.gen(function* () {
      const model = yield* damaged((content) => `\ufeff${content.replaceAll("\n", "\r\n")}`)
      yield* world(() => Effect.map(bodies, (seen) => expect(seen).toEqual(["head", "a", "b", "c"])), {}, model)
    }),
  )

  it.effect("takes no line twice", () =>
    Effect.gen(function* () {
      const model = yield* damaged((content) => {
        const lines = content.split("\n")
        return [...lines.slice(0, 3), lines[1], ...lines.slice(3)].join("\n")
      })
      yield* world(() => Effect.map(bodies, (seen) => expect(seen).toEqual(["head", "a", "b", "gap", "c"])), {}, model)
    }),
  )

  it.effect("refuses a newer record or format and changes no byte", () =>
    Effect.gen(function* () {
      const line = (q: number, kind: string, version: number, body: JsonObject) => Frame.encodeValue(q, 0, kind, version, body)
      const head = { format: 1, min_reader: 1, segment: 1, ...identity, prev: null }
      const newer = [
        [line(1, "head", 1, head), line(2, "event", 2, {}), encoder.encode("torn")],
        [line(1, "head", 1, { ...head, format: 2, min_reader: 2 }), encoder.encode("torn")],
      ]
      for (const parts of newer) {
        const model = yield* written
        const content = new Uint8Array(parts.flatMap((part) => [...part]))
        model.corrupt("/d/wire.log", content)
        yield* world(() => Effect.map(Effect.flip(open()), (error) => expect(error.code).toBe("NEWER_VERSION")), {}, model)
        expect(model.contentOf("/d/wire.log")).toEqual(content)
      }
    }),
  )

  it.effect("refuses a log whose first line names another owner", () =>
    Effect.gen(function* () {
      const model = yield* written
      yield* world(
        () => Effect.map(Effect.flip(open({ identity: { session_id: "two" } })), (error) => expect(error.code).toBe("CORRUPT")),
        {},
        model,
      )
    }),
  )

  it.effect("begins at a snapshot's place and falls back to the beginning where that is not true", () =>
    Effect.gen(function* () {
      const model = yield* written
      const position = yield* world(() => Effect.flatMap(open(), (log) => log.position), {}, model)
      yield* world(() => Effect.flatMap(open(), (log) => Effect.asVoid(log.append("event", 1, '"d"', "disk"))), {}, model)
      for (const [from, expected] of [
        [position, ["d"]],
        [{ ...position, offset: position.offset - 1 }, ["a", "b", "c", "d"]],
        [{ ...position, seq: 2 }, ["a", "b", "c", "d"]],
        [{ ...position, segment: 2 }, ["a", "b", "c", "d"]],
      ] as const) {
        const seen: Array<unknown> = []
        yield* world(() => open({ from, visit: (record) => void (record.kind === "event" && seen.push(record.body)) }), {}, model)
        expect(seen).toEqual(expected)
      }
    }),
  )
})
