import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { appears, failure, script, World } from "./support/World.ts"

const long = process.env.KIT_TEST_LONG === "1"

/** How long an effect takes, in seconds. */
const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const before = yield* Clock.currentTimeMillis
    const value = yield* effect
    return [value, ((yield* Clock.currentTimeMillis) - before) / 1000] as const
  })

describe.runIf(long)("the deadlines as they are", () => {
  it.live(
    "S162 S163 gives a start thirty seconds, and a fork",
    () =>
      Effect.gen(function* () {
        const world = yield* World.make()
        const parent = yield* world.open({
          harnesses: {
            mute: { mood: { on: { initialize: { silent: true } } } },
            forkless: { mood: { on: { "session/fork": { silent: true } } } },
          },
        })
        const source = yield* parent.subagent({ harness: "acp.forkless", prompt: "x" })
        const [[start, started], [fork, forked]] = yield* Effect.all(
          [
            timed(failure(parent.subagent({ harness: "acp.mute", prompt: "x" }))),
            timed(failure(parent.fork({ subagent: source, prompt: "x" }))),
          ],
          { concurrency: 2 },
        )
        expect(start.message).toMatch(/^ACP harness handshake timeout: no response within 30 seconds/)
        expect(fork.message).toBe("ACP harness did not answer session/fork within 30 seconds")
        for (const seconds of [started, forked]) expect(Math.abs(seconds - 30)).toBeLessThan(2)
        expect(world.alive("mute")).toEqual([])
      }),
    60_000,
  )

  it.live(
    "S33 S150 S152 gives a cancel, a steer, a close and a delete five seconds each",
    () =>
      Effect.gen(function* () {
        const world = yield* World.make()
        const silent = (...methods: ReadonlyArray<string>) => ({
          on: Object.fromEntries(methods.map((method) => [method, { silent: true }])),
        })
        const parent = yield* world.open({
          harnesses: {
            deaf: { mood: { deaf: ["cancel", "eof", "SIGTERM"] } },
            mute: { mood: silent("session/inject") },
            open: { mood: silent("session/close") },
            kept: { mood: silent("session/delete") },
          },
        })
        const start = (name: string, prompt: string) => parent.subagent({ harness: `acp.${name}`, prompt })
        const cancelled = yield* Effect.forkChild(start("deaf", script({ touch: world.file("deaf") }, { mute: true })))
        yield* appears(world.file("deaf"))
        const [, settled] = yield* timed(Fiber.interrupt(cancelled))
        expect(settled).toBeGreaterThan(4.9)
        expect(settled).toBeLessThan(7)
        const steered = yield* Effect.forkChild(
          start("mute", script({ touch: world.file("mute") }, { gate: world.file("gate") })),
        )
        yield* appears(world.file("mute"))
        const row = (yield* parent.roster).find((child) => child.harness === "acp.mute")
        const [steer, waited] = yield* timed(failure(parent.steer({ id: row!.id, prompt: "x" })))
        expect(steer.code).toBe("STEER_UNKNOWN")
        yield* Effect.promise(() => Bun.write(world.file("gate"), ""))
        yield* Fiber.join(steered)
        const [close, closed] = yield* timed(failure(Effect.flatMap(start("open", "x"), parent.close)))
        expect(close.message).toMatch(/^ACP harness did not answer session\/close within 5 seconds/)
        const [remove, removed] = yield* timed(failure(Effect.flatMap(start("kept", "x"), parent.close)))
        expect(remove.message).toMatch(/^ACP harness did not answer session\/delete within 5 seconds/)
        for (const seconds of [waited, closed, removed]) {
          expect(seconds).toBeGreaterThan(4.9)
          expect(seconds).toBeLessThan(8)
        }
      }),
    60_000,
  )
})
