/**
 * `Exchange.ts write|append|read HOME [WHO]`: one runtime writes a session, others read it and append to it. `read` prints all that it sees and a checksum of
 * every file, and must change none.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as AgentLaunchSpec from "../../src/AgentLaunchSpec.ts"
import { sha256 } from "../../src/Checksum.ts"
import { stringify } from "../../src/Json.ts"
import { SessionStore } from "./Store.ts"

const [what, home, who = ""] = process.argv.slice(2) as [string, string, string?]
const id = "s-01a22eb1-d6f4-7c12-8c07-000000000001" as never
const child = {
  acp_session_id: "acp",
  harness: "acp.kit",
  name: "Agent 1",
  cwd: "/w",
  generation: 1,
  handle_generation: 1,
  depth: 1,
}

const sums = () =>
  readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith(".writer"))
    .map((entry) => `${entry.name} ${sha256(readFileSync(join(entry.parentPath, entry.name)))}`)
    .sort()

const write = Effect.gen(function* () {
  const store = yield* SessionStore.Service
  const session = yield* store.create({ id: "shared", cwd: "/w", title: "Geteilt – 共有 😀" })
  const { subagents } = session
  yield* subagents.create(AgentLaunchSpec.make({ name: "a", env: { A: "é\u2028" } }), "You are kind. 😀\n", { id })
  yield* subagents.setStatus(id, "starting", "working")
  const frame = '{"id":18446744073709551615,"text":"\u2028 é 😀 \\ud800","x":1.50}'
  for (let i = 0; i < 500; i++) yield* subagents.append(id, { direction: i % 2 === 0 ? "out" : "in", frame })
  yield* subagents.saveContext(id, { messages: ["half \ud800 of a pair", 2n ** 64n, 1e300, -0.5], "\u2029": null })
  yield* session.appendItem({ text: "half \udc00", big: -(2n ** 63n) })
  yield* session.appendChild({ id, lifecycle: "Idle", ...child })
  yield* subagents.setStatus(id, "working", "idle")
})

const append = Effect.gen(function* () {
  const store = yield* SessionStore.Service
  const session = yield* store.openWriter("shared")
  if (session.warnings.length > 0) return yield* Effect.die(new Error(stringify(session.warnings as never)))
  yield* session.appendItem({ from: who }, "disk")
  yield* session.subagents.append(id, { note: who }, "disk")
  const context = yield* session.subagents.context(id)
  yield* session.subagents.saveContext(id, { ...context, [who]: [1n << 70n] })
})

const read = Effect.gen(function* () {
  const before = sums()
  const store = yield* SessionStore.Service
  const session = yield* store.openReader("shared")
  const { meta, prompt, context, warnings } = yield* session.subagents.load(id)
  const records = yield* Stream.runCollect(session.subagents.replay(id))
  const findings = (yield* session.subagents.verify(id)).map((finding) => finding.severity)
  const seen = {
    info: yield* session.info,
    items: yield* session.items,
    children: yield* session.children,
    meta,
    prompt,
    context,
    warnings,
    findings,
    records,
  }
  if (sums().join() !== before.join()) return yield* Effect.die(new Error("reading changed a file"))
  console.log(stringify({ seen, sums: before } as never))
})

const run = { write, append, read }[what]
if (run === undefined) throw new Error(`write, append or read, not ${what}`)
await Effect.runPromise(Effect.scoped(run).pipe(Effect.provide(SessionStore.layerWith({ home }))))
