/** `Appender.ts HOME SEED`: writes to the session `kill` as fast as it can and prints a line for each thing that was acknowledged, until it is killed. */

import { writeSync } from "node:fs"
import * as Effect from "effect/Effect"
import * as AgentLaunchSpec from "../../src/AgentLaunchSpec.ts"
import { isAgentId, SessionStore } from "./Store.ts"

const [home, seedText] = process.argv.slice(2) as [string, string]
let state = Number(seedText) | 1
const random = (count: number): number => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * count)
}
const say = (line: string) => writeSync(1, `${line}\n`)

const program = Effect.gen(function* () {
  const store = yield* SessionStore.Service
  const exists = (yield* store.list()).some((row) => row.id === "kill")
  const session = yield* exists ? store.openWriter("kill") : store.create({ id: "kill", cwd: "/w" })
  const { subagents } = session
  const known = (yield* subagents.list()).map((row) => row.id).filter(isAgentId)
  const id = known[0] ?? (yield* subagents.create(AgentLaunchSpec.make({ name: "a" }), "p")).agent_id
  say(`opened ${id}`)
  let count = 0
  const append = Effect.suspend(() => {
    const payload = `${seedText}.${++count}`
    const size = random(40) === 0 ? random(4_000_000) : random(3_000)
    return Effect.map(
      subagents.append(id, { direction: "in", frame: JSON.stringify({ payload, filler: "z".repeat(size) }) }, "disk"),
      () => say(`event ${payload}`),
    )
  })
  for (;;) {
    yield* Effect.all([append, append, append], { concurrency: "unbounded", discard: true })
    const item = `${seedText}.${++count}`
    yield* session.appendItem(item, "disk")
    say(`item ${item}`)
    if (random(3) === 0) {
      const size = random(2_000)
      yield* subagents.saveContext(id, { seed: seedText, size, messages: Array.from({ length: size }, (_, i) => i) })
      say(`context ${size}`)
    }
    if (random(4) === 0) {
      const meta = yield* subagents.setExt(id, { seed: seedText, count })
      say(`meta ${meta.rev}`)
    }
  }
})

await Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(SessionStore.layerWith({ home }))))
