import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { Disk } from "../src/Disk.ts"
import { DiskFaulty } from "../src/DiskFaulty.ts"
import { DiskModel, layerOf } from "../src/DiskModel.ts"
import { Frame } from "../src/Frame.ts"
import type { JsonObject } from "../src/Json.ts"
import { Log } from "../src/Log.ts"
import { isGap } from "../src/LogDecoder.ts"
import * as LogReader from "../src/LogReader.ts"
import { defaults, type Limits, StoreLimits } from "../src/StoreLimits.ts"

const name = { directory: "/d", base: "wire", extension: ".log" }
const identity = { session_id: "one" }
const encoder = new TextEncoder()

interface World {
  readonly model: DiskModel
  /** What was asked of the disk, as `call name`. */
  readonly calls: Array<string>
  fault: (call: string, path: string) => DiskFaulty.Fault | undefined
}

/** A test over a disk in memory that can be made to fail. */
const world = <A, E>(
  test: (world: World) => Effect.Effect<A, E, Disk.Service | Scope.Scope>,
  limits: Partial<Limits> = {},
  model = new DiskModel({ tracking: true }),
): Effect.Effect<A, E> => {
  const state: World = { model, calls: [], fault: () => undefined }
  const layer = DiskFaulty.layerWith(({ call, path }) => {
    state.calls.push(`${call} ${path.slice(3)}`)
    return state.fault(call, path)
  }).pipe(Layer.provide(layerOf(model)))
  return Effect.gen(function* () {
    yield* Effect.ignore(Effect.andThen(model.calls.makeDirectory("/d"), model.calls.syncDirectory("/")))
    return yield* test(state)
  }).pipe(Effect.scoped, Effect.provide(layer), Effect.provideService(StoreLimits, { ...defaults, ...limits }))
}

const open = (change: Partial<Parameters<typeof Log.open>[0]> = {}) => Log.open({ name, identity, supported: 1, ...change })

const bodies = Effect.map(Stream.runCollect(LogReader.replay(name)), (all) =>
  all.map((element) => (isGap(element) ? "gap" : element.kind === "event" ? element.body : element.kind)),
)
const numbers = Effect.map(Stream.runCollect(LogReader.replay(name)), (all) =>
  all.map((element) => (isGap(element) ? -1 : element.seq)),
)

const text = (model: DiskModel, path = "/d/wire.log") => new TextDecoder().decode(model.contentOf(path))

/** A log of three events whose bytes a test can damage. */
const written = Effect.gen(function* () {
  const model = new DiskModel({ tracking: true })
  yield* world(
    () =>
      Effect.gen(function* () {
        const log = yield* open()
        for (const body of ['"a"', '"b"', '"c"']) yield* log.append("event", 1, body, "disk")
      }),
    {},
    model,
  )
  return model
})

const damaged = (change: (content: string) => string | Uint8Array) =>
  Effect.map(written, (model) => {
    const next = change(text(model))
    model.corrupt("/d/wire.log", typeof next === "string" ? encoder.encode(next) : next)
    return model
  })

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

describe("a disk that fails", () => {
  it.effect("full: what needs the disk fails, the rest waits in memory, all of it is there when space returns", () =>
    world((state) =>
      Effect.gen(function* () {
        const healths: Array<string> = []
        const log = yield* open({ onHealth: (health) => healths.push(health.state) })
        yield* log.append("event", 1, '"a"', "disk")
        state.fault = (call) => (call === "write" ? { code: "ENOSPC", short: 7 } : undefined)
        expect(yield* log.append("event", 1, '"held 1"', "kernel")).toEqual({ seq: 3, where: "held" })
        expect((yield* Effect.flip(log.append("event", 1, '"refused"', "disk"))).code).toBe("NO_SPACE")
        expect(yield* log.append("event", 1, '"held 2"', "soon")).toEqual({ seq: 4, where: "held" })
        expect((yield* Effect.flip(log.flush)).code).toBe("NO_SPACE")
        expect((yield* log.health).state).toBe("no_space")
        expect(yield* bodies).toEqual(["head", "a"])
        yield* TestClock.adjust(5000)
        expect((yield* log.health).state).toBe("no_space")
        state.fault = () => undefined
        yield* TestClock.adjust(1000)
        expect(yield* bodies).toEqual(["head", "a", "held 1", "held 2"])
        expect((yield* log.health).state).toBe("ok")
        expect((yield* log.append("event", 1, '"after"', "disk")).seq).toBe(5)
        expect(healths).toEqual(["ok", "no_space", "ok"])
      }),
    ),
  )

  it.effect("full: memory is bounded", () =>
    world(
      (state) =>
        Effect.gen(function* () {
          const log = yield* open()
          state.fault = (call) => (call === "write" ? { code: "EDQUOT" } : undefined)
          yield* log.append("event", 1, `"${"x".repeat(300)}"`, "kernel")
          expect((yield* Effect.flip(log.append("event", 1, `"${"x".repeat(300)}"`, "kernel"))).code).toBe("NO_SPACE")
        }),
      { heldBytes: 500 },
    ),
  )

  it.effect("sync fails once: written again through a new descriptor, and nobody was told a lie", () =>
    world((state) =>
      Effect.gen(function* () {
        const log = yield* open()
        yield* log.append("event", 1, '"a"', "kernel")
        let failures = 1
        state.fault = (call) => (call === "sync" && failures-- > 0 ? { code: "EIO" } : undefined)
        state.calls.length = 0
        yield* log.append("event", 1, '"b"', "disk")
        expect(state.calls.filter((call) => /^(sync|openAppend|truncate)/.test(call))).toEqual([
          "sync wire.log",
          "openAppend wire.log",
          "truncate wire.log",
          "sync wire.log",
        ])
        expect(yield* bodies).toEqual(["head", "a", "b"])
        const survivor = state.model.afterPowerLoss(() => 0)
        expect(text(survivor)).toBe(text(state.model))
      }),
    ),
  )

  it.effect("sync fails for good: the waiters are told, and the records follow once the disk takes them", () =>
    world((state) =>
      Effect.gen(function* () {
        const log = yield* open()
        state.fault = (call) => (call === "sync" ? { code: "EIO" } : undefined)
        expect((yield* Effect.flip(log.append("event", 1, '"a"', "disk"))).code).toBe("IO")
        expect((yield* log.health).state).toBe("failed")
        state.fault = () => undefined
        yield* log.append("event", 1, '"b"', "disk")
        expect(yield* bodies).toEqual(["head", "a", "b"])
        expect(yield* numbers).toEqual([1, 2, 3])
      }),
    ),
  )

  it.effect("a short write that cannot be undone at once leaves nothing of itself", () =>
    world((state) =>
      Effect.gen(function* () {
        const log = yield* open()
        yield* log.append("event", 1, '"a"', "disk")
        state.fault = (call) =>
          call === "write" ? { code: "EIO", short: 20 } : call === "truncate" ? { code: "EIO" } : undefined
        expect((yield* Effect.flip(log.append("event", 1, '"refused"', "kernel"))).code).toBe("IO")
        expect((yield* Effect.flip(log.append("event", 1, '"refused"', "kernel"))).code).toBe("IO")
        state.fault = () => undefined
        yield* log.append("event", 1, '"b"', "disk")
        expect(yield* bodies).toEqual(["head", "a", "b"])
      }),
    ),
  )

  it.effect("a rotation that fails is tried again and loses nothing", () =>
    world(
      (state) =>
        Effect.gen(function* () {
          const log = yield* open()
          let failing = 0
          state.fault = (call, path) => {
            const hit = path.includes(".next") && (call === "openExclusive" || call === "rename")
            return hit && failing++ < 3 ? { code: "ENOSPC" } : undefined
          }
          for (let i = 0; i < 20; i++) yield* log.append("event", 1, `${i}`, "disk")
          expect((yield* bodies).filter((body) => typeof body === "number")).toEqual(Array.from({ length: 20 }, (_, i) => i))
          const seen = yield* numbers
          expect(seen).toEqual(Array.from({ length: seen.length }, (_, index) => index + 1))
        }),
      { rotateBytes: 400 },
    ),
  )

  it.effect("an interrupted wait for the disk leaves the record written", () =>
    world(() =>
      Effect.gen(function* () {
        const log = yield* open()
        const fiber = yield* Effect.forkChild(log.append("event", 1, '"a"', "disk"))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
        yield* log.append("event", 1, '"b"', "disk")
        expect(yield* bodies).toEqual(["head", "a", "b"])
      }),
    ),
  )
})
