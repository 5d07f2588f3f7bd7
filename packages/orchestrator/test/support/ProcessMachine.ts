import * as Fs from "node:fs"
import type { Mood } from "@acp-kit/testing/Mood"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Machine, places } from "./HandleModel.ts"
import { appears, isObject, World } from "./World.ts"

/** The children are scripted agents, their sessions outlive them, the files are on a real disk. */
export const make: Effect.Effect<Machine, never, Scope.Scope> = Effect.gen(function* () {
  const world = yield* World.make({ limits: { liveChildren: places } })
  const hanging = world.file("hanging")
  const loggedIn = world.file("logged-in")
  const replies: Mood["replies"] = [
    { match: "^refuse$", script: [{ stop: "refusal" }] },
    { match: "^exit$", script: [{ exit: 1 }] },
    { match: "^hang$", script: [{ touch: hanging }, { awaitCancel: true }] },
  ]
  const mood: Mood = { replies, auth: { at: ["session/prompt"], until: loggedIn } }
  const open = world.open({ harnesses: { review: { mood } } })
  const prepare = (outcome: string) =>
    outcome === "auth" ? Fs.rmSync(loggedIn, { force: true }) : Fs.writeFileSync(loggedIn, "")
  const hangs = Effect.tap(appears(hanging), () => Effect.sync(() => Fs.rmSync(hanging)))
  const kill = (session: string) => {
    const told = world
      .frames()
      .filter(({ message: { params, result } }) => [params, result].some((each) => isObject(each) && each.sessionId === session))
    process.kill(told.at(-1)!.pid, "SIGKILL")
  }
  return { open, prepare, hangs, running: () => world.alive().length, kill }
})

export * as ProcessMachine from "./ProcessMachine.ts"
