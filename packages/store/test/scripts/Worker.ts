/** `Worker.ts HOME SIZE`: does the work of `Workload.ts` and prints every fact as a line of JSON, at last `"end"` or the code of the failure that ended it. */

import { writeSync } from "node:fs"
import * as Effect from "effect/Effect"
import { defaults, StoreLimits } from "../../src/StoreLimits.ts"
import { work } from "../Workload.ts"
import { SessionStore } from "./Store.ts"

const [home, size] = process.argv.slice(2) as [string, string]
/** The fault that is meant for the store may hit our own line; then it is said again. */
const say = (value: unknown): void => {
  try {
    writeSync(1, `${JSON.stringify(value)}\n`)
  } catch {
    say(value)
  }
}

const code = await Effect.runPromise(
  Effect.scoped(work(say, Number(size))).pipe(
    Effect.match({ onFailure: (error) => error.code, onSuccess: () => "end" }),
    Effect.provide(SessionStore.layerWith({ home })),
    Effect.provideService(StoreLimits, { ...defaults, rotateBytes: 900 }),
  ),
)
say(code)
