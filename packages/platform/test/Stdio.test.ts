import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Processes } from "../src/Processes.ts"
import { directory, drain, firstText, script } from "./Fixture.ts"

const start = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(Processes.Service, (processes) =>
    processes.spawn({ ...script("stdio.ts", ...args), ladder: { eof: "1 second", term: "1 second" } }),
  )

type Act = () => Effect.Effect<unknown, unknown, Processes.Service | Scope.Scope>

const withProcesses = (act: Act) => () => Effect.scoped(act()).pipe(Effect.provide(Processes.layer))
const liveIf = (holds: boolean) => (name: string, act: Act) => it.live.runIf(holds)(name, withProcesses(act))
const live = liveIf(true)

const sizeOf = (file: string) => Effect.sync(() => (existsSync(file) ? statSync(file).size : 0))

/** Waits until the size of a file has stopped to grow. */
const settled = Effect.fnUntraced(function* (file: string) {
  let before = 0
  for (let now = yield* sizeOf(file); now !== before || now === 0; now = yield* sizeOf(file)) {
    before = now
    yield* Effect.sleep("200 millis")
  }
  return before
})

describe("the pipes of this process", () => {
  live("carry bytes through, up to the end of input", () =>
    Effect.gen(function* () {
      const echo = yield* start("echo")
      yield* echo.write("one")
      expect(yield* firstText(echo.read, 3)).toBe("one")
      const big = new Uint8Array(5_000_000).fill(120)
      const [back] = yield* Effect.all([drain(echo.read), Effect.andThen(echo.write(big), echo.endInput)], { concurrency: 2 })
      expect(back.length).toBe(big.length)
      expect(String(yield* drain(echo.readError))).toBe("end of input\n")
      expect((yield* echo.exit).code).toBe(0)
    }),
  )

  live("make the program wait while nobody reads, and signals still reach it", () =>
    Effect.gen(function* () {
      const progress = join(yield* directory, "progress")
      const producer = yield* start("produce", progress)
      expect(yield* settled(progress)).toBeLessThan(40)
      process.kill(producer.pid, "SIGTERM")
      expect(yield* firstText(producer.readError, 12)).toBe("interrupted\n")
      process.kill(producer.pid, "SIGTERM")
      expect(yield* producer.exit).toEqual({ code: 143, signal: undefined })
    }),
  )

  live("make the writer wait while the program does not read", () =>
    Effect.gen(function* () {
      const idle = yield* start("idle")
      const write = Effect.as(idle.write(new Uint8Array(8 << 20)), "taken")
      expect(yield* Effect.timeoutOption(write, "500 millis")).toMatchObject({ _tag: "None" })
    }),
  )

  live("answer a read with InputFailed where the input is a directory", () =>
    Effect.gen(function* () {
      const processes = yield* Processes.Service
      const { command, args, ...rest } = script("stdio.ts", "echo")
      const line = [command, ...args].map((word) => `'${word}'`).join(" ")
      const echo = yield* processes.spawn({ ...rest, command: "sh", args: ["-c", `exec ${line} < /`] })
      expect(String(yield* drain(echo.readError))).toBe("could not read standard input: it is a directory\n")
      expect(yield* echo.exit).toEqual({ code: 6, signal: undefined })
    }),
  )

  live("answer a write with OutputClosed when the reader is gone", () =>
    Effect.gen(function* () {
      const progress = join(yield* directory, "progress")
      const processes = yield* Processes.Service
      const { command, args, ...rest } = script("stdio.ts", "produce", progress)
      const line = [command, ...args].map((word) => `'${word}'`).join(" ")
      const piped = yield* processes.spawn({ ...rest, command: "sh", args: ["-c", `(${line}; echo "exit $?" >&2) | head -c 1`] })
      yield* piped.read
      expect(String(yield* drain(piped.readError))).toBe("exit 5\n")
    }),
  )

  const told = Effect.fnUntraced(function* (redirection: string) {
    const progress = join(yield* directory, "progress")
    const processes = yield* Processes.Service
    const { command, args, ...rest } = script("stdio.ts", "tell", progress)
    const line = [command, ...args].map((word) => `'${word}'`).join(" ")
    const ended = yield* (yield* processes.spawn({ ...rest, command: "sh", args: ["-c", `exec ${line} ${redirection}`] })).exit
    return [ended.code, readFileSync(progress, "utf8")]
  })
  const full = "could not write the output: no space is left on the device"
  const shut = "could not write the output: it is closed, or not open for writing"

  liveIf(existsSync("/dev/full"))("tell why a write failed, answer every write behind it, and lose progress without a word", () =>
    Effect.gen(function* () {
      expect(yield* told(">/dev/full")).toEqual([0, full])
      expect(yield* told(">/dev/full 2>&1")).toEqual([0, full])
      expect(yield* told("2>/dev/full >/dev/null")).toEqual([0, "taken"])
      expect(yield* told("2>&- >/dev/null")).toEqual([0, "taken"])
    }),
  )

  liveIf(!("Deno" in globalThis))("tell that stdout is not open for writing", () =>
    Effect.gen(function* () {
      expect(yield* told("1</dev/null")).toEqual([0, shut])
    }),
  )

  liveIf("Bun" in globalThis && existsSync("/proc/self/fdinfo"))("know on Bun that there was no stdout at the start", () =>
    Effect.gen(function* () {
      expect(yield* told(">&-")).toEqual([0, shut])
      expect(yield* told(">/dev/null")).toEqual([0, "taken"])
      expect(yield* told("1<>/dev/null")).toEqual([0, "taken"])
    }),
  )

  live("stay free of whatever else prints, once stdout is reserved", () =>
    Effect.gen(function* () {
      const reserved = yield* start("reserved")
      const [out, err] = yield* Effect.all([drain(reserved.read), drain(reserved.readError)], { concurrency: 2 })
      expect(String(out)).toBe("protocol\n")
      for (const text of ["log\n", "info\n", "direct\n", "effect log"]) expect(String(err)).toContain(text)
    }),
  )
})
