import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { codes, failure, refused, value } from "./Programs.ts"
import { Stage } from "./Scripted.ts"

describe("limits, each with its code", () => {
  it.effect("counts that are no numbers allow one at a time, and do not hang", () =>
    Effect.gen(function* () {
      const limits = { loopConcurrency: Number.NaN, dispatchLimit: Number.NaN }
      const stage = new Stage()
      const tools = [stage.tool({ name: "t.a", params: [true], impl: { sleepMs: 1, echo: 0 } })]
      expect(yield* value("return for i in [1, 2] { return t.a(i) }", { tools, limits })).toBe("[1,2]")
      expect(stage.maxActive).toBe(1)
    }),
  )

  it.effect("RL4105 nodes of the graph", () =>
    Effect.map(failure("return for i in list.range(0, 50) { return i + 1 }", { limits: { graphNodes: 60 } }), (error) =>
      expect(error).toMatchObject({ code: "RL4105", message: "execution graph exceeded the host limit of 60 nodes" }),
    ),
  )

  it.effect("RL4106 nested evaluations, forced names included", () =>
    Effect.gen(function* () {
      const chain = (length: number) =>
        `a0 = 1\n${Array.from({ length }, (_, at) => `a${at + 1} = a${at} + 1`).join("\n")}\nreturn a${length}`
      expect(yield* value(chain(200))).toBe("201")
      expect(yield* failure(chain(600))).toMatchObject({ code: "RL4106", line: expect.any(Number), column: expect.any(Number) })
      const names = `a0 = 1\n${Array.from({ length: 40 }, (_, at) => `a${at + 1} = a${at}`).join("\n")}\n_ = a40\nreturn a40`
      for (const source of [names, chain(40)])
        for (let evaluationDepth = 1; evaluationDepth < 40; evaluationDepth++) {
          const error = yield* failure(source, { limits: { evaluationDepth } })
          expect(error).toMatchObject({ code: "RL4106", line: expect.any(Number), column: expect.any(Number) })
        }
    }),
  )

  it.effect("a long chain of bindings that wait for tools neither overflows the stack nor loses its value", () =>
    Effect.gen(function* () {
      const stage = new Stage()
      const tools = [stage.tool({ name: "p.a", params: [true], impl: { sleepMs: 1, echo: 0 } })]
      const source = `a0 = p.a(1)\n${Array.from({ length: 240 }, (_, at) => `a${at + 1} = p.a(a${at})`).join("\n")}\nreturn a240`
      expect(yield* value(source, { tools })).toBe("1")
    }),
  )

  it("RL4108 bytes of source", () => {
    expect(refused(`return "${"é".repeat(60)}"`, { limits: { sourceBytes: 100 } })[0]).toMatchObject({
      code: "RL4108",
      severity: "error",
    })
    expect(codes("x".repeat(2_000_000))).toEqual(["RL4108"])
  })

  it.effect("RL4109 calls of tools, not of the prelude", () =>
    Effect.gen(function* () {
      const stage = new Stage()
      const tools = [stage.tool({ name: "p.a", params: [true], impl: { echo: 0 } })]
      const source = 'return for i in [1, 2, 3] { return p.a(text.upper("a")) }'
      expect(yield* value(source, { tools, limits: { calls: 3 } })).toBe('["A","A","A"]')
      expect((yield* failure(source, { tools, limits: { calls: 2 } })).code).toBe("RL4109")
      expect(stage.calls.get("p.a")).toHaveLength(5)
    }),
  )

  it.effect("RL4110 time on the clock, which interrupts what runs", () =>
    Effect.gen(function* () {
      const stage = new Stage()
      const tools = [stage.tool({ name: "p.a", impl: { sleepMs: 500, return: 1 } })]
      expect((yield* failure("return p.a()", { tools, limits: { wallMs: 100 } })).code).toBe("RL4110")
      expect(stage).toMatchObject({ interrupted: 1, active: 0 })
    }),
  )

  it.live("RL4110 time of a computation that never waits", () =>
    Effect.gen(function* () {
      const { compiled } = yield* Effect.promise(() => import("./Programs.ts"))
      const { run } = yield* Effect.promise(() => import("../src/Runlet.ts"))
      const program = compiled("return for i in list.range(0, 60000) { return for j in list.range(0, 60000) { return i * j } }")
      const error = yield* Effect.flip(run(program, { limits: { graphNodes: 1e15, wallMs: 30 } }))
      expect(error.code).toBe("RL4110")
    }),
  )

  it.effect("RL4111 size and nesting of a value, however it is built", () =>
    Effect.gen(function* () {
      const limits = { valueBytes: 100_000 }
      const growing = [
        'fold a = "ab" for i in list.range(0, 99) { return a + a }',
        "fold a = [1] for i in list.range(0, 99) { return a + a }",
        'fold a = "aa" for i in list.range(0, 99) { return text.replace(a, "a", a) }',
        'fold a = "aa" for i in list.range(0, 99) { return regex.replace(a, "a", a) }',
        'fold a = "aa" for i in list.range(0, 99) { return text.join([a, a], a) }',
        'fold a = json.parse("[]") for i in list.range(0, 99) { return [a, a] }',
        'fold a = json.parse("{}") for i in list.range(0, 99) { return { a: a, b: a } }',
        'fold a = json.parse("1") for i in list.range(0, 2000) { return [a] }',
        'for i in list.range(0, 60000) { return "abcdefgh" }',
      ]
      for (const source of growing) expect((yield* failure(`return ${source}`, { limits })).code, source).toBe("RL4111")
    }),
  )

  it.effect("RL4112 bytes of what the program returns", () =>
    Effect.gen(function* () {
      expect((yield* failure('return "éééééé"', { limits: { outputBytes: 10 } })).code).toBe("RL4112")
      expect(yield* value('return "éééé"', { limits: { outputBytes: 10 } })).toBe('"éééé"')
    }),
  )

  it.effect("RL5207 a value nested deeper than can be presented", () =>
    Effect.map(failure('return fold a = json.parse("1") for i in list.range(0, 300) { return [a] }'), (error) =>
      expect(error.code).toBe("RL5207"),
    ),
  )
})
