import { mkdirSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Host } from "../src/Host.ts"
import { type Command, Processes } from "../src/Processes.ts"
import { directory, firstLine, script } from "./Fixture.ts"

const live = <E>(name: string, effect: () => Effect.Effect<unknown, E, Processes.Service | Scope.Scope>) =>
  it.live(name, () => Effect.scoped(effect()).pipe(Effect.provide(Processes.layer)))

type Told = Host.Interface & { readonly code?: string; readonly message?: string; readonly args: ReadonlyArray<string> }

const told = Effect.fnUntraced(function* (command: Command) {
  const processes = yield* Processes.Service
  const host = yield* processes.spawn(command)
  return (yield* firstLine(host.read)) as Told
})

const at = (cwd: string, env: Record<string, string>): Command => ({ ...script("host.ts", "an argument"), cwd, env })

describe("read", () => {
  live("tells the directory, the environment and the version, and takes .kit in HOME for Kit's home", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const host = yield* told(at(cwd, { HOME: "/home/somebody", A: "1" }))
      expect(host).toMatchObject({
        cwd,
        kitHome: "/home/somebody/.kit",
        version: "1.2.3",
        env: { A: "1", HOME: "/home/somebody" },
      })
    }),
  )

  live("prefers KIT_HOME, taken from the working directory where it is relative", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      expect((yield* told(at(cwd, { HOME: "/home/somebody", KIT_HOME: "/elsewhere" }))).kitHome).toBe("/elsewhere")
      expect((yield* told(at(cwd, { KIT_HOME: "here" }))).kitHome).toBe(join(cwd, "here"))
    }),
  )

  live("hands children the same homes wherever they run: a relative HOME or KIT_HOME is made absolute", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const { env } = yield* told(at(cwd, { HOME: "me", KIT_HOME: ".kit" }))
      expect(env).toMatchObject({ HOME: join(cwd, "me"), KIT_HOME: join(cwd, ".kit") })
      expect((yield* told(at(cwd, { HOME: "me", KIT_HOME: "" }))).env).toMatchObject({ HOME: join(cwd, "me"), KIT_HOME: "" })
    }),
  )

  live("fails with HOME_MISSING where neither is set, and where both are empty", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const missing = {
        code: "HOME_MISSING",
        message: "neither KIT_HOME nor HOME is set; set KIT_HOME to the directory that Kit may keep its files in",
      }
      expect(yield* told(at(cwd, {}))).toEqual(missing)
      expect(yield* told(at(cwd, { HOME: "", KIT_HOME: "" }))).toEqual(missing)
    }),
  )

  live("S96 leaves out what a .env file of the working directory says", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      writeFileSync(join(cwd, ".env"), "FROM_DOT_ENV=secret\n")
      expect((yield* told(at(cwd, { HOME: cwd }))).env).not.toHaveProperty("FROM_DOT_ENV")
    }),
  )

  live("C06 tells how to start the same program again", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const { self } = yield* told(at(cwd, { HOME: cwd }))
      const [command, ...args] = self
      const again = yield* told({ command, args: [...args, "once", "more"], cwd, env: { HOME: cwd } })
      expect(again).toMatchObject({ self, args: ["once", "more"] })
    }),
  )

  it.live.skipIf("Deno" in globalThis)("fails with CWD_MISSING in a directory that is gone", () =>
    Effect.gen(function* () {
      const cwd = join(yield* directory, "gone")
      mkdirSync(cwd)
      const { command, args } = at(cwd, {})
      const line = [command, ...args].map((word) => `'${word}'`).join(" ")
      const processes = yield* Processes.Service
      const gone = yield* processes.spawn({ command: "sh", args: ["-c", `read go; exec ${line}`], cwd, env: { HOME: "/" } })
      rmdirSync(cwd)
      yield* gone.write("go\n")
      expect((yield* firstLine(gone.read)) as Told).toMatchObject({ code: "CWD_MISSING" })
    }).pipe(Effect.scoped, Effect.provide(Processes.layer)),
  )
})
