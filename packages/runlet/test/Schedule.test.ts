import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import type { Policy } from "../src/Host.ts"
import { run } from "../src/Runlet.ts"
import { compiled, failure, value } from "./Programs.ts"
import { type Script, type ScriptedTool, Stage } from "./Scripted.ts"

/** A stage with one tool per name; `w.` writes at most once, everything else is pure. */
const staged = (scripts: { readonly [name: string]: Script & { readonly args?: number } }) => {
  const stage = new Stage()
  const tools = Object.entries(scripts).map(([name, { args = 0, ...impl }]) => {
    const policy: Policy = name.startsWith("w.") ? "at_most_once" : "pure"
    const tool: ScriptedTool = { name, params: Array(args).fill(true), policy, impl }
    return stage.tool(tool)
  })
  return { stage, tools, options: { tools } }
}

describe("what overlaps", () => {
  it.effect("independent effect roots start together, each once however often it is read", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({ "w.a": { sleepMs: 5, return: 1 }, "w.b": { sleepMs: 5, return: 2 } })
      expect(yield* value("a = w.a()\nb = w.b()\nreturn [a, b, a, b]", options)).toBe("[1,2,1,2]")
      expect(stage.maxActive).toBe(2)
      expect(stage.order).toEqual(["w.a", "w.b"])
    }),
  )

  it.effect("pure calls in one expression start together: lists, objects, arguments, operators, indexes, merges", () =>
    Effect.gen(function* () {
      for (const expression of [
        "[p.a(), p.b()]",
        "{ a: p.a(), b: p.b() }",
        "p.two(p.a(), p.b())",
        "p.a() + p.b()",
        "[1, 2, 3][p.a() - p.b() + 1]",
        "{ a: p.a() } + { b: p.b() }",
      ]) {
        const { options, stage } = staged({
          "p.a": { sleepMs: 5, return: 1 },
          "p.b": { sleepMs: 5, return: 2 },
          "p.two": { args: 2, echo: 0 },
        })
        yield* value(`return ${expression}`, options)
        expect(stage.maxActive, expression).toBe(2)
      }
    }),
  )

  it.effect("effects in one expression keep source order, and wait for what stands before them", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({
        "w.a": { sleepMs: 5, return: 1 },
        "w.b": { sleepMs: 1, return: 2 },
        "p.c": { sleepMs: 3, return: 3 },
      })
      expect(yield* value("return [w.a(), p.c(), w.b(), p.c()]", options)).toBe("[1,3,2,3]")
      expect(stage.order).toEqual(["w.a", "p.c", "p.c", "w.b"])
    }),
  )

  it.effect("concurrent readers join one evaluation of a pure binding", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({ "p.a": { sleepMs: 5, return: 7 }, "p.b": { args: 1, sleepMs: 1, echo: 0 } })
      expect(yield* value("x = p.a()\nreturn for i in [1, 2, 3] { return p.b(x) }", options)).toBe("[7,7,7]")
      expect(stage.calls.get("p.a")).toHaveLength(1)
    }),
  )
})

describe("what runs at all", () => {
  it.effect("a root runs though only an untaken branch reads it; a pure binding nobody needs does not", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({ "w.a": { return: 1 }, "p.b": { return: 2 } })
      expect(yield* value("a = w.a()\nb = p.b()\nreturn a + b if false else 0", options)).toBe("0")
      expect(stage.order).toEqual(["w.a"])
    }),
  )

  it.effect("roots in a loop body run once per iteration, in a branch only when it is taken", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({ "w.a": { args: 1, return: 1 } })
      yield* value("return for i in [1, 2, 3] { x = if i == 2 { y = w.a(i); return 1 } else { return 0 }; return x }", options)
      expect(stage.calls.get("w.a")).toEqual([[2]])
    }),
  )

  it.effect("a fold's seed, and a `fail` in a branch, make their binding a root", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({ "w.a": { return: 1 } })
      yield* value("x = fold acc = w.a() for i in [] { return acc }\nreturn 2", options)
      expect(stage.order).toEqual(["w.a"])
      expect((yield* failure('g = fail("STOP", "now") if 1 < 2\nreturn 1')).code).toBe("STOP")
    }),
  )

  it.effect("a guard lets the effects before it happen and none after it", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({ "w.a": { sleepMs: 3, return: 1 }, "w.b": { return: 2 } })
      const error = yield* failure('a = w.a()\nassert(false, "no")\nb = w.b()\nreturn b', options)
      expect(error).toMatchObject({ code: "ASSERTION_FAILED", message: "no", span: { start: 10, end: 29 } })
      expect(stage.order).toEqual(["w.a"])
    }),
  )

  it.effect("the message of an assert is evaluated only when it fails, and has to be a string", () =>
    Effect.gen(function* () {
      expect(yield* value('assert(true, 1 / 0 + "")\nreturn 1')).toBe("1")
      const error = yield* failure('assert(false, json.parse("1"))\nreturn 1')
      expect(error.code).toBe("RL5201")
    }),
  )

  it.effect("a `skip` in a branch or a gate ends the iteration of the nearest loop", () =>
    Effect.gen(function* () {
      expect(yield* value("return for i in [1, 2, 3] { x = if i == 2 { skip; return 0 } else { return i }; return x }")).toBe(
        "[1,3]",
      )
      expect(yield* value("return for i in [1, 2, 3] { x = after i { skip if i > 1; return i }; return x }")).toBe("[1]")
      expect(yield* value("return for i in [1, 2] { return for j in [1, 2] { skip if i == j; return i * 10 + j } }")).toBe(
        "[[12],[21]]",
      )
      const { options } = staged({ "p.a": { args: 1, sleepMs: 1, echo: 0 } })
      expect(yield* value("return for i in [1, 2, 3] { skip if p.a(i) == 2; return i }", options)).toBe("[1,3]")
      expect(yield* value("return fold a = 0 for i in [1, 2, 3] { skip if p.a(i) == 2; return a + i }", options)).toBe("4")
    }),
  )
})

describe("after", () => {
  it.effect("starts the calls of its block only when the gate has passed", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({
        "w.a": { sleepMs: 5, setFlag: "a", return: 1 },
        "w.b": { requireFlags: ["a"], return: 2 },
      })
      expect(yield* value("a = w.a()\nb = after a { x = for i in [1, 2] { return w.b() }; return x }\nreturn b", options)).toBe(
        "[2,2]",
      )
      expect(stage.order).toEqual(["w.a", "w.b", "w.b"])
    }),
  )

  it.effect("never starts its block when the gate fails", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({ "w.a": { fail: { code: "NO" } }, "w.b": { return: 2 } })
      expect((yield* failure("b = after w.a() { return w.b() }\nreturn b", options)).code).toBe("NO")
      expect(stage.order).toEqual(["w.a"])
    }),
  )

  it.effect("starts early what its block is certain to need from outside, once", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({
        "w.a": { sleepMs: 5, return: 1 },
        "p.b": { sleepMs: 5, return: 2 },
        "w.c": { args: 1, echo: 0 },
      })
      expect(yield* value("b = p.b()\nc = after w.a() { return w.c(b) }\nreturn c", options)).toBe("2")
      expect(stage.order).toEqual(["p.b", "w.a", "w.c"])
      expect(stage.maxActive).toBe(2)
    }),
  )

  it.effect("does not start early what only a branch, a loop or something behind a guard needs", () =>
    Effect.gen(function* () {
      for (const body of [
        "return w.c(b if false else 1)",
        "x = for i in [] { return b }; return w.c(x)",
        "assert(true); return w.c(b) if 1 > 2",
        "return w.c(false and b)",
      ]) {
        const { options, stage } = staged({
          "w.a": { sleepMs: 2, return: 1 },
          "p.b": { return: true },
          "w.c": { args: 1, echo: 0 },
        })
        yield* value(`b = p.b()\nc = after w.a() { ${body} }\nreturn c`, options)
        expect(stage.order.includes("p.b"), body).toBe(false)
      }
    }),
  )
})

describe("loops", () => {
  it.effect("holds to its bound of concurrency, nested loops each to their own, calls to the run's", () =>
    Effect.gen(function* () {
      const source = "return for i in [1, 2, 3, 4] { return for j in [1, 2, 3, 4] { return p.a(j) } }"
      const scripts = { "p.a": { args: 1, sleepMs: 2, echo: 0 } }
      const two = staged(scripts)
      yield* value(source, { ...two.options, limits: { loopConcurrency: 2 } })
      expect(two.stage.maxActive).toBe(4)
      const bounded = staged(scripts)
      yield* value(source, { ...bounded.options, limits: { loopConcurrency: 4, dispatchLimit: 3 } })
      expect(bounded.stage.maxActive).toBe(3)
      expect(bounded.stage.calls.get("p.a")).toHaveLength(16)
    }),
  )

  it.effect("keeps results in input order whatever finishes first", () =>
    Effect.gen(function* () {
      const { options } = staged({ "p.a": { args: 1, byArg: [{ equals: 1, do: { sleepMs: 9, echo: 0 } }], echo: 0 } })
      expect(yield* value("return for i in [1, 2, 3] { return p.a(i) }", options)).toBe("[1,2,3]")
    }),
  )

  it.effect("folds strictly one after the other", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({ "p.a": { args: 1, sleepMs: 2, echo: 0 } })
      expect(yield* value('return fold a = "" for i in ["x", "y", "z"] { return a + p.a(i) }', options)).toBe('"xyz"')
      expect(stage.maxActive).toBe(1)
    }),
  )

  it.effect("keeps the accumulator's type by conversion", () =>
    Effect.gen(function* () {
      expect(yield* value('return fold a = "" for i in [1, 2] { return i }')).toBe('"2"')
      expect(yield* value("x = fold a = 0.5 for i in [1, 2] { return i }\nreturn [x] == [2.0]")).toBe("true")
      expect(yield* value("return fold a = 5 for i in [] { return a + 1 }")).toBe("5")
    }),
  )
})

describe("which failure, and what it stops", () => {
  it.effect("the failure with the lowest index, after what comes before it has settled", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({
        "p.a": {
          args: 1,
          byArg: [
            { equals: 0, do: { sleepMs: 9, fail: { code: "E0" } } },
            { equals: 2, do: { sleepMs: 1, fail: { code: "E2" } } },
            { equals: 4, do: { sleepMs: 50, echo: 0 } },
          ],
          echo: 0,
        },
      })
      expect((yield* failure("return for i in [0, 1, 2, 3, 4] { return p.a(i) }", options)).code).toBe("E0")
      expect(stage.interrupted).toBe(1)
      expect(stage.active).toBe(0)
    }),
  )

  it.effect("starts nothing beyond a failed iteration", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({
        "p.a": {
          args: 1,
          byArg: [
            { equals: 1, do: { sleepMs: 5, echo: 0 } },
            { equals: 2, do: { sleepMs: 1, fail: { code: "E2" } } },
            { equals: 3, do: { sleepMs: 9, echo: 0 } },
          ],
          echo: 0,
        },
      })
      yield* failure("return for i in [1, 2, 3, 4, 5, 6] { return p.a(i) }", { ...options, limits: { loopConcurrency: 3 } })
      expect(stage.calls.get("p.a")).toEqual([[1], [2], [3]])
      expect(stage.interrupted).toBe(1)
    }),
  )

  it.effect("the first failing task of a block, siblings after it interrupted, those before it settled", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({
        "w.a": { sleepMs: 5, return: 1 },
        "w.b": { sleepMs: 1, fail: { code: "B" } },
        "w.c": { sleepMs: 99, return: 3 },
      })
      const error = yield* failure("a = w.a()\nb = w.b()\nc = w.c()\nreturn [a, b, c]", options)
      expect(error).toMatchObject({ code: "B", line: 2, column: 5 })
      expect(stage.interrupted).toBe(1)
    }),
  )

  it.effect("a failing root fails its block though a boundary reads it, and is called once", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({ "w.a": { fail: { code: "A" } } })
      expect((yield* failure("a = w.a()\nb = boundary { return a } catch e { return 0 }\nreturn b", options)).code).toBe("A")
      expect(stage.order).toEqual(["w.a"])
    }),
  )

  it.effect("a cancelled reader does not take a shared evaluation from the others", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({
        "p.x": { sleepMs: 9, return: 7 },
        "w.bad": { sleepMs: 1, fail: { code: "BAD" } },
        "w.use": { args: 1, echo: 0 },
      })
      const source = `x = p.x()
a = w.use(x)
b = boundary {
  c = w.bad()
  d = w.use(x)
  return [c, d]
} catch e { return e.code }
return [a, b]`
      expect(yield* value(source, options)).toBe('[7,"BAD"]')
      expect(stage.calls.get("p.x")).toHaveLength(1)
      expect(stage.interrupted).toBe(0)
    }),
  )

  it.effect("a pure binding whose only readers were cancelled is evaluated again when someone else needs it", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({
        "p.x": { sleepMs: 9, return: 7 },
        "w.bad": { sleepMs: 1, fail: { code: "BAD" } },
        "w.use": { args: 1, echo: 0 },
      })
      const source = "x = p.x()\nb = boundary { c = w.bad(); d = w.use(x); return [c, d] } catch e { return x }\nreturn b"
      expect(yield* value(source, options)).toBe("7")
      expect(stage.calls.get("p.x")).toHaveLength(2)
      expect(stage.interrupted).toBe(1)
    }),
  )
})

describe("interruption from outside", () => {
  it.effect("reaches every running tool and leaves nothing behind", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({ "w.a": { args: 1, sleepMs: 1_000, return: 1 }, "p.b": { sleepMs: 1_000, return: 1 } })
      const program = compiled(
        "x = p.b()\na = for i in [1, 2, 3] { return w.a(i) }\nb = after a { return w.a(x) }\nreturn boundary { return b } catch e { return 1 }",
        options,
      )
      const fiber = yield* Effect.forkChild(run(program))
      while (stage.active < 4) yield* TestClock.adjust(1)
      yield* Fiber.interrupt(fiber)
      expect(stage.active).toBe(0)
      expect(stage.interrupted).toBe(4)
      expect(stage.order).toHaveLength(4)
    }),
  )

  it.live("ends a long computation that calls no tool", () =>
    Effect.gen(function* () {
      const program = compiled("return for i in list.range(0, 60000) { return for j in list.range(0, 60000) { return i * j } }")
      const fiber = yield* Effect.forkChild(run(program, { limits: { graphNodes: 1e15 } }))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      expect(fiber.pollUnsafe()?._tag).toBe("Failure")
    }),
  )
})
