import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Policy } from "../src/Host.ts"
import type { Journal, Operation, Settlement } from "../src/Journal.ts"
import { failure, value } from "./Programs.ts"
import { type Script, Stage } from "./Scripted.ts"

const staged = (scripts: { readonly [name: string]: Script & { readonly args?: number; readonly policy?: Policy } }) => {
  const stage = new Stage()
  const tools = Object.entries(scripts).map(([name, { args = 0, policy = "idempotent", ...impl }]) =>
    stage.tool({ name, params: Array(args).fill(true), policy, impl }),
  )
  return { stage, options: { tools } }
}

const busy = { code: "BUSY", message: "later", retryable: true }

describe("catch", () => {
  it.effect("binds code, message, flags, attempt and the place in bytes, details under them", () =>
    Effect.gen(function* () {
      const { options } = staged({
        "t.a": { fail: { code: "E", message: "m", uncertain: true, details: { left: 3, code: "X" } } },
      })
      expect(yield* value("é = 1\nreturn boundary { return t.a() + é } catch e { return e }", options)).toBe(
        '{"attempt":0,"code":"E","left":3,"message":"m","node_id":"","retryable":false,"span":{"end":37,"start":32},"uncertain":true}',
      )
    }),
  )

  it.effect("catches what the language raises, its limits included", () =>
    Effect.gen(function* () {
      const raised = [
        ["1 / 0", "RL5102"],
        ["[1][5]", "RL5205"],
        ['json.parse("{")', "RL5211"],
        ['number.parse("x")', "RL5212"],
        ['fail("OWN", "m")', "OWN"],
      ] as const
      for (const [source, code] of raised)
        expect(yield* value(`return boundary { return ${source} } catch e { return e.code }`)).toBe(`"${code}"`)
      expect(yield* value("return boundary { assert(1 > 2); return 1 } catch e { return e.code }")).toBe('"ASSERTION_FAILED"')
      const limits = { graphNodes: 200 }
      expect(
        yield* value("return boundary { return for i in list.range(0, 300) { return [i] } } catch e { return 0 }", { limits }),
      ).toBe("0")
    }),
  )

  it.effect("lets the failure of its handler through", () =>
    Effect.map(failure('return boundary { return 1 / 0 } catch e { return fail(e.code + "!", "again") }'), (error) =>
      expect(error).toMatchObject({ code: "RL5102!", message: "again" }),
    ),
  )

  it.effect("does not catch the skip of a loop around it", () =>
    Effect.map(
      value(
        "return for i in [1, 2] { x = if i == 1 { skip; return 0 } else { return i }; return boundary { return x } catch e { return 9 } }",
      ),
      (found) => expect(found).toBe("[2]"),
    ),
  )

  it.effect("catches failures of outer pure bindings that its body was the first to need", () =>
    Effect.map(value("x = 1 / 0\nreturn boundary { return x } catch e { return e.code }"), (found) =>
      expect(found).toBe('"RL5102"'),
    ),
  )
})

describe("retry", () => {
  it.effect("tries again from scratch while the failure is retryable, n + 1 times in all", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({ "t.a": { failFirst: 2, fail: busy, attemptPlus: 0 } })
      expect(yield* value("return boundary retry 2 { return t.a() } catch e { return -1 }", options)).toBe("2")
      const short = staged({ "t.a": { failFirst: 2, fail: busy, return: 1 } })
      expect(
        yield* value("return boundary retry 1 { return t.a() } catch e { return [e.attempt, e.retryable] }", short.options),
      ).toBe("[1,true]")
      expect(stage.calls.get("t.a")).toHaveLength(3)
      expect(short.stage.calls.get("t.a")).toHaveLength(2)
    }),
  )

  it.effect("only under a policy that allows it, whatever the tool says", () =>
    Effect.gen(function* () {
      for (const [policy, calls] of [
        ["pure", 3],
        ["idempotent", 3],
        ["recoverable", 3],
        ["at_most_once", 1],
        ["unsafe", 1],
      ] as const) {
        const { options, stage } = staged({ "t.a": { policy, fail: busy } })
        expect(yield* value("return boundary retry 2 { return t.a() } catch e { return e.retryable }", options)).toBe(
          String(calls === 3),
        )
        expect(stage.calls.get("t.a"), policy).toHaveLength(calls)
      }
      const { options, stage } = staged({ "t.a": { fail: { ...busy, retryable: false } } })
      yield* value("return boundary retry 2 { return t.a() } catch e { return 1 }", options)
      expect(stage.calls.get("t.a")).toHaveLength(1)
    }),
  )

  it.effect("does not repeat a call that has succeeded with the same arguments in the same place", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({ "t.a": { args: 1, echo: 0 }, "t.b": { failFirst: 1, fail: busy, return: 5 } })
      const source =
        "return boundary retry 3 { xs = for i in [7, 7, 8] { return t.a(i) }; return [xs, t.b()] } catch e { return e.code }"
      expect(yield* value(source, options)).toBe("[[7,7,8],5]")
      expect(stage.calls.get("t.a")).toEqual([[7], [7], [8]])
    }),
  )

  it.effect("never makes a call twice that was cut off and may be made only once", () =>
    Effect.gen(function* () {
      for (const policy of ["at_most_once", "unsafe"] as const) {
        const { options, stage } = staged({
          "t.a": { sleepMs: 1, failFirst: 1, fail: busy },
          "t.b": { policy, sleepMs: 20, return: 5 },
        })
        const source =
          "return boundary retry 3 { a = t.a(); b = t.b(); return [a, b] } catch e { return [e.code, e.uncertain, e.retryable, e.attempt] }"
        expect(yield* value(source, options)).toBe('["RL6104",true,false,1]')
        expect(stage.calls.get("t.b"), policy).toHaveLength(1)
        expect(stage.interrupted).toBe(1)
      }
      const { options, stage } = staged({
        "t.a": { sleepMs: 1, failFirst: 1, fail: busy },
        "t.b": { policy: "recoverable", sleepMs: 20, return: 5 },
      })
      expect(
        yield* value("return boundary retry 3 { a = t.a(); b = t.b(); return [a, b] } catch e { return e.code }", options),
      ).toBe("[null,5]")
      expect(stage.calls.get("t.b")).toHaveLength(2)
    }),
  )

  it.effect("evaluates outer pure bindings again whose failure the attempt has read, and no others", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({
        "t.a": { policy: "pure", failFirst: 1, fail: busy, return: 4 },
        "t.c": { policy: "pure", return: 1 },
      })
      expect(
        yield* value("c = t.c()\na = t.a()\nb = a + c\nreturn boundary retry 1 { return b } catch e { return e.code }", options),
      ).toBe("5")
      expect(stage.calls.get("t.a")).toHaveLength(2)
      expect(stage.calls.get("t.c")).toHaveLength(1)
    }),
  )

  it.effect("makes an effect outside it once, whose failure it reads", () =>
    Effect.gen(function* () {
      for (const sleepMs of [0, 5]) {
        const { options, stage } = staged({ "t.a": { sleepMs, fail: busy }, "t.b": { policy: "pure", sleepMs: 50, return: 1 } })
        const source = "a = t.a()\nreturn boundary retry 3 { return [a, t.b()] } catch e { return e.code }"
        expect(yield* failure(source, options)).toMatchObject({ code: "BUSY" })
        expect(stage.calls.get("t.a")).toHaveLength(1)
        const inner = staged({ "t.a": { sleepMs, fail: busy } })
        const nested =
          "return boundary { a = t.a(); return boundary retry 3 { return a } catch e { return 0 } } catch e { return e.code }"
        expect(yield* value(nested, inner.options)).toBe('"BUSY"')
        expect(inner.stage.calls.get("t.a")).toHaveLength(1)
      }
    }),
  )

  it.effect("shows the calls of an outer binding the attempt of the boundary around the binding, whoever needs it", () =>
    Effect.gen(function* () {
      const scripts = { "t.a": { policy: "pure", failFirst: 2, fail: busy, attemptPlus: 0 } } as const
      const outer = staged(scripts)
      expect(yield* value("a = t.a()\nreturn boundary retry 2 { return a } catch e { return -1 }", outer.options)).toBe("0")
      expect(outer.stage.contexts.map(({ attempt }) => attempt)).toEqual([0, 0, 0])
      const nested = staged({ ...scripts, "t.b": { failFirst: 1, fail: busy, attemptPlus: 10 } })
      const source = `return boundary retry 1 {
  a = t.a()
  b = t.b()
  return boundary retry 2 { return after b { return [t.b(), a, b] } } catch e { return -1 }
} catch e { return -2 }`
      expect(yield* value(source, nested.options)).toBe("[10,1,11]")
    }),
  )

  it.effect(
    "shares the attempts of an outer binding: it is evaluated again by whoever retries, and all read what came of it last",
    () =>
      Effect.gen(function* () {
        const { options, stage } = staged({ "t.a": { policy: "pure", failFirst: 2, fail: busy, return: 7 } })
        const source = `a = t.a()
first = boundary { return a } catch e { return e.code }
second = after first { return boundary retry 2 { return a } catch e { return e.code } }
third = after second { return boundary { return a } catch e { return e.code } }
return [first, second, third]`
        expect(yield* value(source, options)).toBe('["BUSY",7,7]')
        expect(stage.calls.get("t.a")).toHaveLength(3)
      }),
  )

  it.effect("evaluates again what a boundary within it has caught, when the attempt fails for another reason", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({
        "t.a": { policy: "pure", failFirst: 1, fail: busy, return: 3 },
        "t.b": { failFirst: 1, fail: busy, return: 4 },
      })
      const source = `a = t.a()
return boundary retry 1 {
  x = boundary { return a } catch e { return e.code }
  y = after x { return t.b() }
  return [x, y]
} catch e { return e.code }`
      expect(yield* value(source, options)).toBe("[3,4]")
      expect(stage.calls.get("t.a")).toHaveLength(2)
    }),
  )

  it.effect("shows a tool the attempt of the innermost boundary, the outer one again behind it", () =>
    Effect.gen(function* () {
      const { options } = staged({
        "t.in": { failFirst: 1, fail: busy, attemptPlus: 0 },
        "t.out": { failFirst: 1, fail: busy, attemptPlus: 100 },
        "t.after": { args: 1, attemptPlus: 0 },
      })
      const source = `return boundary retry 2 {
  a = boundary retry 2 { return t.in() } catch e { return -1 }
  b = after a { return t.after(a) }
  c = after b { return t.out() }
  return [a, b, c]
} catch e { return e.code }`
      expect(yield* value(source, options)).toBe("[1,0,101]")
    }),
  )

  it.effect("waits as the tool says, or by the backoff of the host, invisibly", () =>
    Effect.gen(function* () {
      const elapsed = Effect.fnUntraced(function* (fail: object, backoff?: { baseMs: number; factor: number; capMs: number }) {
        const { options } = staged({ "t.a": { failFirst: 3, fail: { ...busy, ...fail }, return: 1 } })
        const before = yield* Clock.currentTimeMillis
        yield* value("return boundary retry 3 { return t.a() } catch e { return 0 }", {
          ...options,
          ...(backoff === undefined ? {} : { backoff }),
        })
        return (yield* Clock.currentTimeMillis) - before
      })
      expect(yield* elapsed({})).toBeLessThan(10)
      expect(yield* elapsed({ retryAfterMs: 20 })).toBeGreaterThanOrEqual(60)
      const backoff = { baseMs: 10, factor: 2, capMs: 25 }
      const grown = yield* elapsed({}, backoff)
      expect(grown).toBeGreaterThanOrEqual(10 + 20 + 25)
      expect(grown).toBeLessThan(75)
      expect(yield* elapsed({ retryAfterMs: 99 }, backoff)).toBeLessThan(95)
    }),
  )
})

describe("operation identity", () => {
  it.effect("is the same for a repeated call and counts its dispatches; places, iterations and arguments tell calls apart", () =>
    Effect.gen(function* () {
      const { options, stage } = staged({ "t.a": { args: 1, failFirst: 1, fail: busy, context: true } })
      yield* value("return boundary retry 1 { return t.a(1) } catch e { return 1 }", options)
      const [first, second] = stage.contexts
      expect(first!.operationId).toMatch(/^[0-9a-f]{64}$/)
      expect(second!.operationId).toBe(first!.operationId)
      expect([first!.dispatchId, second!.dispatchId]).toEqual([`${first!.operationId}:0`, `${first!.operationId}:1`])
      expect([first!.attempt, second!.attempt]).toEqual([0, 1])
      expect([first!.line, first!.column]).toEqual([1, 34])

      const other = staged({ "t.a": { args: 1, context: true } })
      yield* value("return [t.a(1), t.a(1), t.a(2), for i in [1, 1] { return t.a(1) }]", other.options)
      expect(new Set(other.stage.contexts.map((context) => context.operationId)).size).toBe(5)
    }),
  )
})

describe("the journal port", () => {
  it.effect(
    "is told before a call is dispatched and offered every settled one, failures as the tool reported them, before the call completes",
    () =>
      Effect.gen(function* () {
        const seen: Array<readonly [string, Settlement]> = []
        const begun: Array<string> = []
        const journal: Journal = {
          lookup: () => Effect.succeedNone,
          dispatching: ({ tool }, generation) =>
            Effect.sync(() => begun.push(`${tool}:${generation}:${stage.calls.get(tool)!.length}`)),
          record: ({ schemaVersion, tool }, settlement) => Effect.sync(() => seen.push([`${tool} ${schemaVersion}`, settlement])),
        }
        const { options, stage } = staged({ "t.a": { return: 9007199254740993n }, "t.b": { policy: "at_most_once", fail: busy } })
        yield* value("a = t.a()\nb = boundary { return t.b() } catch e { return text.upper(e.code) }\nreturn [a, b]", {
          ...options,
          journal,
        })
        expect(begun).toEqual(["t.a:0:0", "t.b:0:0"])
        expect(seen).toEqual([
          ["t.a 1", { ok: true, value: 9007199254740993n }],
          ["t.b 1", { ok: false, code: "BUSY", message: "later", retryable: true, uncertain: false, details: {} }],
        ])
      }),
  )

  it.effect("answers calls that a run before has settled, and nothing is dispatched", () =>
    Effect.gen(function* () {
      const settled = new Map<string, Settlement>()
      const journal: Journal = {
        dispatching: () => Effect.void,
        lookup: ({ id }: Operation) => Effect.sync(() => Option.fromUndefinedOr(settled.get(id))),
        record: ({ id }, settlement) => Effect.sync(() => settled.set(id, settlement)),
      }
      const source =
        "xs = for i in [1, 2, 2] { return t.a(i) }\nreturn boundary { return [xs, t.b()] } catch e { return [xs, e.code] }"
      const first = staged({ "t.a": { args: 1, echo: 0 }, "t.b": { fail: busy } })
      const again = staged({ "t.a": { args: 1, echo: 0 }, "t.b": { fail: busy } })
      expect(yield* value(source, { ...first.options, journal })).toBe('[[1,2,2],"BUSY"]')
      expect(first.stage.order).toHaveLength(4)
      expect(yield* value(source, { ...again.options, journal })).toBe('[[1,2,2],"BUSY"]')
      expect(again.stage.order).toEqual([])
    }),
  )
})
