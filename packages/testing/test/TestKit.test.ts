import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { system } from "@acp-kit/platform/ProcessTable"
import { describe, expect } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { TestKit } from "../src/TestKit.ts"
import { connect, live } from "./Client.ts"

const program = { command: process.execPath, args: [fileURLToPath(new URL("./fixtures/program.mjs", import.meta.url))] }

describe("a machine of its own", () => {
  live("gives the program an empty home and a workspace, and is gone afterwards", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.scoped(
        Effect.gen(function* () {
          const kit = yield* TestKit.make(program)
          const { out, code } = yield* kit.kit(["tell", "an argument"])
          expect(code).toBe(0)
          const told = { args: ["an argument"], cwd: kit.root, home: kit.userHome, kitHome: kit.kitHome }
          expect(JSON.parse(out)).toEqual(told)
          expect(existsSync(kit.kitHome)).toBe(false)
          return kit.folder
        }),
      )
      expect(existsSync(folder)).toBe(false)
    }),
  )

  live("hands input over and collects output", () =>
    Effect.gen(function* () {
      const kit = yield* TestKit.make(program)
      expect((yield* kit.kit(["echo"], { input: "words" })).out).toBe("words")
    }),
  )

  live("follows a program while it runs", () =>
    Effect.gen(function* () {
      const kit = yield* TestKit.make(program)
      const talk = yield* kit.start(["talk"])
      yield* talk.err.until("ready")
      yield* Effect.orDie(talk.write("hello"))
      yield* talk.err.until("heard")
      yield* talk.endInput
      expect(yield* talk.ended).toMatchObject({ code: 3, err: "ready\nheard\n", left: [] })
      const silence = yield* Effect.exit(talk.err.until("something else"))
      expect(Exit.isFailure(silence)).toBe(true)
    }),
  )

  live("fails the test when the program left a process, and ends that process", () =>
    Effect.gen(function* () {
      const pid = yield* Effect.scoped(
        Effect.gen(function* () {
          const kit = yield* TestKit.make(program)
          const { left, err } = yield* kit.kit(["leave"], { mayLeave: true })
          expect(err).toBe(`left ${left[0]?.pid}\n`)
          const exit = yield* Effect.exit(kit.kit(["leave"]))
          expect(Exit.isFailure(exit) && Cause.pretty(exit.cause)).toContain("kit leave left")
          return left[0]?.pid ?? 0
        }),
      )
      expect(yield* system.lookup(pid)).toBeUndefined()
    }),
  )

  live("configures harnesses, and their scripted agents start as configured", () =>
    Effect.gen(function* () {
      const kit = yield* TestKit.make(program)
      const agent = yield* kit.agent("review", { versions: [1] }, 'permissions = "allow"')
      const toml = readFileSync(`${kit.kitHome}/config.toml`, "utf8")
      expect(toml).toBe(
        `[acp.review]\ncommand = ${JSON.stringify(agent.command)}\nargs = ${JSON.stringify(agent.args)}\npermissions = "allow"\n`,
      )
      const client = yield* connect(agent, kit.root)
      expect(yield* client.request("initialize", { protocolVersion: 2 })).toMatchObject({ result: { protocolVersion: 1 } })
      agent.setMood({})
      const next = yield* connect(agent, kit.root)
      expect(yield* next.request("initialize", { protocolVersion: 2 })).toMatchObject({ result: { protocolVersion: 2 } })
      expect(agent.recording.pids).toEqual([client.child.pid, next.child.pid])
    }),
  )
})
