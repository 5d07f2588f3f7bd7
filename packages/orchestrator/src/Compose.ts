import type { Diagnostic } from "@acp-kit/runlet/Diagnostic"
import type { Observer } from "@acp-kit/runlet/Graph"
import type { Input, Json, JsonObject, Limits as RunLimits, Tool } from "@acp-kit/runlet/Host"
import { NotJson, toJson } from "@acp-kit/runlet/JsonValue"
import * as Runlet from "@acp-kit/runlet/Runlet"
import type { RunletError } from "@acp-kit/runlet/RunletError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { Limits } from "./Limits.ts"

/** The program does not compile; nothing was called. Errors and warnings stand in source order. */
export class NotCompiled extends Data.TaggedError("NotCompiled")<{
  readonly source: string
  readonly diagnostics: ReadonlyArray<Diagnostic>
}> {
  readonly code = "COMPILE"
  override get message(): string {
    const errors = this.diagnostics.filter((diagnostic) => diagnostic.severity === "error")
    const first = errors[0]
    const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ""
    return first === undefined
      ? "the program does not compile"
      : `line ${first.line}, column ${first.column}: ${first.message}${more}`
  }
}

/** The program ran and failed: the failure that no `boundary` of it caught, as `e` would have shown it. */
export class RunFailed extends Data.TaggedError("RunFailed")<{
  /** A verb's or tool's own code, the program's `fail` code, or `RL` and four digits. */
  readonly code: string
  readonly message: string
  readonly retryable: boolean
  /** Something may have happened. */
  readonly uncertain: boolean
  readonly details: JsonObject
  /** 1-based place of the failing expression. */
  readonly line: number | undefined
  readonly column: number | undefined
}> {}

export type ComposeFailure = NotCompiled | RunFailed

export interface Options {
  readonly source: string
  readonly tools: ReadonlyArray<Tool>
  readonly inputs?: ReadonlyArray<Input>
  /** Who wrote the program: a `model` has 128 host calls, a `person` any number (decision 20). */
  readonly author: "model" | "person"
  /** Told of the warnings of a program that compiles, before it runs. */
  readonly onWarnings?: (warnings: ReadonlyArray<Diagnostic>) => Effect.Effect<void>
  /** Told about every step of the run, one event at a time. */
  readonly observer?: Observer
}

const runLimits = (limits: Limits.Interface, author: Options["author"]): Partial<RunLimits> => ({
  loopConcurrency: limits.loopConcurrency,
  dispatchLimit: limits.dispatch,
  calls: author === "model" ? limits.modelCalls : Number.POSITIVE_INFINITY,
})

const failed = ({ code, message, retryable, uncertain, details, line, column }: RunletError) =>
  new RunFailed({ code, message, retryable, uncertain, details, line, column })

/**
 * Compiles a program against the tools and runs it; succeeds with its value. Interruption reaches every running call and ends when all have ended.
 *
 * @example
 * const value = yield* Compose.run({ source: "return subagent({ prompt: \"hi\" }).output", tools, author: "person" })
 */
export const run = Effect.fn("Compose.run")(function* (options: Options): Effect.fn.Return<Json, ComposeFailure> {
  const { source, tools, inputs = [], author, onWarnings, observer } = options
  const limits = runLimits(yield* Limits.Service, author)
  const compiled = Runlet.compile(source, { tools, inputs, limits })
  if (!compiled.ok) return yield* new NotCompiled({ source, diagnostics: compiled.diagnostics })
  if (compiled.warnings.length > 0 && onWarnings !== undefined) yield* onWarnings(compiled.warnings)
  const value = yield* Effect.mapError(
    Runlet.run(compiled.program, { limits, ...(observer === undefined ? {} : { observer }) }),
    failed,
  )
  const json = toJson(value)
  return json instanceof NotJson ? yield* Effect.die(json) : json
})

/** Compiles only: every diagnostic of the source, warnings too. */
export const check = (
  source: string,
  tools: ReadonlyArray<Tool>,
  inputs: ReadonlyArray<Input> = [],
): ReadonlyArray<Diagnostic> => {
  const compiled = Runlet.compile(source, { tools, inputs })
  return compiled.ok ? compiled.warnings : compiled.diagnostics
}

export * as Compose from "./Compose.ts"
