import { Compose } from "@acp-kit/orchestrator/Compose"
import { SubagentTools } from "@acp-kit/orchestrator/SubagentTools"
import type { Json } from "@acp-kit/runlet/Host"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { appears, script, World } from "./support/World.ts"

const run = (parent: World.Parent, source: string, inputs: Readonly<Record<string, Json>> = {}) =>
  Compose.run({
    source,
    tools: SubagentTools.make(parent),
    inputs: Object.entries(inputs).map(([name, value]) => ({ name, schema: true, value })),
    author: "person",
  })

describe("a program with the verbs", () => {
  it.live("S10 S11 S12 S13 starts, continues, branches, lists and closes children, and returns one value", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const value = yield* run(
        parent,
        `
first = subagent({ name: "Implementer", prompt: "inspect" })
second = prompt({ subagent: first, prompt: "propose" })
branch = fork({ subagent: second, name: "Alternative Reviewer", prompt: "explore" })
rows = after branch { return subagents({}) }
closed = after rows { return close({ id: branch.id }) }
return { main: second.output, alternative: branch.output, names: for row in rows { return row.name }, same: closed.id == branch.id, generation: branch.generation }
`,
      )
      expect(value).toEqual({
        main: "echo: propose",
        alternative: "echo: explore",
        names: ["Implementer", "Alternative Reviewer"],
        same: true,
        generation: 3,
      })
    }),
  )

  it.live("S19 starts independent children at once", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const meet = (mine: string, other: string) =>
        script({ touch: world.file(mine) }, { gate: world.file(other) }, { say: mine })
      const value = yield* run(parent, "a = subagent({ prompt: p })\nb = subagent({ prompt: q })\nreturn [a.output, b.output]", {
        p: meet("a", "b"),
        q: meet("b", "a"),
      })
      expect(value).toEqual(["a", "b"])
    }),
  )

  it.live("fails with the verb's own code and words, which a boundary can catch", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const error = yield* Effect.flip(run(parent, 'return subagent({ prompt: "x", harness: "acp.nobody" })'))
      expect(error).toMatchObject({ _tag: "RunFailed", code: "UNKNOWN_HARNESS", line: 1 })
      const caught = yield* run(
        parent,
        "return boundary { return subagent({ prompt: p }) } catch e { return [e.code, e.uncertain] }",
        {
          p: script({ exit: 1 }),
        },
      )
      expect(caught).toEqual(["LOST", true])
    }),
  )

  it.live("does not compile: every diagnostic with its place, and no child is started", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const error = yield* Effect.flip(run(parent, 'return subagnt({ prompt: "x" })'))
      expect(error).toMatchObject({ _tag: "NotCompiled", code: "COMPILE" })
      expect(error._tag === "NotCompiled" ? error.diagnostics[0] : undefined).toMatchObject({
        severity: "error",
        line: 1,
        candidates: expect.arrayContaining(["subagent"]),
      })
      expect(world.events()).toEqual([])
    }),
  )

  it.live("S150 ends with all its children settled when it is cancelled", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const wait = (name: string) => script({ touch: world.file(name) }, { awaitCancel: true })
      const program = yield* Effect.forkChild(
        run(parent, "a = subagent({ prompt: p })\nb = subagent({ prompt: q })\nreturn [a.output, b.output]", {
          p: wait("a"),
          q: wait("b"),
        }),
      )
      yield* appears(world.file("a"))
      yield* appears(world.file("b"))
      yield* Fiber.interrupt(program)
      expect(world.alive()).toEqual([])
      expect(world.received().filter((method) => method === "session/cancel")).toHaveLength(2)
      expect(yield* parent.subagents({})).toEqual([])
    }),
  )

  it.live("S63 knows nothing of an output's type", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const say = script({ say: '{"approved":true,"reason":"fine"}' })
      const source =
        'review = subagent({ prompt: p, output_schema: { type: "object" } })\nreturn { approved: review.output.approved, reason: review.output.reason }'
      expect(yield* run(parent, source, { p: say })).toEqual({ approved: true, reason: "fine" })
    }),
  )

  it.live("S61 goes on where a child says what no program can hold", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood: { sessionIds: ["one"] } } } })
      const parent = yield* world.open()
      const line = '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"one","update":'
      const tool = '{"sessionUpdate":"tool_call","toolCallId":"t","rawOutput":18446744073709551616}'
      const say = script({ line: `${line}${tool}}}` }, { say: '{"n":18446744073709551616}' })
      const source = "a = subagent({ prompt: p, output_schema: true })\nreturn { output: a.output, updates: a.updates }"
      expect(yield* run(parent, source, { p: say })).toEqual({
        output: '{"n":18446744073709551616}',
        updates: { items: [], truncated: true },
      })
    }),
  )

  it.live("retries a start that came to nothing, and only that", () =>
    Effect.gen(function* () {
      const world = yield* World.make({
        harnesses: { review: { mood: { on: { "session/new": { error: { code: -32603, message: "x" } } } } } },
      })
      const parent = yield* world.open()
      const error = yield* Effect.flip(
        run(parent, 'return boundary retry 2 { return subagent({ prompt: "x" }) } catch e { return fail(e.code, e.message) }'),
      )
      expect(error).toMatchObject({ code: "HANDSHAKE_FAILED" })
      expect(world.received().filter((method) => method === "initialize")).toHaveLength(3)
    }),
  )
})
