import { readdirSync } from "node:fs"
import { Processes } from "@acp-kit/platform/Processes"
import type { Session } from "@acp-kit/protocol/Session"
import { ScriptedAgent } from "@acp-kit/testing/ScriptedAgent"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { block, machine, text } from "./Machine.ts"
import { parent } from "./Parent.ts"

/** Starts a child that stays idle behind its session. */
const start = (name: string) => `return subagent({ harness: "acp.one", name: "${name}", prompt: "one" })`

const run = (session: Session, program: string) =>
  Effect.map(session.prompt(text(block(program))), (turn) => JSON.parse(turn.text))

/** `kit acp` whose children are scripted agents. */
const client = Effect.fnUntraced(function* (offer: 1 | 2, ...args: ReadonlyArray<string>) {
  const here = yield* machine
  yield* here.agent("one")
  const kit = yield* parent(here, offer, ...args)
  const open = kit.agent.newSession({ cwd: here.root })
  const artifacts = () => readdirSync(here.folder).filter((name) => name.startsWith("kit-artifacts-"))
  return { ...here, ...kit, open, artifacts, processes: Effect.map(here.running, ({ length }) => length) }
})

it.layer(Processes.layer, { excludeTestServices: true })("a session of kit acp that is closed", (it) => {
  it.effect.each([1, 2] as const)("S15 S16 ends its idle children with it and is found whole again, version %d", (version) =>
    Effect.gen(function* () {
      const { agent, open, processes, root } = yield* client(version)
      const [session, other] = [yield* open, yield* open]
      const child = yield* run(session, start("Keep"))
      const kept = yield* run(other, start("Other"))
      expect(yield* processes).toBe(3)
      yield* session.close
      expect(yield* processes).toBe(2)
      const going = yield* run(other, `return prompt({ subagent: ${JSON.stringify(kept)}, prompt: "two" })`)
      expect(going).toMatchObject({ output: "echo: two" })
      const again = yield* agent.attach({ sessionId: session.id, cwd: root })
      expect(yield* run(again, "return subagents({})")).toMatchObject([
        { id: child.id, name: "Keep", status: "idle", generation: 1 },
      ])
      expect(yield* processes).toBe(2)
      const next = yield* run(again, `return prompt({ subagent: ${JSON.stringify(child)}, prompt: "two" })`)
      expect(next).toMatchObject({ id: child.id, output: "echo: two", generation: 2 })
    }),
  )

  it.effect.each([1, 2] as const)("K17 S16 ends its idle children when it is deleted, version %d", (version) =>
    Effect.gen(function* () {
      const { open, processes } = yield* client(version)
      const session = yield* open
      yield* run(session, start("Keep"))
      expect(yield* processes).toBe(2)
      yield* session.delete
      expect(yield* processes).toBe(1)
    }),
  )

  it.effect("S16 ends the children of a closed branch below, and leaves those of its source", () =>
    Effect.gen(function* () {
      const { open, processes } = yield* client(2)
      const session = yield* open
      const below = (name: string) => JSON.stringify(block(start(name)))
      const source = yield* run(session, `return subagent({ harness: "acp.kit", name: "A", prompt: ${below("Below")} })`)
      const branch = yield* run(
        session,
        `return fork({ subagent: ${JSON.stringify(source)}, name: "B", prompt: ${below("Beside")} })`,
      )
      expect(yield* processes).toBe(4)
      yield* run(session, `return close(${JSON.stringify(branch)})`)
      expect(yield* processes).toBe(3)
    }),
  )

  it.effect("S15 S16 ends all that its children started before the process leaves, however stubborn", () =>
    Effect.gen(function* () {
      const { child, end, open, running } = yield* client(2)
      const session = yield* open
      const prompt = JSON.stringify(ScriptedAgent.script({ grandchild: { stubborn: true, leaves: true } }, { say: "done" }))
      yield* run(session, `return subagent({ harness: "acp.one", prompt: ${prompt} })`)
      expect((yield* running).length).toBe(3)
      const close = { jsonrpc: "2.0", id: "close", method: "session/close", params: { sessionId: session.id } }
      yield* child.write(new TextEncoder().encode(`${JSON.stringify(close)}\n`))
      expect(yield* end).toMatchObject({ code: 0 })
      expect(yield* running).toEqual([])
    }),
  )

  it.effect("takes the artifacts with it where nothing is kept", () =>
    Effect.gen(function* () {
      const { open, artifacts } = yield* client(2, "--no-session")
      const session = yield* open
      const other = yield* open
      expect(artifacts().length).toBe(2)
      yield* session.close
      expect(artifacts().length).toBe(1)
      expect((yield* other.prompt(text("hello"))).text).toBe("echo: hello")
    }),
  )
})
