import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Disk } from "../src/Disk.ts"
import * as DiskModel from "../src/DiskModel.ts"
import type { Health } from "../src/Health.ts"
import { Lock } from "../src/Lock.ts"
import { SessionStore } from "../src/SessionStore.ts"
import { defaults, StoreLimits } from "../src/StoreLimits.ts"
import { spec } from "./Backends.ts"

interface Room {
  /** Writes of more bytes are refused. */
  bytes: number
  /** Every refusal, by the file that was to be written. */
  readonly refused: Queue.Queue<string>
}

/** A store whose disk has only so much room. */
const withRoom = Effect.fnUntraced(function* <A, E>(
  test: (room: Room) => Effect.Effect<A, E, SessionStore.Service | Scope.Scope>,
) {
  const room: Room = { bytes: Number.POSITIVE_INFINITY, refused: yield* Queue.unbounded<string>() }
  const disk = Layer.effect(
    Disk.Service,
    Effect.map(Disk.Service, (inner) => ({
      ...inner,
      write: (file: Disk.File, bytes: Uint8Array) =>
        bytes.length > room.bytes
          ? Effect.andThen(
              Queue.offer(room.refused, file.path),
              Effect.fail(new Disk.DiskError({ call: "write", path: file.path, code: "ENOSPC" })),
            )
          : inner.write(file, bytes),
    })),
  ).pipe(Layer.provide(DiskModel.layer))
  const store = SessionStore.layerDisk({ home: "/kit" }).pipe(
    Layer.provide(Layer.provideMerge(Lock.layerMemory, disk)),
    Layer.provide(Layer.succeed(StoreLimits, { ...defaults, retryMillis: 5 })),
  )
  return yield* Effect.scoped(test(room)).pipe(Effect.provide(store))
})

/** The states that are shown from now on, as many as asked for. */
const states = (count: number) =>
  Effect.gen(function* () {
    const store = yield* SessionStore.Service
    const seen: Array<Health.State["state"]> = []
    const fiber = yield* store.health.pipe(
      Stream.take(count),
      Stream.runForEach(({ state }) => Effect.sync(() => void seen.push(state))),
      Effect.forkChild({ startImmediately: true }),
    )
    return { seen, over: Effect.as(Fiber.join(fiber), seen) }
  })

describe("the health of a store", () => {
  it.live("tells a full disk that only a document met, once, and its end without anybody's trying again", () =>
    withRoom((room) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const session = yield* store.create({ cwd: "/w" })
        const watched = yield* states(3)
        room.bytes = 10
        for (const _ of [1, 2, 3]) {
          expect((yield* Effect.flip(session.subagents.create(spec, "a prompt"))).code).toBe("NO_SPACE")
        }
        expect((yield* Effect.flip(session.rename("a title"))).code).toBe("NO_SPACE")
        expect(watched.seen).toEqual(["ok", "no_space"])
        room.bytes = 100
        yield* Queue.takeAll(room.refused)
        yield* Queue.take(room.refused)
        yield* Queue.take(room.refused)
        expect(watched.seen).toEqual(["ok", "no_space"])
        room.bytes = Number.POSITIVE_INFINITY
        expect(yield* watched.over).toEqual(["ok", "no_space", "ok"])
      }),
    ),
  )

  it.live("is that of the log that is worst off, whichever session it belongs to", () =>
    withRoom((room) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const [one, two] = [yield* store.create({ cwd: "/w" }), yield* store.create({ cwd: "/w" })]
        const watched = yield* states(3)
        room.bytes = 10
        expect((yield* one.appendItem("item")).where).toBe("held")
        expect((yield* two.appendItem("item")).where).toBe("held")
        room.bytes = Number.POSITIVE_INFINITY
        expect(yield* watched.over).toEqual(["ok", "no_space", "ok"])
        expect([yield* one.items, yield* two.items]).toEqual([["item"], ["item"]])
      }),
    ),
  )
})
