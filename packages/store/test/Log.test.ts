import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { isGap } from "../src/LogDecoder.ts"
import * as LogReader from "../src/LogReader.ts"
import { bodies, encoder, name, numbers, open, text, world } from "./LogWorld.ts"

describe("appending", () => {
  it.effect("numbers records from 1 without gaps over reopenings and rotations", () =>
    world(
      () =>
        Effect.gen(function* () {
          for (let round = 0; round < 3; round++) {
            yield* Effect.scoped(
              Effect.gen(function* () {
                const log = yield* open()
                for (let i = 0; i < 10; i++) yield* log.append("event", 1, `${round * 10 + i}`, "disk")
              }),
            )
          }
          const seen = yield* numbers
          expect(seen).toEqual(Array.from({ length: seen.length }, (_, index) => index + 1))
          expect((yield* bodies).filter((body) => typeof body === "number")).toEqual(
            Array.from({ length: 30 }, (_, index) => index),
          )
          expect((yield* bodies).filter((body) => body === "seal").length).toBeGreaterThan(2)
          expect((yield* LogReader.tail(name, 5)).at(-1)?.body).toBe(29)
          for (const from of [1, 7, 20, seen.length]) {
            const late = yield* Stream.runCollect(LogReader.replay(name, from))
            expect(late.map((element) => (isGap(element) ? -1 : element.seq))).toEqual(seen.slice(from - 1))
          }
        }),
      { rotateBytes: 600 },
    ),
  )

  it.effect("shares one sync among those who wait for the disk at once", () =>
    world(({ calls }) =>
      Effect.gen(function* () {
        const log = yield* open()
        calls.length = 0
        yield* Effect.forEach(
          Array.from({ length: 32 }, (_, index) => index),
          (index) => log.append("event", 1, `${index}`, "disk"),
          { concurrency: "unbounded" },
        )
        expect(calls.filter((call) => call.startsWith("sync ")).length).toBeLessThanOrEqual(2)
        expect(calls.filter((call) => call.startsWith("write ")).length).toBe(32)
      }),
    ),
  )

  it.effect("has a record of level soon on disk after 100 ms, and one of level kernel in the file at once", () =>
    world(({ calls, model }) =>
      Effect.gen(function* () {
        const log = yield* open()
        yield* log.flush
        calls.length = 0
        yield* log.append("event", 1, '"k"', "kernel")
        expect(text(model)).toContain('"k"')
        yield* TestClock.adjust(1000)
        expect(calls).not.toContain("sync wire.log")
        yield* log.append("event", 1, '"s"', "soon")
        yield* TestClock.adjust(99)
        expect(calls).not.toContain("sync wire.log")
        yield* TestClock.adjust(1)
        yield* log.flush
        expect(calls.filter((call) => call === "sync wire.log").length).toBe(1)
      }),
    ),
  )

  it.effect("makes writers wait while too much is not on disk yet", () =>
    world(
      ({ calls }) =>
        Effect.gen(function* () {
          const log = yield* open()
          yield* log.flush
          calls.length = 0
          for (let i = 0; i < 40; i++) yield* log.append("event", 1, `"${"x".repeat(100)}"`, "kernel")
          expect(calls.filter((call) => call === "sync wire.log").length).toBeGreaterThan(3)
        }),
      { unsyncedBytes: 1000 },
    ),
  )

  it.effect("refuses a record above the limit and says that it is too long, not damaged", () =>
    world(
      () =>
        Effect.gen(function* () {
          const log = yield* open()
          const error = yield* Effect.flip(log.append("event", 1, `"${"x".repeat(200)}"`, "disk"))
          expect([error.code, error.message]).toEqual(["INVALID", "invalid record: 202 bytes are more than the limit of 100"])
          expect((yield* log.append("event", 1, "1", "disk")).seq).toBe(2)
        }),
      { recordBytes: 100 },
    ),
  )

  it.effect("stops when somebody else wrote to the file", () =>
    world(({ model }) =>
      Effect.gen(function* () {
        const log = yield* open()
        yield* log.append("event", 1, "1", "disk")
        const stranger = yield* model.calls.openAppend("/d/wire.log")
        yield* model.calls.write(stranger, encoder.encode("x"))
        for (let i = 0; i < 2; i++) expect((yield* Effect.flip(log.append("event", 1, "2", "disk"))).code).toBe("LOST_OWNERSHIP")
        expect(yield* bodies).toEqual(["head", 1])
      }),
    ),
  )
})

describe("reading", () => {
  it.effect("beside a writer that rotates sees every record once", () =>
    world(
      () =>
        Effect.gen(function* () {
          const log = yield* open()
          let done = false
          const writer = Effect.gen(function* () {
            for (let i = 0; i < 300; i++) {
              yield* log.append("event", 1, `${i}`, "disk")
              yield* Effect.yieldNow
            }
            done = true
          })
          let reads = 0
          const reader = Effect.gen(function* () {
            while (!done) {
              const seen = yield* numbers
              expect(seen).toEqual(Array.from({ length: seen.length }, (_, index) => index + 1))
              const last = yield* LogReader.tail(name, 7)
              const end = last.at(-1)?.seq ?? 0
              expect(last.map((record) => record.seq)).toEqual(
                Array.from({ length: last.length }, (_, i) => end - last.length + 1 + i),
              )
              reads++
              yield* Effect.yieldNow
            }
          })
          yield* Effect.all([writer, reader, reader], { concurrency: "unbounded" })
          expect(reads).toBeGreaterThan(10)
        }),
      { rotateBytes: 300 },
    ),
  )
})
