import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { Item } from "../src/Item.ts"
import type { Part, Request } from "../src/ModelProvider.ts"
import { Scripts } from "../src/Script.ts"
import { ScriptedProvider } from "../src/ScriptedProvider.ts"

const prompt = (text: string): Item => ({ type: "prompt", id: "m-1", content: [{ type: "text", text }] })
const call = (id: string): Item => ({ type: "call", id, name: "compose", input: { script: "" } })
const result = (id: string, output: Extract<Item, { type: "result" }>["output"]): Item => ({
  type: "result",
  id,
  status: "completed",
  output,
})
const failed = (id: string, code: string, message: string): Item => ({
  type: "result",
  id,
  status: "failed",
  output: { code, message },
})

const ask = (items: ReadonlyArray<Item>, provider = ScriptedProvider.make(), attempt = 0) => {
  const request: Request = { items, system: "", tools: [], model: "scripted", effort: "default", attempt }
  return Stream.runCollect(provider.stream(request))
}

const textOf = (parts: ReadonlyArray<Part>) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
const callsOf = (parts: ReadonlyArray<Part>) => parts.flatMap((part) => (part.type === "call" ? [part.input] : []))

const two = '```runlet intent="first" background=5\nreturn 1\n```\nand\n```runlet\nreturn 2\n```'

describe("the built-in rule", () => {
  it.effect("echoes a prompt without a block", () =>
    Effect.gen(function* () {
      expect(textOf(yield* ask([prompt("hello")]))).toBe("echo: hello")
    }),
  )

  it.effect("makes one compose call per block, in order, with the options of its fence", () =>
    Effect.gen(function* () {
      expect(callsOf(yield* ask([prompt(two)]))).toEqual([{ script: "return 1", intent: "first", background: 5 }])
      expect(callsOf(yield* ask([prompt(two), call("a"), result("a", 1)]))).toEqual([{ script: "return 2" }])
    }),
  )

  it.effect("answers with the last result: a string as it is, the rest as compact canonical JSON", () =>
    Effect.gen(function* () {
      const answer = (output: Parameters<typeof result>[1]) =>
        Effect.map(ask([prompt("```runlet\nx\n```"), call("a"), result("a", output)]), textOf)
      expect(yield* answer("as it is")).toBe("as it is")
      expect(yield* answer({ b: [1, null], a: 9007199254740993n })).toBe('{"a":9007199254740993,"b":[1,null]}')
    }),
  )

  it.effect("answers error, code and message after a failed call, and calls no further", () =>
    Effect.gen(function* () {
      const parts = yield* ask([prompt(two), call("a"), failed("a", "RL2001", "no such tool")])
      expect(textOf(parts)).toBe("error RL2001: no such tool")
      expect(callsOf(parts)).toEqual([])
    }),
  )

  it.effect("looks at the current prompt only", () =>
    Effect.gen(function* () {
      const before = [prompt(two), call("a"), failed("a", "X", "y"), { type: "stop", reason: "end_turn" } as const]
      expect(textOf(yield* ask([...before, prompt("next")]))).toBe("echo: next")
    }),
  )

  it.effect("answers guidance that came last", () =>
    Effect.gen(function* () {
      const steer: Item = { type: "steer", id: "m-2", content: [{ type: "text", text: "shorter" }] }
      expect(textOf(yield* ask([prompt("```runlet\nx\n```"), call("a"), result("a", 1), steer]))).toBe("echo: shorter")
    }),
  )

  it.effect("reports characters divided by four of a window of 128,000", () =>
    Effect.gen(function* () {
      const parts = yield* ask([prompt("a".repeat(396))])
      expect(parts.at(-1)).toEqual({ type: "usage", used: (396 + "echo: ".length + 396 + 2) / 4, window: 128_000 })
    }),
  )

  it.effect("never parts a surrogate pair", () =>
    Effect.gen(function* () {
      const text = "x".repeat(4089) + "𝔸".repeat(5000)
      const parts = yield* ask([prompt(text)])
      expect(textOf(parts)).toBe(`echo: ${text}`)
      for (const part of parts) if (part.type === "text") expect(part.text.isWellFormed()).toBe(true)
    }),
  )
})

describe("a script", () => {
  const scripted = (rules: unknown) =>
    Effect.map(Scripts.decode(JSON.stringify({ version: 1, window: 1000, rules })), (script) => ScriptedProvider.make(script))

  it.effect("thinks, speaks, calls in parallel, and goes on with the result", () =>
    Effect.gen(function* () {
      const provider = yield* scripted([
        {
          match: "^count (\\d+)",
          steps: [
            { think: "hm" },
            { say: "counting to {{1}}", pieces: 3 },
            { compose: [{ script: "return {{1}}" }, { script: "return 2" }] },
            { say: "got {{result}}" },
          ],
        },
      ])
      const first = yield* ask([prompt("count 7")], provider)
      expect(first.map((part) => part.type)).toEqual(["thinking", "text", "text", "text", "call", "call", "usage"])
      expect(textOf(first)).toBe("counting to 7")
      expect(callsOf(first)).toEqual([{ script: "return 7" }, { script: "return 2" }])
      const second = yield* ask([prompt("count 7"), call("a"), call("b"), result("a", 7), result("b", [2])], provider)
      expect(textOf(second)).toBe("got [2]")
      expect(second.at(-1)).toMatchObject({ type: "usage", window: 1000 })
    }),
  )

  it.effect("leaves a prompt that no rule matches to the built-in rule", () =>
    Effect.gen(function* () {
      expect(textOf(yield* ask([prompt("other")], yield* scripted([{ match: "^x$", steps: [] }])))).toBe("echo: other")
    }),
  )

  it.effect("fails the first attempts and then answers", () =>
    Effect.gen(function* () {
      const provider = yield* scripted([
        { match: "", steps: [{ say: "part" }, { fail: "overloaded", attempts: 2 }, { say: " whole" }] },
      ])
      expect(yield* Effect.flip(ask([prompt("x")], provider, 1))).toMatchObject({ message: "overloaded", retryable: true })
      expect(textOf(yield* ask([prompt("x")], provider, 2))).toBe("part whole")
    }),
  )

  it.effect("answers guidance that comes after its last word by the built-in rule", () =>
    Effect.gen(function* () {
      const provider = yield* scripted([{ match: "", steps: [{ say: "done" }] }])
      const answer: Item = { type: "answer", id: "m-2", text: "done" }
      const steer: Item = { type: "steer", id: "m-3", content: [{ type: "text", text: "more" }] }
      expect(textOf(yield* ask([prompt("x"), answer, steer], provider))).toBe("echo: more")
    }),
  )

  it.effect("waits, and stops early", () =>
    Effect.gen(function* () {
      const provider = yield* scripted([
        { match: "", steps: [{ wait_ms: 1000 }, { say: "cut" }, { stop: "max_tokens" }, { say: "never" }] },
      ])
      const fiber = yield* Effect.forkChild(ask([prompt("x")], provider))
      yield* TestClock.adjust(1000)
      const parts = yield* Fiber.join(fiber)
      expect(parts.slice(0, 2)).toEqual([
        { type: "text", text: "cut" },
        { type: "finish", reason: "max_tokens" },
      ])
    }),
  )

  it.effect("that cannot be used says why", () =>
    Effect.gen(function* () {
      expect((yield* Effect.flip(Scripts.decode("{"))).message).toContain("the script of the scripted model cannot be used")
      expect((yield* Effect.flip(scripted([{ match: "(", steps: [] }]))).message).toContain("cannot be used")
    }),
  )
})
