import { Compose } from "@acp-kit/orchestrator/Compose"
import { SubagentTools } from "@acp-kit/orchestrator/SubagentTools"
import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { failure, isObject, World } from "./support/World.ts"

const text = { type: "text", text: "x" }
const link = {
  type: "resource_link",
  uri: "file:///nowhere/at/all",
  name: "n",
  description: "d",
  _meta: { a: [null] },
  size: 5,
  more: { b: 1 },
}
const resource = {
  type: "resource",
  resource: { uri: "u", mimeType: "text/plain", text: "t", _meta: {} },
  annotations: { priority: 0.5 },
}
const image = { type: "image", data: "AAAA", mimeType: "image/png", uri: "u" }

const prompts = (world: World.World, harness?: string): ReadonlyArray<Json> =>
  world
    .frames(harness)
    .filter((frame) => frame.dir === "in" && frame.message.method === "session/prompt")
    .map((frame) => (isObject(frame.message.params) ? frame.message.params.prompt : undefined) ?? null)

describe.each([1, 2] as const)("prompt content for v%i", (version) => {
  const mood = { versions: [version] }

  it.live("S01 S02 S03 S04 S05 passes blocks in their order, unknown fields and all", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood } } })
      const parent = yield* world.open()
      const blocks = [link, text, resource, image, { ...text, _meta: { kept: true }, annotations: null }]
      const child = yield* parent.subagent({ prompt: blocks })
      yield* parent.prompt({ subagent: child, prompt: "plain" })
      expect(prompts(world)).toEqual([blocks, [{ type: "text", text: "plain" }]])
    }),
  )

  it.live("S03 S04 S05 refuses what this child cannot take, before anything changes", () =>
    Effect.gen(function* () {
      const world = yield* World.make({
        harnesses: { review: { mood: { ...mood, capabilities: { image: false, embeddedContext: false } } } },
      })
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      for (const [block, capability] of [
        [image, "image"],
        [resource, "embeddedContext"],
      ] as const) {
        const error = yield* failure(parent.prompt({ subagent: child, prompt: [text, block] }))
        expect(error).toMatchObject({
          code: "UNSUPPORTED_CONTENT",
          message: `ACP child does not advertise promptCapabilities.${capability}; prompt was not sent`,
        })
        expect((yield* failure(parent.fork({ subagent: child, prompt: [block] }))).code).toBe("UNSUPPORTED_CONTENT")
        expect((yield* failure(parent.subagent({ prompt: [block] }))).code).toBe("UNSUPPORTED_CONTENT")
      }
      expect(yield* parent.subagents({})).toMatchObject([{ id: child.id, status: "idle", task: "hi" }])
      expect((yield* parent.prompt({ subagent: child, prompt: "on" })).generation).toBe(2)
      expect(world.received().filter((method) => method === "session/fork")).toEqual([])
    }),
  )

  it.live("S05 refuses a prompt that needs too large a message, before anything starts or changes", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood } }, limits: { lineBytes: 65_536 } })
      const parent = yield* world.open()
      const refused = {
        code: "UNSUPPORTED_CONTENT",
        retryable: false,
        message: "the message that holds the child prompt is larger than 65536 bytes; it was not sent",
      }
      for (const prompt of ["x".repeat(66_000), [{ type: "text", text: "ä".repeat(33_000) }]])
        expect(yield* failure(parent.subagent({ prompt }))).toMatchObject(refused)
      expect(world.events()).toEqual([])
      const child = yield* parent.subagent({ prompt: "hi" })
      expect(yield* failure(parent.prompt({ subagent: child, prompt: "x".repeat(66_000) }))).toMatchObject(refused)
      const output_schema = { type: "object", description: "x".repeat(40_000) }
      expect(yield* failure(parent.prompt({ subagent: child, prompt: "x".repeat(30_000), output_schema }))).toMatchObject(refused)
      expect(yield* parent.prompt({ subagent: child, prompt: "on" })).toMatchObject({ generation: 2 })
      expect(prompts(world)).toHaveLength(2)
    }),
  )

  it.live("S06 puts the JSON instructions into one more text block after the given ones", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood } } })
      const parent = yield* world.open()
      yield* parent.subagent({ prompt: [link, text], output_schema: { type: "object" } })
      const [sent] = prompts(world)
      expect(sent).toEqual([link, text, { type: "text", text: expect.stringContaining('{"type":"object"}') }])
    }),
  )
})

describe("prompt content", () => {
  it.live("S01 S05 S08 refuses what no child can take without starting one", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const file = { $kit: "file", version: 1, id: `file_${"0".repeat(64)}`, path: "a.png", mime_type: "image/png" }
      const refused: ReadonlyArray<readonly [Json, string]> = [
        [null, "INVALID_ARGUMENT"],
        [5, "INVALID_ARGUMENT"],
        [true, "INVALID_ARGUMENT"],
        [{}, "INVALID_ARGUMENT"],
        [text, "INVALID_ARGUMENT"],
        [[], "INVALID_ARGUMENT"],
        [["bare"], "UNSUPPORTED_CONTENT"],
        [[text, "bare"], "UNSUPPORTED_CONTENT"],
        [[null], "UNSUPPORTED_CONTENT"],
        [[{ type: "audio", data: "", mimeType: "audio/wav" }], "UNSUPPORTED_CONTENT"],
        [[{ type: "txt", text: "x" }], "UNSUPPORTED_CONTENT"],
        [[{ type: "text", txt: "x" }], "UNSUPPORTED_CONTENT"],
        [[{ type: "text", text: 5 }], "UNSUPPORTED_CONTENT"],
        [file, "UNSUPPORTED_CONTENT"],
        [[text, file], "UNSUPPORTED_CONTENT"],
        [[{ type: "image", data: file, mimeType: "image/png" }], "UNSUPPORTED_CONTENT"],
      ]
      for (const [prompt, code] of refused) {
        expect([prompt, (yield* failure(parent.subagent({ prompt }))).code]).toEqual([prompt, code])
      }
      expect(world.events()).toEqual([])
    }),
  )

  it.live("S07 makes the task of text blocks only", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      yield* parent.subagent({ prompt: [image, { type: "text", text: " look\n at " }, resource, { type: "text", text: "this" }] })
      yield* parent.subagent({ prompt: [image] })
      yield* parent.subagent({ prompt: "w".repeat(200) })
      expect((yield* parent.roster).map((row) => row.task)).toEqual(["look at this", "Untitled task", `${"w".repeat(95)}…`])
    }),
  )
})

describe("structured output", () => {
  it.live("S60 S61 S62 validates before dispatch, and returns JSON only where the whole answer is it", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const say = (answer: string) => JSON.stringify({ script: [{ say: answer }] })
      const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false }
      let child = yield* parent.subagent({ prompt: say(' {"n": 12345678901234567890} \n'), output_schema: schema })
      expect(child).toMatchObject({ output: { n: 12345678901234567890n }, generation: 1 })
      const answers: ReadonlyArray<readonly [string, Json, Json]> = [
        ["not json", schema, "not json"],
        ['```json\n{"n":1}\n```', schema, '```json\n{"n":1}\n```'],
        ['{"n":"1"}', schema, '{"n":"1"}'],
        [' {"m":1} ', schema, ' {"m":1} '],
        ['"text"', { type: "string" }, "text"],
        ["[1]", true, [1]],
        ["1", false, "1"],
      ]
      for (const [answer, output_schema, output] of answers) {
        const generation = child.generation + 1
        child = yield* parent.prompt({ subagent: child, prompt: say(answer), output_schema })
        expect(child).toMatchObject({ output, generation })
      }
      const sent = prompts(world).length
      for (const bad of [null, "object", 5, [], [schema]]) {
        const error = yield* failure(parent.prompt({ subagent: child, prompt: "x", output_schema: bad }))
        expect(error).toMatchObject({
          code: "INVALID_ARGUMENT",
          message: "output_schema must be a JSON Schema object or boolean",
        })
      }
      const invalid = yield* failure(parent.prompt({ subagent: child, prompt: "x", output_schema: { type: "objekt" } }))
      expect(invalid.message).toMatch(/^invalid output_schema: /)
      expect(prompts(world)).toHaveLength(sent)
    }),
  )
})

const json: Arbitrary.Arbitrary<Json> = Arbitrary.map(Arbitrary.schema(Schema.Json), (value) => value as Json)
const block: Arbitrary.Arbitrary<Json> = Arbitrary.map(
  Arbitrary.schema(
    Schema.Struct({
      kind: Schema.Literals(["text", "resource_link", "resource", "image", "audio", "text"]),
      words: Schema.String,
      more: Schema.Record(Schema.String, Schema.Json),
    }),
  ),
  ({ kind, words, more }): Json => {
    const fields: Record<string, JsonObject> = {
      text: { text: words },
      resource_link: { uri: words, name: words },
      resource: { resource: { ...(more as JsonObject), uri: words, text: words } },
      image: { data: words, mimeType: words },
      audio: { data: words, mimeType: words },
    }
    const { resource: _, blob: __, ...rest } = more as JsonObject
    return { ...rest, type: kind, ...fields[kind] }
  },
)
const anyPrompt = Arbitrary.map(
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 }))),
  (choice) => choice,
)
const promptValue: Arbitrary.Arbitrary<Json> = Arbitrary.flatMap(anyPrompt, (choice) =>
  choice === 0
    ? json
    : choice === 1
      ? Arbitrary.map(Arbitrary.array(block, { maxLength: 4 }), (blocks): Json => blocks)
      : Arbitrary.map(Arbitrary.schema(Schema.String), (words): Json => words),
)
const schemaValue: Arbitrary.Arbitrary<Json> = Arbitrary.flatMap(anyPrompt, (choice) =>
  choice === 0
    ? json
    : Arbitrary.map(
        Arbitrary.schema(Schema.Struct({ title: Schema.String, enum: Schema.Array(Schema.Json), default: Schema.Json })),
        (fields): Json => fields as unknown as Json,
      ),
)

/** What a sent prompt must be, for what a program passed. */
const expected = (prompt: Json): Json => (typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt)

/** JSON has one zero. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const schemaIn = (block: Json | undefined): Json | undefined => {
  const words = isObject(block) && typeof block.text === "string" ? block.text : ""
  return JSON.parse(words.slice(words.lastIndexOf("\n") + 1))
}

describe("the border of the language", () => {
  it.live("S60 S61 keeps the integers of a schema and of an answer exact, from the text of a program and back to its value", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const say = (answer: string) => JSON.stringify(JSON.stringify({ script: [{ say: answer }] }))
      const schema = "{ enum: [9007199254740993], maximum: 9223372036854775807 }"
      const turns = ["9007199254740993", "9007199254740992", "9007199254740994"].map(
        (answer, at) => `a${at} = subagent({ prompt: ${say(answer)}, output_schema: ${schema} }).output`,
      )
      const source = `${turns.join("\n")}\nreturn [a0, a1, a2]`
      const value = yield* Compose.run({ source, tools: SubagentTools.make(parent), author: "person" })
      expect(value).toEqual([9007199254740993n, "9007199254740992", "9007199254740994"])
      const texts = prompts(world).map((blocks) => ((blocks as ReadonlyArray<Json>).at(-1) as { text: string }).text)
      expect(texts).toHaveLength(3)
      for (const text of texts) expect(text).toContain('{"enum":[9007199254740993],"maximum":9223372036854775807}')
    }),
  )

  it.live("either sends exactly the prompt and schema that a program passes, or nothing (decision 18)", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      let child = yield* parent.subagent({ prompt: "hi" })
      const tools = SubagentTools.make(parent)
      let sent = 1
      const samples = yield* Effect.orDie(
        Arbitrary.sampleEffect(
          Arbitrary.flatMap(promptValue, (prompt) => Arbitrary.map(schemaValue, (schema) => ({ prompt, schema }))),
          { count: 200 },
        ),
      )
      for (const { prompt, schema } of samples) {
        const value = yield* Effect.result(
          Compose.run({
            source: "return prompt({ subagent: child, prompt: words, output_schema: schema })",
            tools,
            inputs: [
              { name: "child", schema: true, value: child },
              { name: "words", schema: true, value: prompt },
              { name: "schema", schema: true, value: schema },
            ],
            author: "person",
          }),
        )
        const all = prompts(world)
        if (Result.isFailure(value)) expect({ prompt, schema, sent: all.length }).toEqual({ prompt, schema, sent })
        else {
          child = value.success as typeof child
          sent++
          expect(all).toHaveLength(sent)
          const blocks = all.at(-1) as ReadonlyArray<Json>
          expect(plain({ prompt: blocks.slice(0, -1), schema: schemaIn(blocks.at(-1)) })).toEqual(
            plain({ prompt: expected(prompt), schema }),
          )
        }
      }
      expect(sent).toBeGreaterThan(20)
    }),
  )
})
