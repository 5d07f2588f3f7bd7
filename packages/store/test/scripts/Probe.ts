/** `Probe.ts HOME SESSION`: tries once to open the session for writing and prints `open` or the code of the failure and its message. */
import * as Effect from "effect/Effect"
import { SessionStore } from "./Store.ts"

const [home, id] = process.argv.slice(2) as [string, string]

const program = Effect.scoped(
  Effect.gen(function* () {
    const store = yield* SessionStore.Service
    return yield* Effect.match(store.openWriter(id), {
      onFailure: (error) => `${error.code} ${error.message}`,
      onSuccess: () => "open",
    })
  }),
)

console.log(await Effect.runPromise(program.pipe(Effect.provide(SessionStore.layerWith({ home })))))
