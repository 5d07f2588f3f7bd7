import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
  await kit.configure('[subagent]\nharness = "acp.demo"')
})
afterEach(() => kit.dispose())

/** An agent that answers a prompt with what stands behind `say:` in it. */
const says = (texts: Readonly<Record<string, string>>) => ({
  replies: Object.entries(texts).map(([match, say]) => ({ match, script: [{ say }] })),
})

describe("output_schema", () => {
  it("S60 refuses null and what is no schema before anything is sent, and takes objects and booleans", async () => {
    const agent = await kit.agent("demo", says({ x: "1" }))
    const value = await kit.value(`
bad = for schema in [null, 1, "{}", [], { type: "strnig" }, { "$ref": "https://example.com/x" }] {
  return boundary { return subagent({ prompt: "x", output_schema: schema }).output } catch e { return [e.code, e.message] }
}
good = for schema in [true, {}, { type: "integer" }] { return subagent({ prompt: "x", output_schema: schema }).output }
return { bad, good }`)
    for (const [code] of value.bad) expect(code).toBe("INVALID_ARGUMENT")
    for (const [, message] of value.bad.slice(0, 4))
      expect(message).toContain("output_schema must be a JSON Schema object or boolean")
    expect(value.good).toEqual([1, 1, 1])
    expect(agent.recording.pids).toHaveLength(3)
  })

  it("S61 makes a bare answer that validates the output; anything else stays text, and the turn counts", async () => {
    const answers = {
      bare: ' {"n": 9007199254740993}\n',
      fenced: '```json\n{"n":1}\n```',
      malformed: '{"n":1',
      mismatch: '{"n":"one"}',
      prose: 'Here it is: {"n":1}',
    }
    await kit.agent("demo", says(answers))
    const program = `
schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] }
return for kind in ${JSON.stringify(Object.keys(answers))} {
  first = subagent({ prompt: kind, output_schema: schema })
  return { kind, output: first.output, next: prompt({ subagent: first, prompt: "bare" }).generation }
}`
    const { out } = await kit.compose(program)
    expect(out).toContain('"output":{"n":9007199254740993}')
    const [, ...rest] = JSON.parse(out)
    expect(rest).toEqual(
      Object.entries(answers)
        .slice(1)
        .map(([kind, output]) => ({ kind, output, next: 2 })),
    )
  })

  it("S62 S06 lets each later prompt carry another schema, and sends the instructions as one more text block", async () => {
    const agent = await kit.agent("demo", says({ "^one": "[1]", "^two": '"x"', "^three": "[1]" }))
    const value = await kit.value(`
a = subagent({ prompt: [{ type: "text", text: "one" }], output_schema: { type: "array" } })
b = prompt({ subagent: a, prompt: "two", output_schema: { type: "string" } })
c = prompt({ subagent: b, prompt: "three" })
return [a.output, b.output, c.output]`)
    expect(value).toEqual([[1], "x", "[1]"])
    const [first, second, third] = kit.prompts(agent)
    expect(first).toEqual(["one", expect.stringContaining('{"type":"array"}')])
    expect(second).toEqual(["two", expect.stringContaining('{"type":"string"}')])
    expect(third).toEqual(["three"])
  })

  it("S63 leaves output dynamic in Runlet: whatever came can be projected, and fails where it is not there", async () => {
    await kit.agent("demo", says({ list: '[{"n":1},{"n":2}]', text: "no JSON" }))
    const value = await kit.value(`
rows = subagent({ prompt: "list", output_schema: { type: "array" } }).output
prose = subagent({ prompt: "text", output_schema: { type: "array" } }).output
return { sum: rows[0].n + rows[1].n, missing: boundary { return prose.n } catch e { return e.code } }`)
    expect(value).toEqual({ sum: 3, missing: expect.stringMatching(/^RL52/) })
  })
})

describe("the language border", () => {
  /** A small generator of JSON values with everything that conversions get wrong. */
  const values = (count: number, seed: number): ReadonlyArray<unknown> => {
    let state = seed
    const random = (below: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
    const scalars = [null, true, false, 0, -1, 1.5, 1e300, "", "text", "null", "1", "é\u0000\u2028", "{}", 9007199254740991]
    const make = (depth: number): unknown => {
      const kind = random(depth > 2 ? 1 : 4)
      if (kind <= 1) return scalars[random(scalars.length)]
      if (kind === 2) return Array.from({ length: random(4) }, () => make(depth + 1))
      return Object.fromEntries(
        Array.from({ length: random(4) }, (_, index) => [["type", "text", "a", "b"][index], make(depth + 1)]),
      )
    }
    return Array.from({ length: count }, () => make(0))
  }

  const blocks: ReadonlyArray<unknown> = [
    [{ type: "text", text: "" }],
    [
      {
        type: "text",
        text: "x",
        annotations: { priority: 1, audience: null },
        _meta: { deep: [null, { a: null }] },
        unknown: null,
      },
    ],
    [{ type: "resource_link", uri: "file:///none", name: "n", description: null, size: 5 }],
    [{ type: "image", data: "aGk=", mimeType: "image/png", uri: null }],
    [{ type: "resource", resource: { uri: "a:b", text: "t", mimeType: null } }],
  ]

  it("sends random prompts exactly as the program made them, or sends nothing", async () => {
    const agent = await kit.agent("demo", { reply: [{ say: "ok" }] })
    const prompts = [...blocks, ...values(60, 7)]
    const value = await kit.value(
      `return for each in prompts { return boundary { return subagent({ prompt: each }).output } catch e { return e.code } }`,
      "--input",
      `prompts=${JSON.stringify(prompts)}`,
    )
    const accepted = prompts.filter((_, index) => value[index] === "ok")
    expect(new Set(value)).toEqual(new Set(["ok", "INVALID_ARGUMENT", "UNSUPPORTED_CONTENT"]))
    expect(accepted.length).toBeGreaterThanOrEqual(blocks.length)
    const expected = accepted.map((prompt) => (typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt))
    const sent = agent.recording.params("session/prompt").map(({ prompt }) => prompt)
    const sorted = (list: ReadonlyArray<unknown>) => list.map((each) => JSON.stringify(each, sortKeys)).sort()
    expect(sorted(sent)).toEqual(sorted(expected))
  })

  it("sends random schemas exactly as the program made them, or sends nothing", async () => {
    const agent = await kit.agent("demo", { reply: [{ say: "ok" }] })
    const schemas = [true, false, {}, { type: "object", properties: { a: { const: null } }, default: null }, ...values(40, 11)]
    const value = await kit.value(
      `return for each in schemas { return boundary { return subagent({ prompt: "p", output_schema: each }).output } catch e { return e.code } }`,
      "--input",
      `schemas=${JSON.stringify(schemas)}`,
    )
    const accepted = schemas.filter((_, index) => value[index] === "ok")
    expect(accepted.length).toBeGreaterThan(4)
    const sent = kit.prompts(agent).map(([, instructions]) => String(instructions))
    const received = sent.map((instructions) => JSON.parse(instructions.slice(instructions.lastIndexOf("\n") + 1)))
    const sorted = (list: ReadonlyArray<unknown>) => list.map((each) => JSON.stringify(each, sortKeys)).sort()
    expect(sorted(received)).toEqual(sorted(accepted))
  })
})

/** Objects with their keys in order, so that equal values have equal texts. */
function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
}
