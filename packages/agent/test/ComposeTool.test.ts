import { guide } from "@acp-kit/runlet/Guide"
import type { Json, JsonObject, Tool as RunletTool } from "@acp-kit/runlet/Host"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { Background } from "../src/BackgroundCalls.ts"
import { ComposeGuide } from "../src/ComposeGuide.ts"
import { readInput, titleOf } from "../src/ComposeInput.ts"
import { ComposeTool } from "../src/ComposeTool.ts"

const tool = (name: string, handler: RunletTool["handler"]): RunletTool => ({
  name,
  summary: `does ${name}`,
  parameters: [{ name: "input", schema: { type: "object" } }],
  output: true,
  policy: "at_most_once",
  schemaVersion: "1",
  handler,
})

const give = tool("give", ([input]) => Effect.succeed((input as JsonObject).value ?? null))

const catalog = [ComposeGuide.entryOf(give)]

const spill = (_id: string, output: Json) => Effect.succeed(output)

const compose = (input: JsonObject, tools: ReadonlyArray<RunletTool> = [give]) =>
  Effect.flatMap(
    Background.make(() => Effect.void),
    (background) => ComposeTool.make({ tools: () => tools, catalog, background, spill }).run("call-1", input),
  )

describe("compose", () => {
  it.effect("returns what the program returns, integers exact", () =>
    Effect.gen(function* () {
      const script = "return [give({ value: 9007199254740993 }), 1.5, null]"
      expect(yield* compose({ script })).toEqual({ status: "completed", output: [9007199254740993n, 1.5, null] })
    }),
  )

  it.effect("tells code, message and place of a failure of the program", () =>
    Effect.gen(function* () {
      const outcome = yield* compose({ script: 'x = 1\nreturn fail("MINE", "no")' })
      expect(outcome).toMatchObject({ status: "failed", output: { code: "MINE", message: "no", line: 2 } })
    }),
  )

  it.effect("tells every diagnostic of a program that does not compile, and calls nothing", () =>
    Effect.gen(function* () {
      const outcome = yield* compose({ script: "a = nobody({})\nreturn a + other" }, [tool("give", () => Effect.die("called"))])
      const { code, diagnostics } = outcome.output as { code: string; diagnostics: ReadonlyArray<{ line: number }> }
      expect([outcome.status, code, diagnostics.map(({ line }) => line)]).toEqual(["failed", "COMPILE", [1, 2]])
    }),
  )

  it.effect("repairs a program that does not parse, and tells the model of it beside the result, whatever that is", () =>
    Effect.gen(function* () {
      const notes = [expect.stringMatching(/^the program was repaired: line 1: .*inserted `return`$/)]
      expect(yield* compose({ script: "give({ value: 2 })" })).toEqual({ status: "completed", output: 2, notes })
      expect(yield* compose({ script: "return give({ value: 2 })" })).toEqual({ status: "completed", output: 2 })
      const failing = yield* compose({ script: 'fail("MINE", "no")' })
      expect(failing).toMatchObject({ status: "failed", output: { code: "MINE" }, notes })
    }),
  )

  it.effect("refuses the 129th call of one program", () =>
    Effect.gen(function* () {
      const calls = (count: number) => ({
        script: `return list.length(for i in list.range(0, ${count}) { return give({ value: i }) })`,
      })
      expect(yield* compose(calls(128))).toEqual({ status: "completed", output: 128 })
      expect((yield* compose(calls(129))).status).toBe("failed")
    }),
  )

  it.effect("reaches running calls when it is interrupted", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const slow = tool("slow", () =>
        Effect.andThen(Deferred.succeed(started, undefined), Effect.never).pipe(
          Effect.onInterrupt(() => Deferred.succeed(stopped, undefined)),
        ),
      )
      const fiber = yield* Effect.forkChild(compose({ script: "return slow({})" }, [slow]))
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(stopped)
    }),
  )

  it.effect("refuses an input that is not one", () =>
    Effect.gen(function* () {
      const message = (input: JsonObject) => Effect.map(compose(input), ({ output }) => (output as JsonObject).message)
      expect(yield* message({})).toBe("script must be a string")
      expect(yield* message({ script: "", intent: 1 })).toBe("intent must be a string")
      expect(yield* message({ script: "", speed: 1 })).toBe("compose does not take speed")
      for (const background of [0, 86_401, 1.5, "yes", null]) {
        expect(yield* message({ script: "", background })).toBe("background must be a boolean or an integer from 1 to 86400")
      }
    }),
  )

  it("reads intent and background", () => {
    expect(readInput({ script: "s", intent: "  list files ", background: 5 })).toEqual({
      script: "s",
      intent: "list files",
      background: 5,
    })
    expect(titleOf({ script: "s", intent: " " })).toBeUndefined()
    expect(titleOf({ script: 1, intent: "x" })).toBeUndefined()
  })

  it("describes the language and each callable with its exact schemas", () => {
    const description = ComposeGuide.describe(catalog)
    expect(description).toContain(guide)
    expect(description).toContain('## give\ndoes give\ninput: {"type":"object"}\noutput: true')
  })
})
