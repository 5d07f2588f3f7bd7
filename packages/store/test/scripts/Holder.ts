/**
 * `Holder.ts HOME SESSION`: holds the session while it does everything that once dropped locks: it loses every reference it can, collects garbage, tries to
 * open the session again, lists, reads, verifies and tries to delete it. Starts a child that outlives it. Prints `held` and the child's id, then waits.
 */

import { spawn } from "node:child_process"
import { writeSync } from "node:fs"
import * as Effect from "effect/Effect"
import { SessionStore } from "./Store.ts"

const [home, id] = process.argv.slice(2) as [string, string]
const collect =
  (globalThis as { Bun?: { gc: (force: boolean) => void }; gc?: () => void }).Bun?.gc ?? (globalThis as { gc?: () => void }).gc

const program = Effect.gen(function* () {
  const store = yield* SessionStore.Service
  yield* store.create({ id, cwd: "/w" })
  for (let round = 0; round < 8; round++) {
    let garbage: Array<Uint8Array> = []
    for (let i = 0; i < 50; i++) garbage.push(new Uint8Array(100_000))
    garbage = []
    collect?.(true)
    yield* Effect.flip(Effect.scoped(store.openWriter(id)))
    yield* Effect.flip(store.delete(id))
    yield* store.list()
    yield* store.holder(id)
    yield* store.orphans
    const reader = yield* store.openReader(id)
    yield* reader.items
  }
  const child = spawn("sleep", ["60"], { stdio: "ignore", detached: true })
  child.unref()
  writeSync(1, `held ${child.pid}\n`)
  return yield* Effect.never
})

// A fiber that waits for ever does not keep every runtime alive.
setInterval(() => {}, 1_000_000)
await Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(SessionStore.layerWith({ home }))))
