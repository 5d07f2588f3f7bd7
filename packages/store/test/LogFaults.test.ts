import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { bodies, numbers, open, text, world } from "./LogWorld.ts"

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
