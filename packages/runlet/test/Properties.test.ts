import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { Canonical } from "../src/Canonical.ts"
import { render } from "../src/Diagnostic.ts"
import { format } from "../src/Format.ts"
import { heal } from "../src/Heal.ts"
import { type Json, type Tool, ToolFailure } from "../src/Host.ts"
import { parse } from "../src/Parser.ts"
import { compile, type RunletError, run } from "../src/Runlet.ts"
import type { Value } from "../src/Value.ts"
import { Dice, mutated, noise, program, soup } from "./Generate.ts"

/** Ten thousand cases in the long suite, a sample otherwise. */
const CASES = process.env.KIT_TEST_LONG === "1" ? 10_000 : 250

const limits = { graphNodes: 3_000, wallMs: 20_000, valueBytes: 200_000, calls: 500 }

/** What the tools of generated programs return, whenever they are answered. */
const answers: { readonly [name: string]: (arg: Json, attempt: number) => Json | ToolFailure } = {
  "p.int": (arg) => (arg === 7 ? new ToolFailure({ code: "SEVEN", message: "no sevens" }) : arg),
  "p.str": (arg) => `${arg}!`,
  "w.int": (arg) =>
    arg === 3 ? new ToolFailure({ code: "THREE", message: "no threes", details: { arg } }) : typeof arg === "number" ? -arg : 0,
  "soft.int": (arg, attempt) =>
    attempt === 0 && arg === 2 ? new ToolFailure({ code: "SOFT", message: "again", retryable: true }) : arg,
  "flaky.int": (arg, attempt) =>
    attempt === 0 && arg === 1 ? new ToolFailure({ code: "FLAKY", message: "again", retryable: true }) : arg,
}

type Answer = (name: string, arg: Json, attempt: number) => Effect.Effect<Json, ToolFailure>

const tools = (answer: Answer): ReadonlyArray<Tool> =>
  Object.keys(answers).map((name) => ({
    name,
    summary: "",
    parameters: [{ name: "x", schema: name === "p.str" ? { type: "string" } : { type: "integer" } }],
    output: name === "p.str" ? { type: "string" } : { type: "integer" },
    policy: name.startsWith("w.") ? "at_most_once" : name.startsWith("flaky.") ? "idempotent" : "pure",
    schemaVersion: "1",
    handler: ([arg], { attempt }) => answer(name, arg!, attempt),
  }))

const settled = (name: string, arg: Json, attempt: number): Effect.Effect<Json, ToolFailure> => {
  const answered = answers[name]!(arg, attempt)
  return answered instanceof ToolFailure ? answered : Effect.succeed(answered)
}

const outcome = (exit: Exit.Exit<Value, RunletError>): string => {
  if (Exit.isSuccess(exit)) return Canonical.stringify(exit.value)
  const error = Cause.findError(exit.cause)
  if (Result.isFailure(error)) throw new Error(Cause.pretty(exit.cause))
  const { code, line, column, message } = error.success
  return `${code} ${line}:${column} ${message}`
}

/** The tree without its places. */
const shape = (source: string): string => {
  const parsed = parse(source)
  if (!parsed.ok) throw new Error(source)
  const places = new Set(["span", "keySpan", "height"])
  return JSON.stringify(parsed.program, (key, value) => (places.has(key) ? undefined : value))
}

const examined = (source: string): void => {
  const compiled = compile(source, { tools: tools(settled), limits })
  const diagnostics = compiled.ok ? compiled.warnings : compiled.diagnostics
  if (!compiled.ok) expect(diagnostics.some(({ severity }) => severity === "error")).toBe(true)
  for (const diagnostic of diagnostics) {
    expect(diagnostic.code).not.toBe("RL8104")
    expect(diagnostic.span.start).toBeLessThanOrEqual(diagnostic.span.end)
    expect(diagnostic.span.end).toBeLessThanOrEqual(source.length)
    expect(render(diagnostic, source, "p").length).toBeGreaterThan(0)
  }
  const formatted = format(source)
  expect(formatted === null).toBe(!parse(source).ok)
  for (const rewrite of [false, true]) {
    const healed = heal(source, { rewrite })
    if (healed === null) continue
    const again = parse(healed.source)
    if (!again.ok) expect(again.errors[0]!.phase).toBe("analyze")
  }
}

const each = (check: (seed: number) => void): void => {
  for (let seed = 0; seed < CASES; seed++) {
    try {
      check(seed)
    } catch (cause) {
      throw new Error(`seed ${seed}`, { cause })
    }
  }
}

describe("no source makes the front throw, hang or lie about places", () => {
  it("programs that compile", { timeout: 600_000 }, () =>
    each((seed) => {
      const source = program(seed)
      const compiled = compile(source, { tools: tools(settled), limits })
      if (!compiled.ok) throw new Error(compiled.diagnostics.map((each) => render(each, source, "p")).join("\n"))
      examined(source)
    }),
  )

  it("programs that were damaged", { timeout: 600_000 }, () => each((seed) => examined(mutated(seed, program(seed, 25)))))

  it("tokens in no order", { timeout: 600_000 }, () => each((seed) => examined(soup(seed))))

  it("any characters at all", { timeout: 600_000 }, () => each((seed) => examined(noise(seed))))
})

describe("formatting", () => {
  it("keeps the tree and the comments, and changes nothing the second time", { timeout: 600_000 }, () =>
    each((seed) => {
      const source = program(seed)
      const formatted = format(source)!
      if (shape(formatted) !== shape(source)) throw new Error(`${source}\n---\n${formatted}`)
      expect(format(formatted)).toBe(formatted)
      const comments = (text: string) => text.match(/(?:# a comment|\/\/ why)/g)?.length
      expect(comments(formatted)).toBe(comments(source))
    }),
  )
})

const live = (answer: Answer, source: string) => {
  const compiled = compile(source, { tools: tools(answer), limits })
  if (!compiled.ok) throw new Error(source)
  return Effect.exit(run(compiled.program))
}

const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

/** Answers calls in an order of its own: whenever everything waits, one waiting call is drawn and answered. */
const shuffled = (source: string, seed: number) =>
  Effect.gen(function* () {
    const dice = new Dice(seed)
    const waiting = new Set<() => void>()
    const answer: Answer = (name, arg, attempt) =>
      Effect.callback((resume) => {
        const respond = () => {
          waiting.delete(respond)
          resume(settled(name, arg, attempt))
        }
        waiting.add(respond)
        return Effect.sync(() => waiting.delete(respond))
      })
    const fiber = yield* Effect.forkChild(live(answer, source))
    while (fiber.pollUnsafe() === undefined) {
      yield* turn
      if (waiting.size > 0) dice.pick([...waiting])()
    }
    expect(waiting.size).toBe(0)
    return outcome(yield* Fiber.join(fiber))
  })

/** Interrupts a run after some answers; how many calls were running then. Every call needs a while to end. */
const cut = (source: string, seed: number) =>
  Effect.gen(function* () {
    const dice = new Dice(seed)
    const running = new Set<() => void>()
    let begun = 0
    const answer: Answer = (name, arg, attempt) =>
      Effect.callback((resume) => {
        begun++
        const respond = () => {
          running.delete(respond)
          resume(settled(name, arg, attempt))
        }
        running.add(respond)
        return Effect.andThen(
          turn,
          Effect.sync(() => running.delete(respond)),
        )
      })
    const fiber = yield* Effect.forkChild(live(answer, source))
    for (let left = dice.below(8); left > 0 && fiber.pollUnsafe() === undefined; left--) {
      yield* turn
      if (running.size > 0 && dice.chance(80)) dice.pick([...running])()
    }
    const found = running.size
    yield* Fiber.interrupt(fiber)
    expect(running.size).toBe(0)
    const before = begun
    yield* turn
    yield* turn
    expect(begun).toBe(before)
    return found
  })

describe("running", () => {
  it.live(
    "leaves no call behind and makes none, wherever it is interrupted",
    () =>
      Effect.gen(function* () {
        let found = 0
        for (let seed = 0; seed < CASES; seed++) found += yield* cut(program(seed), seed)
        expect(found).toBeGreaterThan(CASES / 10)
      }),
    600_000,
  )

  it.live(
    "ends within its limits with a documented outcome, the formatted program with the same",
    () =>
      Effect.gen(function* () {
        for (let seed = 0; seed < CASES; seed++) {
          const source = program(seed)
          const first = outcome(yield* live(settled, source))
          expect(first.startsWith("RL8"), `seed ${seed}: ${first}`).toBe(false)
          const again = outcome(yield* live(settled, format(source)!))
          expect(again.replace(/ \d+:\d+ /, " "), `seed ${seed}`).toBe(first.replace(/ \d+:\d+ /, " "))
        }
      }),
    600_000,
  )

  it.live(
    "comes to the same whatever order calls are answered in",
    () =>
      Effect.gen(function* () {
        const rounds = Math.ceil(CASES / 4)
        for (let seed = 0; seed < rounds; seed++) {
          const source = program(seed)
          const expected = outcome(yield* live(settled, source))
          for (let order = 0; order < 3; order++)
            expect(yield* shuffled(source, seed * 7 + order), `seed ${seed} order ${order}\n${source}`).toBe(expected)
        }
      }),
    600_000,
  )
})
