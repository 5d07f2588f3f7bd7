import { Program } from "@acp-kit/cli/Program"
import { Terminal } from "@acp-kit/cli/Terminal"
import { Files } from "@acp-kit/platform/Files"
import { Host } from "@acp-kit/platform/Host"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"

const host = Host.layerWith({ env: {}, kitHome: "/nowhere", cwd: "/", self: ["kit"], version: "0" })

const machine = (options: Parameters<typeof Terminal.layerMemory>[0]) => {
  const [terminal, recording] = Terminal.layerMemory(options)
  return [Layer.mergeAll(terminal, host, Files.layer), recording] as const
}

describe("Program", () => {
  it.effect("comes from standard input where no file is named, unless somebody would have to type it", () =>
    Effect.gen(function* () {
      const read = (options: Parameters<typeof Terminal.layerMemory>[0]) =>
        Effect.provide(Program.read("compose", undefined, undefined), machine(options)[0])
      expect(yield* read({ input: "\ufeffreturn 1" })).toEqual({ source: "return 1", path: "standard input" })
      for (const options of [{ input: "" }, { input: "return 1", inIsTerminal: true }]) {
        expect(yield* Effect.flip(read(options))).toMatchObject({ exit: 2, error: { code: "USAGE", message: "no program" } })
      }
    }),
  )

  it.effect("says that it waits where nothing comes", () =>
    Effect.gen(function* () {
      const [services, recording] = machine({})
      const silent = Layer.effect(
        Terminal.Service,
        Effect.map(Terminal.Service, (terminal) => ({ ...terminal, input: () => Effect.never })),
      )
      const reading = Program.read("compose", undefined, undefined).pipe(
        Effect.provide(silent),
        Effect.provide(services),
        Effect.forkChild({ startImmediately: true }),
      )
      const fiber = yield* reading
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.interrupt(fiber)
      expect(recording.err()).toBe("kit compose: waiting for a program on standard input\n")
    }),
  )
})
