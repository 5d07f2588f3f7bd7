import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Disk } from "../src/Disk.ts"
import { DiskFaulty } from "../src/DiskFaulty.ts"
import { DiskModel, layerOf } from "../src/DiskModel.ts"
import { Log } from "../src/Log.ts"
import { isGap } from "../src/LogDecoder.ts"
import * as LogReader from "../src/LogReader.ts"
import { defaults, type Limits, StoreLimits } from "../src/StoreLimits.ts"

export const name = { directory: "/d", base: "wire", extension: ".log" }
export const identity = { session_id: "one" }
export const encoder = new TextEncoder()

interface World {
  readonly model: DiskModel
  /** What was asked of the disk, as `call name`. */
  readonly calls: Array<string>
  fault: (call: string, path: string) => DiskFaulty.Fault | undefined
}

/** A test over a disk in memory that can be made to fail. */
export const world = <A, E>(
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

export const open = (change: Partial<Parameters<typeof Log.open>[0]> = {}) =>
  Log.open({ name, identity, supported: 1, ...change })

export const bodies = Effect.map(Stream.runCollect(LogReader.replay(name)), (all) =>
  all.map((element) => (isGap(element) ? "gap" : element.kind === "event" ? element.body : element.kind)),
)
export const numbers = Effect.map(Stream.runCollect(LogReader.replay(name)), (all) =>
  all.map((element) => (isGap(element) ? -1 : element.seq)),
)

export const text = (model: DiskModel, path = "/d/wire.log") => new TextDecoder().decode(model.contentOf(path))

/** A log of three events whose bytes a test can damage. */
export const written = Effect.gen(function* () {
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

export const damaged = (change: (content: string) => string | Uint8Array) =>
  Effect.map(written, (model) => {
    const next = change(text(model))
    model.corrupt("/d/wire.log", typeof next === "string" ? encoder.encode(next) : next)
    return model
  })
