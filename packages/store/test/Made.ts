import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import { SessionStore } from "../src/SessionStore.ts"
import type { StoreError } from "../src/StoreError.ts"
import { childOf, spec } from "./Backends.ts"

/** The code with which a call fails. */
export const codeOf = <A>(effect: Effect.Effect<A, StoreError>) => Effect.map(Effect.flip(effect), (error) => error.code)

/** A session `one` with one agent that has a prompt, events and a state, closed again. */
export const made = Effect.gen(function* () {
  const store = yield* SessionStore.Service
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const session = yield* store.create({ id: "one", cwd: "/w" })
      const { agent_id } = yield* session.subagents.create(spec, "You are kind.\n")
      for (let id = 1; id <= 3; id++)
        yield* session.subagents.append(agent_id, { direction: "out", frame: `{"id":${id}}` }, "disk")
      yield* session.subagents.setStatus(agent_id, "starting", "working")
      yield* session.subagents.saveContext(agent_id, { messages: ["a", "b"] })
      yield* session.subagents.setStatus(agent_id, "working", "idle")
      yield* session.appendItem("item")
      yield* session.appendChild(childOf(agent_id))
      return agent_id
    }),
  )
})

/** The directory of an agent of session `one`. */
export const directoryOf = (home: string, id: string) => path.join(home, "sessions/one/subagents", id)

/** Every file below a directory with its bytes. */
export const contents = (directory: string): Record<string, string> => {
  const found: Record<string, string> = {}
  for (const entry of fs.readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name)
    if (entry.isFile()) found[path.relative(directory, file)] = fs.readFileSync(file).toString("latin1")
  }
  return found
}
