import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { guide } from "../src/Guide.ts"
import { type Tool, ToolFailure } from "../src/Host.ts"
import { prelude } from "../src/Prelude.ts"
import { compile, json, render, run } from "../src/Runlet.ts"
import { compiled, failure, value } from "./Programs.ts"

const at = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8")

const string = { type: "string" } as const
const prices: { readonly [item: string]: number } = { pear: 4, fig: 3 }

/** The tools that the language guide names. */
const tools = (): ReadonlyArray<Tool> => {
  let charges = 0
  const of = (
    name: string,
    schema: Tool["output"],
    output: Tool["output"],
    policy: Tool["policy"],
    handler: Tool["handler"],
  ): Tool => ({
    name,
    summary: "",
    parameters: [{ name: "x", schema }],
    output,
    policy,
    schemaVersion: "1",
    handler,
  })
  return [
    of("shop.price", string, { type: "integer" }, "pure", ([item]) => {
      const price = prices[item as string]
      return price === undefined ? new ToolFailure({ code: "UNKNOWN_ITEM", message: `no ${item}` }) : Effect.succeed(price)
    }),
    of("shop.stock", string, { type: "integer" }, "pure", () => Effect.succeed(1)),
    of("mail.send", string, string, "at_most_once", ([text]) => Effect.succeed(`sent: ${text}`)),
    of("bank.charge", { type: "integer" }, string, "idempotent", ([amount]) =>
      charges++ === 0
        ? new ToolFailure({ code: "BUSY", message: "later", retryable: true })
        : Effect.succeed(`receipt for ${amount}`),
    ),
  ]
}

interface Example {
  readonly source: string
  readonly kind: string
  readonly expected: string
}

const examples = (text: string): ReadonlyArray<Example> =>
  [...text.matchAll(/```runlet\n([\s\S]*?)```\n\n```(json|error)\n([\s\S]*?)\n```/g)].map(([, source, kind, expected]) => ({
    source: source!,
    kind: kind!,
    expected: expected!,
  }))

describe("the language guide", () => {
  const text = at("docs/language.md")
  const found = examples(text)

  it("gives the outcome of every example", () => {
    expect(found.length).toBeGreaterThanOrEqual(12)
    expect(text.match(/```runlet/g)).toHaveLength(found.length)
  })

  for (const [index, { expected, kind, source }] of found.entries())
    it.effect(`example ${index + 1} comes to what the page says`, () =>
      Effect.gen(function* () {
        if (kind === "json") expect(yield* value(source, { tools: tools() })).toBe(expected)
        else expect((yield* failure(source, { tools: tools() })).code).toBe(expected)
      }),
    )

  it("names every function of the prelude with its parameters", () => {
    for (const { name, parameters } of prelude)
      expect(text).toMatch(new RegExp(`${name.replace(".", "\\.")}\\((?:[^)]*,){${parameters.length - 1}}[^,)]*\\)`))
  })
})

describe("the README", () => {
  const program = /```ts\n([\s\S]*?)```/.exec(at("packages/runlet/README.md"))![1]!

  it("embeds the language in 15 lines", () => {
    expect(
      program
        .trimEnd()
        .split("\n")
        .filter((line) => line !== "").length,
    ).toBeLessThanOrEqual(15)
  })

  it("has an example that prints what it says", async () => {
    const lines: Array<unknown> = []
    const body = program.replace(/^import .*$/gm, "").replace(" as const", "")
    const imports = {
      compile,
      json,
      render,
      run,
      Effect,
      console: { log: (line: unknown) => lines.push(line), error: (line: unknown) => lines.push(line) },
    }
    const AsyncFunction = (async () => undefined).constructor as new (
      ...args: ReadonlyArray<string>
    ) => (...args: ReadonlyArray<unknown>) => Promise<void>
    await new AsyncFunction(...Object.keys(imports), body)(...Object.values(imports))
    expect(lines).toEqual([{ total: 7 }])
  })
})

describe("the guide for models", () => {
  it("names every function of the prelude", () => {
    for (const { name } of prelude) expect(guide).toContain(name.split(".")[1]!)
  })

  it("holds only programs that compile", () => {
    const sources = [...guide.matchAll(/```runlet\n([\s\S]*?)```/g)].map(([, source]) => source!)
    expect(sources).toHaveLength(2)
    for (const source of sources) compiled(source)
  })

  it("stays within 1,200 tokens: it had 992 with 3,560 characters", () => {
    expect(guide.length).toBeLessThan(4_200)
  })
})
