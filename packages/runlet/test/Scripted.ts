import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { Json, JsonObject, JsonSchema, Policy, Tool, ToolContext } from "../src/Host.ts"
import { ToolFailure } from "../src/Host.ts"
import { type Program, type RunOptions, run } from "../src/Runlet.ts"

/** What a scripted tool does with a call, in the order of these keys. */
export interface Script {
  readonly sleepMs?: number
  readonly requireFlags?: ReadonlyArray<string>
  readonly setFlag?: string
  readonly byArg?: ReadonlyArray<{ readonly arg?: number; readonly equals: Json; readonly do: Script }>
  readonly failFirst?: number
  readonly fail?: JsonObject
  readonly return?: Json
  readonly echo?: number
  readonly attemptPlus?: number
  /** Adds the calls so far to the result. */
  readonly context?: boolean
}

export interface ScriptedTool {
  readonly name: string
  readonly params?: ReadonlyArray<JsonSchema>
  readonly required?: number
  readonly output?: JsonSchema
  readonly policy?: Policy
  readonly impl: Script
}

/** Tools that follow scripts, and what they saw. */
export class Stage {
  readonly calls = new Map<string, Array<ReadonlyArray<Json>>>()
  readonly order: Array<string> = []
  readonly contexts: Array<ToolContext> = []
  readonly flags = new Set<string>()
  active = 0
  maxActive = 0
  interrupted = 0

  tool(script: ScriptedTool): Tool {
    const counts = { calls: 0 }
    this.calls.set(script.name, [])
    return {
      name: script.name,
      summary: "",
      parameters: (script.params ?? []).map((schema, index) => ({ name: `p${index}`, schema })),
      ...(script.required === undefined ? {} : { required: script.required }),
      output: script.output ?? true,
      policy: script.policy ?? "pure",
      schemaVersion: "1",
      handler: (args, context) =>
        Effect.suspend(() => {
          counts.calls++
          this.calls.get(script.name)!.push(args)
          this.order.push(script.name)
          this.contexts.push(context)
          this.active++
          this.maxActive = Math.max(this.maxActive, this.active)
          return this.#follow(script.impl, args, context, counts.calls)
        }).pipe(
          Effect.onInterrupt(() => Effect.sync(() => this.interrupted++)),
          Effect.ensuring(Effect.sync(() => this.active--)),
        ),
    }
  }

  #follow(script: Script, args: ReadonlyArray<Json>, context: ToolContext, call: number): Effect.Effect<Json, ToolFailure> {
    const { byArg, fail, failFirst, requireFlags, setFlag, sleepMs } = script
    return Effect.gen({ self: this }, function* () {
      if (sleepMs !== undefined) yield* Effect.sleep(sleepMs)
      for (const flag of requireFlags ?? [])
        if (!this.flags.has(flag)) return yield* new ToolFailure({ code: "FLAG_MISSING", message: flag })
      if (setFlag !== undefined) this.flags.add(setFlag)
      for (const { arg = 0, equals, do: then } of byArg ?? [])
        if (JSON.stringify(args[arg]) === JSON.stringify(equals)) return yield* this.#follow(then, args, context, call)
      if (fail !== undefined && (failFirst === undefined || call <= failFirst))
        return yield* new ToolFailure({ message: "", ...(fail as { code: string }) })
      if (script.return !== undefined) return script.return
      if (script.echo !== undefined) return args[script.echo]!
      if (script.attemptPlus !== undefined) return context.attempt + script.attemptPlus
      if (script.context) return { attempt: context.attempt, operation: context.operationId, dispatch: context.dispatchId }
      return null
    })
  }
}

/** Runs a program to its end on the test clock, moving time whenever everything waits for it. */
export const settle = Effect.fnUntraced(function* (program: Program, options?: RunOptions) {
  return yield* onTestClock(Effect.exit(run(program, options)))
})

/** Runs an effect on the test clock, advancing a millisecond at a time until it has ended. */
export const onTestClock = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Scope.Scope> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkScoped(effect)
    while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust(1)
    return yield* Fiber.join(fiber)
  })
