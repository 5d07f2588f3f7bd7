import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Processes } from "@acp-kit/platform/Processes"
import type { JsonObject } from "@acp-kit/runlet/Host"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { Shell } from "../src/Shell.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "kit-shell-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
)

const context = { operationId: "o", dispatchId: "o:0", attempt: 0, line: 1, column: 1 }

const env = { PATH: process.env.PATH ?? "", HOME: tmpdir(), KIT_TEST: "here" }

const shell = Effect.fnUntraced(function* (root: string, limits: Partial<Shell.Limits> = {}) {
  const tool = yield* Shell.make({ root, env, limits })
  return (input: JsonObject) =>
    Effect.map(tool.handler([input], context), (output) => output as { readonly [key: string]: unknown })
}, Effect.provide(Processes.layer))

const alive = (pid: number) =>
  existsSync(`/proc/${pid}/stat`) && !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"))

const pidIn = (file: string) => Number(readFileSync(file, "utf8").trim())

/** Succeeds once the file has a line. */
const written = (file: string) =>
  Effect.gen(function* () {
    while (!existsSync(file) || !readFileSync(file, "utf8").includes("\n")) yield* Effect.sleep(5)
  })

describe("shell", () => {
  it.live("returns exit code and both streams of a command that runs in the root", () =>
    Effect.gen(function* () {
      const root = yield* directory
      const run = yield* shell(root)
      expect(yield* run({ command: "pwd; echo $KIT_TEST; echo oops >&2" })).toEqual({
        exit_code: 0,
        success: true,
        stdout: `${root}\nhere\n`,
        stderr: "oops\n",
      })
    }),
  )

  it.live("takes a failing command for a result", () =>
    Effect.gen(function* () {
      const run = yield* shell(yield* directory)
      expect(yield* run({ command: "exit 3" })).toMatchObject({ exit_code: 3, success: false })
      expect(yield* run({ command: "kill -9 $$" })).toMatchObject({ exit_code: null, success: false })
      expect(yield* run({ command: "no-such-command-here" })).toMatchObject({ exit_code: 127, success: false })
    }),
  )

  it.live("gives a command no input", () =>
    Effect.gen(function* () {
      const run = yield* shell(yield* directory)
      expect(yield* run({ command: "cat; echo end" })).toMatchObject({ stdout: "end\n" })
    }),
  )

  it.live("replaces what is not UTF-8, also where a character is cut between chunks", () =>
    Effect.gen(function* () {
      const root = yield* directory
      writeFileSync(join(root, "binary"), Buffer.concat([Buffer.from([0xff, 0x00, 0xfe]), Buffer.from("é".repeat(200_000))]))
      const run = yield* shell(root)
      const { stdout } = yield* run({ command: "cat binary" })
      expect(stdout).toBe(`\ufffd\u0000\ufffd${"é".repeat(200_000)}`)
    }),
  )

  it.live("fails once a stream has more bytes than it may, and ends the command", () =>
    Effect.gen(function* () {
      const root = yield* directory
      const run = yield* shell(root)
      const failure = yield* Effect.flip(run({ command: "echo $$ > pid; head -c 104857600 /dev/zero; sleep 60" }))
      expect(failure).toMatchObject({
        code: "OUTPUT_TOO_LARGE",
        message: `shell output exceeds ${64 * 1024 * 1024} bytes`,
        uncertain: true,
      })
      expect(alive(pidIn(join(root, "pid")))).toBe(false)
    }),
  )

  it.live("ends a command that takes too long, and what it started", () =>
    Effect.gen(function* () {
      const root = yield* directory
      const run = yield* shell(root, { defaultSeconds: 1 })
      const failure = yield* Effect.flip(
        run({ command: "sleep 60 & echo $! > child; echo $$ > pid; trap '' TERM; sleep 60; sleep 60" }),
      )
      expect(failure).toMatchObject({ code: "TIMEOUT", message: "shell command timed out", uncertain: true })
      for (const name of ["pid", "child"]) expect(alive(pidIn(join(root, name)))).toBe(false)
    }),
  )

  it.live("ends the command when the call is cancelled", () =>
    Effect.gen(function* () {
      const root = yield* directory
      const run = yield* shell(root)
      const fiber = yield* Effect.forkChild(run({ command: "sleep 60 & echo $! > child; wait" }))
      yield* written(join(root, "child"))
      yield* Fiber.interrupt(fiber)
      expect(alive(pidIn(join(root, "child")))).toBe(false)
    }),
  )

  it.live("returns when the command has ended though something detached still holds its output, and ends that", () =>
    Effect.gen(function* () {
      const root = yield* directory
      const run = yield* shell(root)
      const { stdout } = yield* run({
        command: "setsid sh -c 'echo $$ > child; exec sleep 60' & while ! test -s child; do :; done; echo done",
      })
      expect(stdout).toBe("done\n")
      expect(alive(pidIn(join(root, "child")))).toBe(false)
    }),
  )

  it.live("refuses a command or a time outside its bounds, without starting anything", () =>
    Effect.gen(function* () {
      const run = yield* shell(yield* directory)
      const wrong = [
        { command: " " },
        { command: "a\0b" },
        { command: "#".repeat(128 * 1024) },
        { command: "true", timeout_seconds: 0 },
        { command: "true", timeout_seconds: 3601 },
      ]
      for (const input of wrong) {
        expect(yield* Effect.flip(run(input))).toMatchObject({
          code: "INVALID_ARGUMENT",
          message: "command and timeout_seconds are outside bounds",
        })
      }
    }),
  )

  it.live("runs the longest command that it takes", () =>
    Effect.gen(function* () {
      const run = yield* shell(yield* directory)
      expect(yield* run({ command: `echo ok #${"x".repeat(128 * 1024 - 1 - "echo ok #".length)}` })).toMatchObject({
        stdout: "ok\n",
      })
    }),
  )
})
