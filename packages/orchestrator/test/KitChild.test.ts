import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { failure, World } from "./support/World.ts"

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const kit = path("../../../apps/kit-acp/src/main.ts")
const forkless = path("./support/forkless.ts")

const open = Effect.fnUntraced(function* (script: string, more: { readonly depth?: number } = {}) {
  const args = ["--conditions=@acp-kit/source", script, "acp", "--protocol-version", "2"]
  const world = yield* World.make({
    harnesses: { kit: { isKit: true, args } },
    inherited: { provider: "scripted" },
    ...more,
  })
  const settings = { env: { KIT_HOME: world.home } }
  return { world, settings, parent: yield* world.open(settings) }
})

const compose = (...lines: ReadonlyArray<string>) => `Do this.\n\`\`\`runlet\n${lines.join("\n")}\n\`\`\``

describe("a child that is Kit itself", () => {
  it.live(
    "S90 S104 runs programs, is continued, and is restored by its own persistent session",
    () =>
      Effect.gen(function* () {
        const { world, settings, parent } = yield* open(kit)
        const first = yield* parent.subagent({
          prompt: compose('found = shell({ command: "echo $PWD" })', "return found.stdout"),
        })
        expect(first.output).toBe(`${world.root}\n`)
        const second = yield* parent.prompt({ subagent: first, prompt: "hello" })
        expect(second).toMatchObject({ output: "echo: hello", generation: 2 })
        yield* parent.end
        const again = yield* world.open(settings)
        const [record] = yield* again.session.children
        expect(record?.acp_session_id).toBe(first.id)
        expect(yield* again.prompt({ subagent: second, prompt: "after" })).toMatchObject({ output: "echo: after", generation: 3 })
      }),
    60_000,
  )

  it.live(
    "S12 S130 K02 forks natively into a session of the branch's own id",
    () =>
      Effect.gen(function* () {
        const { parent } = yield* open(kit)
        const first = yield* parent.subagent({ prompt: "hello" })
        const branch = yield* parent.fork({ subagent: first, prompt: "branch" })
        expect(branch).toMatchObject({ output: "echo: branch", generation: 2 })
        const record = (yield* parent.session.children).find((child) => child.id === branch.id)
        expect(record?.acp_session_id).toBe(branch.id)
      }),
    60_000,
  )

  it.live(
    "S125 S131 S170 is forked by a copy of its completed transcript where it does not advertise it, into a process of its own",
    () =>
      Effect.gen(function* () {
        const { world, settings, parent } = yield* open(forkless)
        const first = yield* parent.subagent({ prompt: "one", name: "Main" })
        const branch = yield* parent.fork({ subagent: first, prompt: "two", name: "Other" })
        expect(branch).toMatchObject({ name: "Other", output: "echo: two", generation: 2 })
        expect(yield* parent.prompt({ subagent: first, prompt: "three" })).toMatchObject({ output: "echo: three", generation: 2 })
        const log = yield* parent.session.subagents.tail(branch.id, 1_000)
        expect(JSON.stringify(log.map((entry) => entry.body))).not.toContain("session/fork")
        yield* parent.close(first)
        expect(yield* parent.prompt({ subagent: branch, prompt: "four" })).toMatchObject({ output: "echo: four", generation: 3 })
        yield* parent.end
        const again = yield* world.open(settings)
        expect(yield* again.prompt({ subagent: { id: branch.id, generation: 3 }, prompt: "five" })).toMatchObject({
          generation: 4,
        })
        const items = yield* world.transcript(branch.id)
        expect(items.filter((item) => item.type === "prompt").map((item) => item.content[0].text)).toEqual([
          "one",
          "two",
          "four",
          "five",
        ])
        expect(items.filter((item) => item.type === "answer").map((item) => item.text)).toEqual([
          "echo: one",
          "echo: two",
          "echo: four",
          "echo: five",
        ])
      }),
    60_000,
  )

  it.live(
    "S91 S160 hands on its depth: a grandchild works, a great-grandchild is refused",
    () =>
      Effect.gen(function* () {
        const { parent } = yield* open(kit)
        const inner = ['child = subagent({ prompt: "leaf" })', "return child.output"]
        const value = yield* parent.subagent({ prompt: compose(...inner) })
        expect(value.output).toBe("echo: leaf")
        const deepest = yield* open(kit, { depth: 1 })
        const refused = yield* deepest.parent.subagent({ prompt: compose(...inner) })
        expect(refused.output).toContain("subagent depth limit (2) reached")
        const none = yield* open(kit, { depth: 2 })
        expect((yield* failure(none.parent.subagent({ prompt: "x" }))).code).toBe("DEPTH_LIMIT")
      }),
    60_000,
  )
})
