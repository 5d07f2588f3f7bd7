/** `Contender.ts HOME SESSION`: tries to open the session for writing until it can, writes one item, says so and holds it until it is ended. */

import { writeSync } from "node:fs"
import * as Effect from "effect/Effect"
import { SessionStore } from "./Store.ts"

const [home, id] = process.argv.slice(2) as [string, string]
const say = (line: string) => writeSync(1, `${line}\n`)
// A fiber that waits for ever does not keep every runtime alive.
setInterval(() => {}, 1_000_000)

const attempt: Effect.Effect<never, never, SessionStore.Service> = Effect.gen(function* () {
  const store = yield* SessionStore.Service
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const session = yield* store.openWriter(id)
      yield* session.appendItem(process.pid, "disk")
      say("won")
      return yield* Effect.never
    }),
  ).pipe(
    Effect.catch((error) => {
      if (error.code !== "LOCKED") say(`failed ${error.message}`)
      return Effect.andThen(Effect.sleep(2), attempt)
    }),
  )
})

say("ready")
await Effect.runPromise(attempt.pipe(Effect.provide(SessionStore.layerWith({ home }))))
