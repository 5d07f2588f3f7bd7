import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { DiskFaulty } from "../src/DiskFaulty.ts"
import { type Choose, DiskModel, layerOf } from "../src/DiskModel.ts"
import { Lock } from "../src/Lock.ts"
import { SessionStore } from "../src/SessionStore.ts"
import { defaults, StoreLimits } from "../src/StoreLimits.ts"
import { check, type Fact, work } from "./Workload.ts"

const long = process.env.KIT_TEST_LONG === "1"

/** The same choices for the same seed, on every machine. */
const chooser = (seed: number): Choose => {
  let state = seed * 2654435761 + 1
  return (count) => {
    state = Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9
    state ^= state >>> 13
    return ((state >>> 0) % 1_000_003) % count
  }
}

const limits = { ...defaults, rotateBytes: 900, retryMillis: 1_000_000 }

const storeOver = (model: DiskModel, plan: Parameters<typeof DiskFaulty.layerWith>[0] = () => undefined) =>
  SessionStore.layerDisk({ home: "/home/kit" }).pipe(
    Layer.provide(Layer.provideMerge(Lock.layerMemory, DiskFaulty.layerWith(plan))),
    Layer.provide(layerOf(model)),
    Layer.provide(Layer.succeed(StoreLimits, limits)),
  )

interface State {
  readonly disk: DiskModel
  readonly facts: ReadonlyArray<Fact>
  readonly power: boolean
  readonly at: string
}

/** States that a crash may leave before each call that the work makes of the disk: the kill, and `samples` power losses. */
const crashStates = (seed: number, samples: number, model = new DiskModel({ tracking: true })) =>
  Effect.gen(function* () {
    const states: Array<State> = []
    const facts: Array<Fact> = []
    const choose = chooser(seed)
    const store = storeOver(model, ({ index, call, path }) => {
      const at = `call ${index}, ${call} ${path}`
      states.push({ disk: model.afterKill(), facts: facts.slice(), power: false, at })
      for (let i = 0; i < samples; i++) states.push({ disk: model.afterPowerLoss(choose), facts: facts.slice(), power: true, at })
      return undefined
    })
    yield* Effect.scoped(work((fact) => facts.push(fact))).pipe(Effect.provide(store))
    return states
  })

const violations = (states: ReadonlyArray<State>) =>
  Effect.gen(function* () {
    const found: Array<string> = []
    for (const { disk, facts, power, at } of states) {
      const broken = yield* check(facts, power).pipe(Effect.provide(storeOver(disk)))
      if (found.length > 20) return found
      for (const one of broken) found.push(`${power ? "power loss" : "kill"} at ${at}: ${one}`)
    }
    return found
  })

/** Codes that a disk answers with; the second write of each is short. */
const faults: ReadonlyArray<DiskFaulty.Fault> = [
  { code: "EIO" },
  { code: "ENOSPC", short: 5 },
  { code: "EACCES" },
  { code: "EDQUOT" },
  { die: true },
]

/** The work with one fault at one call, and what is broken after it. `calls` is how many calls were made. */
const faulted = (at: number, fault: DiskFaulty.Fault) =>
  Effect.gen(function* () {
    const model = new DiskModel({ tracking: true })
    const facts: Array<Fact> = []
    let calls = 0
    let place = ""
    const store = storeOver(model, ({ index, call, path }) => {
      calls++
      if (index !== at) return undefined
      place = `${call} ${path}`
      return fault
    })
    const exit = yield* Effect.exit(Effect.scoped(work((fact) => facts.push(fact))).pipe(Effect.provide(store)))
    const untyped =
      Exit.isFailure(exit) && !("die" in fault) && Cause.hasDies(exit.cause) ? [`a defect: ${Cause.pretty(exit.cause)}`] : []
    const after = model.afterKill()
    const broken = [...untyped, ...(yield* check(facts, false).pipe(Effect.provide(storeOver(after))))]
    return { calls, broken: broken.map((one) => `${JSON.stringify(fault)} at call ${at}, ${place}: ${one}`) }
  })

describe("crashes", () => {
  it.live(
    "T1 at any call, a failure of the disk is typed, leaves nothing half-made, and loses nothing acknowledged",
    () =>
      Effect.gen(function* () {
        let tried = 0
        for (const fault of faults) {
          const { calls } = yield* faulted(Number.POSITIVE_INFINITY, fault)
          for (let at = 0; at < calls; at += long ? 1 : 4) {
            tried++
            expect((yield* faulted(at, fault)).broken).toEqual([])
          }
        }
        console.log(`${tried} faults, 0 violations`)
      }),
    600_000,
  )

  it.live(
    "T4 during recovery leave what the next recovery mends",
    () =>
      Effect.gen(function* () {
        const states = (yield* crashStates(7, 1)).filter((_, index) => index % (long ? 3 : 40) === 0)
        let tried = 0
        for (const { disk, facts, power, at } of states) {
          for (let call = 0; ; call += long ? 1 : 4) {
            const again = disk.afterKill()
            let reached = false
            const dying = storeOver(again, ({ index }) => {
              reached ||= index === call
              return index === call ? { die: true } : undefined
            })
            yield* Effect.exit(check(facts, power).pipe(Effect.provide(dying)))
            if (!reached) break
            tried++
            const survivor = again.afterPowerLoss(chooser(tried))
            const broken = yield* check(facts, true).pipe(Effect.provide(storeOver(survivor)))
            expect(broken.map((one) => `${at}, then at call ${call} of recovery: ${one}`)).toEqual([])
          }
        }
        console.log(`${tried} deaths during recovery, 0 violations`)
      }),
    600_000,
  )

  it.live(
    `T3 leave no state in which something acknowledged is lost${long ? ", in 100,000 modelled states" : ""}`,
    () =>
      Effect.gen(function* () {
        const wanted = long ? 100_000 : 600
        let seen = 0
        for (let seed = 1; seen < wanted; seed++) {
          const states = yield* crashStates(seed, long ? 20 : 2)
          seen += states.length
          expect(yield* violations(states)).toEqual([])
        }
        console.log(`${seen} crash states, 0 violations`)
      }),
    1_800_000,
  )
})
