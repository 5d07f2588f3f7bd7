import { existsSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Processes } from "../src/Processes.ts"
import { drain, firstText, script } from "./Fixture.ts"

const start = (mode: string) => Effect.flatMap(Processes.Service, (processes) => processes.spawn(script("main.ts", mode)))

const live = <E>(name: string, effect: () => Effect.Effect<unknown, E, Processes.Service | Scope.Scope>) =>
  it.live(name, () => Effect.scoped(effect()).pipe(Effect.provide(Processes.layer)))

/** Runs a mode to its end. */
const outcome = Effect.fnUntraced(function* (mode: string) {
  const main = yield* start(mode)
  const [out, err] = yield* Effect.all([drain(main.read), drain(main.readError)], { concurrency: 2 })
  return { ...(yield* main.exit), out: String(out), err: String(err) }
})

/** Waits for the first line, then sends signals, one as soon as the text of the last was seen. */
const signalled = Effect.fnUntraced(function* (mode: string, ...steps: ReadonlyArray<readonly [string, NodeJS.Signals]>) {
  const main = yield* start(mode)
  for (const [text, signal] of steps) {
    expect(yield* firstText(main.read, text.length)).toBe(text)
    process.kill(main.pid, signal)
  }
  const rest = String(yield* drain(main.read))
  return { ...(yield* main.exit), rest }
})

describe("run", () => {
  live("exits with the code the program succeeds with", () =>
    Effect.gen(function* () {
      expect((yield* outcome("zero")).code).toBe(0)
      expect((yield* outcome("three")).code).toBe(3)
    }),
  )

  live("prints a defect, exits 70, after the finalizers", () =>
    Effect.gen(function* () {
      const { code, out, err } = yield* outcome("defect")
      expect([code, out]).toEqual([70, "finalized\n"])
      expect(err).toContain("broken on purpose")
    }),
  )

  for (const [mode, text] of [
    ["throw", "stray throw"],
    ["reject", "stray rejection"],
  ] as const) {
    live(`prints a ${text}, exits 70, after the finalizers`, () =>
      Effect.gen(function* () {
        const { code, out, err } = yield* outcome(mode)
        expect([code, out]).toEqual([70, "finalized\n"])
        expect(err).toContain(text)
      }),
    )
  }

  live("goes on with its finalizers when more goes astray meanwhile", () =>
    Effect.gen(function* () {
      const { code, out, err } = yield* outcome("twice")
      expect([code, out]).toEqual([70, "finalized\n"])
      expect(err).toMatch(/first.*second/s)
    }),
  )

  live("logs on stderr", () =>
    Effect.gen(function* () {
      const { out, err } = yield* outcome("log")
      expect([out, err.includes("logged")]).toEqual(["", true])
    }),
  )

  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    live(`C05 interrupts the program at ${signal} and exits ${code} after the finalizers`, () =>
      Effect.gen(function* () {
        expect(yield* signalled("wait", ["ready\n", signal])).toEqual({ code, signal: undefined, rest: "finalized\n" })
      }),
    )
  }

  live("leaves at once at a second signal, though a finalizer hangs", () =>
    Effect.gen(function* () {
      const ended = yield* signalled("stuck", ["ready\n", "SIGTERM"], ["finalizing\n", "SIGINT"])
      expect(ended).toEqual({ code: 143, signal: undefined, rest: "" })
    }),
  )

  live("leaves with 131 at QUIT, the first signal or a later one, though a finalizer hangs", () =>
    Effect.gen(function* () {
      const ended = { code: 131, signal: undefined, rest: "" }
      expect(yield* signalled("wait", ["ready\n", "SIGQUIT"])).toEqual(ended)
      expect(yield* signalled("stuck", ["ready\n", "SIGTERM"], ["finalizing\n", "SIGQUIT"])).toEqual(ended)
    }),
  )

  live("has its output taken to the last byte before it leaves", () =>
    Effect.gen(function* () {
      const { code, out, err } = yield* outcome("big")
      expect([code, out.length, err.length]).toEqual([4, 3_000_000, 3_000_000])
    }),
  )

  it.live.skipIf("Deno" in globalThis)("leaves at once at a second signal, though nobody reads its output", () =>
    Effect.gen(function* () {
      const main = yield* start("flooded")
      yield* main.read
      process.kill(main.pid, "SIGTERM")
      expect(yield* firstText(main.readError, 12)).toBe("interrupted\n")
      process.kill(main.pid, "SIGTERM")
      expect(yield* main.exit).toEqual({ code: 143, signal: undefined })
    }).pipe(Effect.scoped, Effect.provide(Processes.layer)),
  )

  live("takes a reader that goes away for no failure, and leaves stderr open for others", () =>
    Effect.gen(function* () {
      const processes = yield* Processes.Service
      const { command, args, ...rest } = script("main.ts", "gone")
      const line = [command, ...args].map((word) => `'${word}'`).join(" ")
      const piped = yield* processes.spawn({ ...rest, command: "sh", args: ["-c", `(${line}; echo "exit $?" >&2) | head -c 1`] })
      const [out, err] = yield* Effect.all([drain(piped.read), drain(piped.readError)], { concurrency: 2 })
      expect([String(out), String(err)]).toEqual(["x", "reached the end\nexit 0\n"])
    }),
  )

  it.live.runIf(existsSync("/dev/full") && !("Deno" in globalThis))("leaves though the disk behind its output is full", () =>
    Effect.gen(function* () {
      const processes = yield* Processes.Service
      for (const [mode, code] of [
        ["big", 4],
        ["defect", 70],
      ] as const) {
        const { command, args, ...rest } = script("main.ts", mode)
        const line = [command, ...args].map((word) => `'${word}'`).join(" ")
        for (const full of [">/dev/full", "2>/dev/full", ">/dev/full 2>&1"]) {
          const main = yield* processes.spawn({ ...rest, command: "sh", args: ["-c", `exec ${line} ${full}`] })
          yield* Effect.all([drain(main.read), drain(main.readError)], { concurrency: 2 })
          expect([full, yield* main.exit]).toEqual([full, { code, signal: undefined }])
        }
      }
    }).pipe(Effect.scoped, Effect.provide(Processes.layer)),
  )
})
