import { Cli } from "@acp-kit/cli/Cli"
import { command, group } from "@acp-kit/cli/Command"
import { failed } from "@acp-kit/cli/CommandFailed"
import { Flag } from "@acp-kit/cli/Flag"
import { Output } from "@acp-kit/cli/Output"
import { Terminal } from "@acp-kit/cli/Terminal"
import { Host } from "@acp-kit/platform/Host"
import { Stdio } from "@acp-kit/platform/Stdio"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"

const host = Host.layerWith({ env: {}, kitHome: "/nowhere", cwd: "/", self: ["kit"], version: "1.2.3" })

const json = Flag.toggle({ summary: "as JSON" })

const root = group("kit", "agents", [
  command({
    name: "value",
    summary: "succeed",
    flags: { json },
    run: ({ flags }) => Effect.as(Output.value({ b: 2n ** 60n, a: [1] }, flags.json), 0 as const),
  }),
  command({
    name: "fail",
    summary: "fail",
    flags: { json },
    run: () => Effect.fail(failed(1, "SPAWN", "could not start it", { uncertain: false })),
  }),
  command({
    name: "odd",
    summary: "succeed with odd characters",
    run: () => Effect.as(Output.value(["\u001b", "\u009b31m\u202e"], false), 0 as const),
  }),
  command({
    name: "quote",
    summary: "fail with what somebody else wrote",
    flags: { json },
    run: () => Effect.fail(failed(1, "UNREADABLE", "could not read a\u001b[31mb\r\n  \u001b]0;title\u0007")),
  }),
  command({ name: "crash", summary: "crash", flags: { json }, run: () => Effect.die(new Error("a bug")) }),
  command({ name: "wait", summary: "wait", flags: { json }, run: () => Effect.never }),
])

const run = (argv: ReadonlyArray<string>, options: Parameters<typeof Terminal.layerMemory>[0] = {}) => {
  const [terminal, recording] = Terminal.layerMemory(options)
  const program = Effect.provide(Cli.run(root, argv), Layer.merge(terminal, host)) as Effect.Effect<0 | 1 | 2>
  return Effect.map(program, (exit) => ({ exit, out: recording.out(), err: recording.err() }))
}

describe("Cli", () => {
  it.effect("prints a value as one canonical line, and laid out on a terminal unless --json asks otherwise", () =>
    Effect.gen(function* () {
      const line = '{"a":[1],"b":1152921504606846976}\n'
      expect(yield* run(["value"])).toEqual({ exit: 0, out: line, err: "" })
      expect((yield* run(["value"], { outIsTerminal: true })).out).toBe('{ "a": [1], "b": 1152921504606846976 }\n')
      expect((yield* run(["value", "--json"], { outIsTerminal: true })).out).toBe(line)
      expect((yield* run(["odd"])).out).toBe('["\\u001b","\u009b31m\u202e"]\n')
      expect((yield* run(["odd"], { outIsTerminal: true })).out).toBe('["\\u001b", "\\u009b31m\\u202e"]\n')
    }),
  )

  it.effect("reports a failure on stderr with its exit code, and with --json as one object on stdout", () =>
    Effect.gen(function* () {
      expect(yield* run(["fail"])).toEqual({ exit: 1, out: "", err: "kit: could not start it\n" })
      expect(yield* run(["fail", "--json"])).toEqual({
        exit: 1,
        out: '{"error":{"code":"SPAWN","message":"could not start it","uncertain":false}}\n',
        err: "kit: could not start it\n",
      })
    }),
  )

  it.effect("lets nothing that a failure quotes reach the terminal as it is, and keeps its lines", () =>
    Effect.gen(function* () {
      expect((yield* run(["quote"])).err).toBe("kit: could not read a\ufffd[31mb\n  \ufffd]0;title\ufffd\n")
      expect((yield* run(["quote", "--json"])).out).toContain(String.raw`a\u001b[31mb`)
    }),
  )

  it.effect("reports a wrong call with 2, the nearest command, the usage and nothing on stdout", () =>
    Effect.gen(function* () {
      const wrong = yield* run(["valu"])
      expect(wrong.exit).toBe(2)
      expect(wrong.out).toBe("")
      expect(wrong.err).toBe('kit: unknown command "valu"; did you mean "value"?\nusage: kit COMMAND\nkit --help tells more.\n')
      expect((yield* run(["value", "x", "--json"])).out).toContain('"code":"USAGE"')
    }),
  )

  it.effect("turns a bug into a failure with a stack instead of dying", () =>
    Effect.gen(function* () {
      const crashed = yield* run(["crash", "--json"])
      expect(crashed.exit).toBe(1)
      expect(crashed.out).toBe('{"error":{"code":"INTERNAL","message":"a bug"}}\n')
      expect(crashed.err).toContain("kit: internal error")
    }),
  )

  it.effect("says that it was cancelled", () =>
    Effect.gen(function* () {
      const [terminal, recording] = Terminal.layerMemory()
      const program = Effect.provide(Cli.run(root, ["wait", "--json"]), Layer.merge(terminal, host)) as Effect.Effect<0 | 1 | 2>
      const fiber = yield* Effect.forkChild(program, { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      expect(recording.out()).toBe('{"error":{"code":"CANCELLED","message":"cancelled"}}\n')
      expect(recording.err()).toBe("kit: cancelled\n")
    }),
  )

  it.effect("takes a value that was lost for a failure, and leaves another failure its exit code", () =>
    Effect.gen(function* () {
      const lost = Effect.succeed(new Stdio.OutputClosed({ reason: "ENOSPC" }))
      const told = "kit: could not write the output: no space is left on the device\n"
      expect(yield* run(["value"], { lost })).toMatchObject({ exit: 1, err: told })
      expect(yield* run(["--help"], { lost })).toMatchObject({ exit: 1, err: told })
      expect(yield* run(["valu", "--json"], { lost })).toMatchObject({ exit: 2, err: expect.stringContaining(told) })
    }),
  )

  it.effect("answers version and help on stdout", () =>
    Effect.gen(function* () {
      expect(yield* run(["--version"])).toEqual({ exit: 0, out: "kit 1.2.3\n", err: "" })
      const help = yield* run([])
      expect(help.exit).toBe(0)
      expect(help.out).toContain("usage: kit COMMAND")
      expect((yield* run(["value", "--help"])).out).toContain("--config FILE")
    }),
  )
})
