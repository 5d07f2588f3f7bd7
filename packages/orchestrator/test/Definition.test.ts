import * as Fs from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { failure, isObject, script, World } from "./support/World.ts"

const define = (world: World.World, name: string, source: string | Uint8Array, where = "home") => {
  Fs.mkdirSync(world.file(where, "agents"), { recursive: true })
  Fs.writeFileSync(world.file(where, "agents", `${name}.md`), source)
}

const prompts = (world: World.World, harness?: string) =>
  world
    .frames(harness)
    .filter((frame) => frame.dir === "in" && frame.message.method === "session/prompt")
    .map(({ message }) => (isObject(message.params) ? message.params.prompt : undefined))

describe("an agent definition", () => {
  it.live("K03 K13 is the project's own before that of the home", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      define(world, "reviewer", "Of the home.")
      define(world, "writer", "Of the home.")
      define(world, "reviewer", "Of the project.", "root")
      const parent = yield* world.open()
      for (const [agent, body] of [
        ["reviewer", "Of the project."],
        ["writer", "Of the home."],
      ] as const) {
        const child = yield* parent.subagent({ agent, prompt: "x" })
        expect((yield* parent.session.subagents.load(child.id)).prompt).toBe(body)
      }
      const unknown = yield* failure(parent.subagent({ agent: "reviewr", prompt: "x" }))
      expect(unknown.message).toContain('"reviewer"')
    }),
  )

  it.live("S10 K03 K13 gives defaults that the call overrides, and a system prompt before the first prompt only", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { other: {}, review: {} } })
      define(
        world,
        "reviewer",
        [
          "---",
          "description: Reviews",
          "harness: acp.review",
          "cwd: sub",
          "env:",
          "  REVIEW_MODE: strict",
          "  REVIEW_TOKEN: hunter2",
          "---",
          "You review code.",
        ].join("\n"),
      )
      Fs.mkdirSync(world.file("root", "sub"))
      const parent = yield* world.open()
      const child = yield* parent.subagent({ agent: "reviewer", prompt: script({ env: "REVIEW_MODE" }, { env: "REVIEW_TOKEN" }) })
      expect(child).toMatchObject({ name: "reviewer" })
      const second = yield* parent.prompt({ subagent: child, prompt: "more" })
      expect(prompts(world)).toEqual([
        [
          { type: "text", text: "You review code." },
          { type: "text", text: expect.any(String) },
        ],
        [{ type: "text", text: "more" }],
      ])
      expect(world.events()[0]).toMatchObject({ detail: { cwd: world.file("root", "sub") } })
      const loaded = yield* parent.session.subagents.load(child.id)
      expect(loaded.prompt).toBe("You review code.")
      expect(loaded.meta.spec).toMatchObject({
        name: "reviewer",
        description: "Reviews",
        definition: { path: world.file("home", "agents", "reviewer.md"), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
        env: { REVIEW_MODE: "strict" },
        secret_env: ["REVIEW_TOKEN"],
      })
      expect(JSON.stringify(loaded.meta)).not.toContain("hunter2")
      yield* parent.subagent({ agent: "reviewer", harness: "acp.other", name: "Mine", cwd: ".", prompt: "x" })
      expect(world.events("other")[0]).toMatchObject({ detail: { cwd: world.root } })
      yield* parent.end
      const missing = yield* world.open()
      const refused = yield* failure(missing.prompt({ subagent: second, prompt: "again" }))
      expect(refused.message).toContain("REVIEW_TOKEN")
      yield* missing.end
      const after = yield* world.open({ env: { REVIEW_TOKEN: "hunter2" } })
      const third = yield* after.prompt({ subagent: second, prompt: script({ env: "REVIEW_TOKEN" }) })
      expect(third).toMatchObject({ output: "hunter2", generation: 3 })
      expect(prompts(world).at(-1)).toHaveLength(1)
    }),
  )

  it.live("S10 is read before anything starts: unknown names and broken heads are refused", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      define(world, "reviewer", "---\nmodel\n---\n")
      const parent = yield* world.open()
      expect((yield* failure(parent.subagent({ agent: "reviwer", prompt: "x" }))).message).toBe(
        'unknown agent definition "reviwer"; did you mean "reviewer"?',
      )
      expect((yield* failure(parent.subagent({ agent: "reviewer", prompt: "x" }))).message).toContain("reviewer.md, line 2")
      define(world, "broken", Uint8Array.of(0x61, 0xff))
      expect((yield* failure(parent.subagent({ agent: "broken", prompt: "x" }))).message).toMatch(
        /^could not read agent definition .*broken\.md: it is not UTF-8: the byte at offset 1 belongs to no character$/,
      )
      for (const agent of ["../reviewer", "", "/etc/passwd"]) {
        expect((yield* failure(parent.subagent({ agent, prompt: "x" }))).code).toBe("INVALID_ARGUMENT")
      }
      expect(world.events()).toEqual([])
    }),
  )

  it.live("S10 refuses an unknown key of a head, with its line and the nearest that there is", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const file = world.file("home", "agents", "reviewer.md")
      const refusals: ReadonlyArray<readonly [string, string]> = [
        ["description: x\nharnes: acp.kit", 'line 3: unknown key "harnes"; did you mean "harness"?'],
        [
          "temperature: 1",
          'line 2: unknown key "temperature"; it takes description, harness, model, cwd, output_schema, env, secrets',
        ],
        ["__proto__: 1", 'line 2: unknown key "__proto__"; it takes description'],
        ["description: x\nenv: no", "line 3: env must be a map"],
      ]
      for (const [head, words] of refusals) {
        define(world, "reviewer", `---\n${head}\n---\nYou review.`)
        const error = yield* failure(parent.subagent({ agent: "reviewer", prompt: "x" }))
        expect(error.code).toBe("INVALID_ARGUMENT")
        expect(error.message).toContain(`agent definition ${file}, ${words}`)
      }
      expect(world.events()).toEqual([])
    }),
  )

  it.live("S10 names the definition where a value of it is refused, and only then", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const place = `agent definition ${world.file("home", "agents", "reviewer.md")}, line 3: `
      const values: ReadonlyArray<readonly [string, string, string]> = [
        ["cwd", "/nope", "INVALID_ARGUMENT"],
        ["harness", "acp.nope", "UNKNOWN_HARNESS"],
        ["output_schema", '{"type":"nope"}', "INVALID_ARGUMENT"],
      ]
      for (const [key, value, code] of values) {
        define(world, "reviewer", `---\ndescription: x\n${key}: ${value}\n---\nYou review.`)
        const defined = yield* failure(parent.subagent({ agent: "reviewer", prompt: "x" }))
        const given = key === "output_schema" ? { type: "nope" } : value
        const called = yield* failure(parent.subagent({ agent: "reviewer", prompt: "x", [key]: given }))
        expect(called.message).not.toContain("reviewer.md")
        expect(defined).toMatchObject({ code, message: `${place}${called.message}` })
      }
      expect(world.events()).toEqual([])
      define(world, "reviewer", "---\ndescription: x\nmodel: nope\n---\nYou review.")
      const defined = yield* failure(parent.subagent({ agent: "reviewer", prompt: "x" }))
      const called = yield* failure(parent.subagent({ agent: "reviewer", prompt: "x", model: "nope" }))
      expect(called.code).toBe("MODEL_REJECTED")
      expect(called.message).not.toContain("reviewer.md")
      expect(defined).toMatchObject({ code: "MODEL_REJECTED", message: `${place}${called.message}` })
    }),
  )

  it.live("K03 reaches acp.kit by an argument that names its prompt.txt, not by the prompt", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { kit: { isKit: true } } })
      define(world, "reviewer", "You review code.")
      const parent = yield* world.open()
      const child = yield* parent.subagent({ agent: "reviewer", prompt: "hi" })
      expect(prompts(world, "kit")).toEqual([[{ type: "text", text: "hi" }]])
      const args: ReadonlyArray<string> = world.events("kit")[0]?.detail.args
      const file = args[args.indexOf("--system-prompt-file") + 1]!
      expect(file).toBe(world.file("home", "sessions", parent.session.id, "subagents", child.id, "prompt.txt"))
      expect(Fs.readFileSync(file, "utf8")).toBe("You review code.")
    }),
  )
})
