import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { AgentStatus } from "../src/AgentMeta.ts"
import { SessionStore } from "../src/SessionStore.ts"
import type { StoreError } from "../src/StoreError.ts"
import { agentId, backends, childOf, spec } from "./Backends.ts"

const codeOf = <A>(effect: Effect.Effect<A, StoreError>) => Effect.map(Effect.flip(effect), (error) => error.code)

const frame = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"session/prompt"}`

for (const { name, run } of backends) {
  describe(name, () => {
    it.live("K09 creates an agent that can be loaded at once", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const { subagents } = yield* store.create({ id: "one", cwd: "/w" })
          const meta = yield* subagents.create(spec, "You review.\n\u2028")
          expect(meta).toMatchObject({ session_id: "one", status: "starting", spec, rev: 1 })
          expect(meta.agent_id).toMatch(/^s-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
          const loaded = yield* subagents.load(meta.agent_id)
          expect(loaded).toEqual({ meta, prompt: "You review.\n\u2028", context: {}, warnings: [] })
        }),
      ),
    )

    it.live("takes a given id once and only where it is one", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const { subagents } = yield* store.create({ id: "one", cwd: "/w" })
          const id = yield* agentId
          expect((yield* subagents.create(spec, "", { id })).agent_id).toBe(id)
          expect(yield* codeOf(subagents.create(spec, "", { id }))).toBe("ALREADY_EXISTS")
          expect(yield* codeOf(subagents.create(spec, "", { id: "s-1" as typeof id }))).toBe("INVALID_ID")
        }),
      ),
    )

    it.live("K02 takes any string that is no agent id for unknown", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const { subagents } = yield* store.create({ id: "one", cwd: "/w" })
          const id = yield* agentId
          for (const text of ["", ".", "..", "../x", "/etc", id.toUpperCase(), `${id} `, id.replace("-7", "-4"), id]) {
            expect(yield* codeOf(subagents.load(text))).toBe("NOT_FOUND")
            expect(yield* codeOf(subagents.delete(text))).toBe("NOT_FOUND")
          }
        }),
      ),
    )

    it.live("K10 refuses an agent of another session and names its owner", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const one = yield* store.create({ id: "one", cwd: "/w" })
          const two = yield* store.create({ id: "two", cwd: "/w" })
          const { agent_id } = yield* one.subagents.create(spec, "")
          const error = yield* Effect.flip(two.subagents.load(agent_id))
          expect(error.code).toBe("FOREIGN_SESSION")
          expect(error.message).toContain('belongs to session "one"')
          expect(yield* codeOf(two.subagents.delete(agent_id))).toBe("FOREIGN_SESSION")
          expect(yield* codeOf(two.subagents.append(agent_id, { note: "x" }))).toBe("FOREIGN_SESSION")
          yield* one.subagents.load(agent_id)
        }),
      ),
    )

    it.live("replays every event in call order, from any number", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const { subagents } = yield* store.create({ id: "one", cwd: "/w" })
          const { agent_id } = yield* subagents.create(spec, "")
          for (let i = 1; i <= 20; i++) {
            const receipt = yield* subagents.append(agent_id, { direction: i % 2 === 0 ? "in" : "out", frame: frame(i) })
            expect(receipt).toEqual({ seq: i + 1, where: "kernel" })
          }
          const bodies = (records: ReadonlyArray<unknown>) => records.map((record) => (record as { body: unknown }).body)
          const all = yield* Stream.runCollect(subagents.replay(agent_id))
          expect(all.map((record) => (record as { seq: number }).seq)).toEqual(Array.from({ length: 21 }, (_, i) => i + 1))
          expect(bodies(all)[1]).toEqual({ dir: "out", frame: { jsonrpc: "2.0", id: 1, method: "session/prompt" } })
          const late = yield* Stream.runCollect(subagents.replay(agent_id, { fromSeq: 18 }))
          expect(bodies(late)).toEqual(bodies(all).slice(17))
          expect(bodies(yield* subagents.tail(agent_id, 3))).toEqual(bodies(all).slice(-3))
        }),
      ),
    )

    it.live("records what is no JSON and what is no frame as they are", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const { subagents } = yield* store.create({ id: "one", cwd: "/w" })
          const { agent_id } = yield* subagents.create(spec, "")
          yield* subagents.append(agent_id, { direction: "in", frame: "Welcome to agent 3.1!" })
          yield* subagents.append(agent_id, { direction: "in", frame: '{"id":18446744073709551615,"x":1.50}' })
          yield* subagents.append(agent_id, { note: "exit", data: { code: 3 } })
          const [noise, exact, note] = (yield* subagents.tail(agent_id, 3)).map((record) => record.body)
          expect(noise).toEqual({ dir: "in", text: "Welcome to agent 3.1!" })
          expect(exact).toEqual({ dir: "in", frame: { id: 18446744073709551615n, x: 1.5 } })
          expect(note).toEqual({ note: "exit", data: { code: 3 } })
        }),
      ),
    )

    it.live("moves the status only from what it is, along legal moves", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const { subagents } = yield* store.create({ id: "one", cwd: "/w" })
          const { agent_id } = yield* subagents.create(spec, "")
          const move = (from: AgentStatus, to: AgentStatus) => subagents.setStatus(agent_id, from, to)
          expect(yield* codeOf(move("idle", "working"))).toBe("BUSY")
          expect((yield* move("starting", "working")).rev).toBe(2)
          expect(yield* codeOf(move("working", "starting"))).toBe("INVALID")
          const [first, second] = yield* Effect.all(
            [Effect.result(move("working", "idle")), Effect.result(move("working", "failed"))],
            {
              concurrency: 2,
            },
          )
          expect([first._tag, second._tag]).toEqual(["Success", "Failure"])
          yield* move("idle", "closed")
          expect(yield* codeOf(move("closed", "working"))).toBe("INVALID")
          expect((yield* subagents.load(agent_id)).meta.status).toBe("closed")
        }),
      ),
    )

    it.live("keeps the conversation state over saves and reopenings", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const states = [
            { messages: ["a"], usage: { used: 1 } },
            { messages: ["a", { role: "agent", text: "b" }], usage: { used: 2, size: 2n ** 63n } },
            { messages: ["a", { role: "agent", text: "b, longer" }], tools: { t1: { status: "done" } }, __proto__x: 1 },
            { messages: [], note: null },
          ]
          const id = yield* Effect.scoped(
            Effect.gen(function* () {
              const { subagents } = yield* store.create({ id: "one", cwd: "/w" })
              const { agent_id } = yield* subagents.create(spec, "")
              for (const state of states) {
                yield* subagents.saveContext(agent_id, state)
                expect(yield* subagents.context(agent_id)).toEqual(state)
                const reader = yield* store.openReader("one")
                expect((yield* reader.subagents.load(agent_id)).context).toEqual(state)
              }
              return agent_id
            }),
          )
          const { subagents } = yield* store.openWriter("one")
          expect((yield* subagents.load(id)).context).toEqual(states[3])
        }),
      ),
    )

    it.live("K05 has the whole state in context.json once the session is closed", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const id = yield* Effect.scoped(
            Effect.gen(function* () {
              const { subagents } = yield* store.create({ id: "one", cwd: "/w" })
              const { agent_id } = yield* subagents.create(spec, "")
              for (let i = 0; i < 50; i++) yield* subagents.saveContext(agent_id, { messages: ["x".repeat(i)], i }, "kernel")
              return agent_id
            }),
          )
          const reader = yield* store.openReader("one")
          const findings = yield* reader.subagents.verify(id)
          expect(findings.map((finding) => finding.severity)).toEqual(["ok", "ok", "ok", "ok"])
          expect(findings[3]?.message).toBe("current, at record 51")
        }),
      ),
    )

    it.live("K16 keeps the directory of a closed agent until it is deleted", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const { subagents } = yield* store.create({ id: "one", cwd: "/w" })
          const { agent_id } = yield* subagents.create(spec, "p")
          yield* subagents.append(agent_id, { direction: "out", frame: frame(1) })
          yield* subagents.setStatus(agent_id, "starting", "closed")
          expect((yield* subagents.list()).map((row) => [row.id, row.meta?.status])).toEqual([[agent_id, "closed"]])
          expect((yield* subagents.tail(agent_id, 1)).map((record) => record.seq)).toEqual([2])
          yield* subagents.delete(agent_id)
          expect(yield* subagents.list()).toEqual([])
          expect(yield* codeOf(subagents.load(agent_id))).toBe("NOT_FOUND")
        }),
      ),
    )

    it.live("refuses to delete an agent that is at work", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const { subagents } = yield* store.create({ id: "one", cwd: "/w" })
          const { agent_id } = yield* subagents.create(spec, "")
          yield* subagents.setStatus(agent_id, "starting", "working")
          expect(yield* codeOf(subagents.delete(agent_id))).toBe("BUSY")
          yield* subagents.load(agent_id)
        }),
      ),
    )

    it.live("marks an agent whose process went away interrupted, once, and lets it go on", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const [idle, working] = yield* Effect.scoped(
            Effect.gen(function* () {
              const session = yield* store.create({ id: "one", cwd: "/w" })
              const first = (yield* session.subagents.create(spec, "")).agent_id
              const second = (yield* session.subagents.create(spec, "")).agent_id
              yield* session.subagents.setStatus(first, "starting", "working")
              yield* session.subagents.setStatus(second, "starting", "working")
              yield* session.appendChild(childOf(first))
              yield* session.appendChild(childOf(second, { lifecycle: "Interrupted" }))
              return [first, second] as const
            }),
          )
          yield* Effect.scoped(
            Effect.gen(function* () {
              const session = yield* store.openWriter("one")
              expect((yield* session.subagents.load(idle)).meta.status).toBe("idle")
              const { meta } = yield* session.subagents.load(working)
              expect([meta.status, meta.status_reason]).toEqual(["interrupted", "its process ended while it was working"])
              expect(session.warnings.map((warning) => warning.kind).sort()).toEqual(["interrupted", "repaired"])
              yield* session.subagents.setStatus(working, "interrupted", "working")
              yield* session.subagents.setStatus(working, "working", "idle")
              yield* session.appendChild(childOf(working, { generation: 2, handle_generation: 2 }))
            }),
          )
          const session = yield* store.openWriter("one")
          expect(session.warnings).toEqual([])
        }),
      ),
    )

    it.live("keeps other packages' fields and gives each agent its own state", () =>
      run(
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          const { subagents } = yield* store.create({ id: "one", cwd: "/w" })
          const a = (yield* subagents.create(spec, "")).agent_id
          const b = (yield* subagents.create(spec, "")).agent_id
          yield* subagents.setExt(a, { roster: { name: "A" } })
          yield* subagents.setExt(a, { pgid: 12 })
          yield* subagents.saveContext(a, { of: "a" })
          yield* subagents.saveContext(b, { of: "b" })
          expect((yield* subagents.load(a)).meta.ext).toEqual({ roster: { name: "A" }, pgid: 12 })
          expect([yield* subagents.context(a), yield* subagents.context(b)]).toEqual([{ of: "a" }, { of: "b" }])
          expect((yield* subagents.list({ status: "starting", limit: 1 })).map((row) => row.id)).toEqual([a])
        }),
      ),
    )
  })
}
