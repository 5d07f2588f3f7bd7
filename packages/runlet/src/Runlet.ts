import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { NotPresentable, present } from "./Canonical.ts"
import { check } from "./Checker.ts"
import { accepts } from "./Convert.ts"
import { type Diagnostic, render } from "./Diagnostic.ts"
import { type Draft, placed, schemaError, syntaxError } from "./Draft.ts"
import { withFix, withFixes } from "./Fixes.ts"
import { Frame, Task } from "./Frame.ts"
import { type Observer, Recorder } from "./Graph.ts"
import { defaultLimits, type Input, type Json, type JsonObject, type Limits, type Tool } from "./Host.ts"
import { type Journal, memory } from "./Journal.ts"
import { fromJson, NotJson, toJson } from "./JsonValue.ts"
import type { Body } from "./Lower/Scope.ts"
import { lowerProgram } from "./Lower.ts"
import { Failed, toEffect } from "./Outcome.ts"
import { parse } from "./Parser.ts"
import { prelude } from "./Prelude.ts"
import { type Intrinsic, portOf, type Registry, registryOf } from "./Registry.ts"
import { type Backoff, Run } from "./Run.ts"
import { RunletError } from "./RunletError.ts"
import { readSchema } from "./SchemaTypes.ts"
import { Lines, utf8Length } from "./Span.ts"
import type { Block } from "./Syntax.ts"
import { object, sizeOf, type Value } from "./Value.ts"

export type { Diagnostic } from "./Diagnostic.ts"
export { RunletError } from "./RunletError.ts"
export { render }

/** What a source is compiled against. */
export interface CompileOptions {
  /** Must not change afterwards. Two of one name are refused (RL8103). A tool wins over a function of the prelude. */
  readonly tools?: ReadonlyArray<Tool>
  readonly inputs?: ReadonlyArray<Input>
  /** The 28 functions of the standard library; true by default. */
  readonly prelude?: boolean
  readonly limits?: Partial<Limits>
}

/** A compiled source; it may be run any number of times, at once too. */
export interface Program {
  readonly source: string
  readonly warnings: ReadonlyArray<Diagnostic>
  readonly syntax: Block
  readonly registry: Registry
  readonly body: Body
  readonly inputs: ReadonlyArray<Value>
  readonly limits: Limits
  readonly lines: Lines
}

/** Either a program with its warnings, or everything that is wrong: errors, then warnings, each in source order. */
export type Compilation =
  | { readonly ok: true; readonly program: Program; readonly warnings: ReadonlyArray<Diagnostic> }
  | { readonly ok: false; readonly diagnostics: ReadonlyArray<Diagnostic> }

export interface RunOptions {
  /** Over those given to {@link compile}. */
  readonly limits?: Partial<Limits>
  /** Told about every step, one event at a time; nothing is built for nobody. */
  readonly observer?: Observer
  /** Asked before every host call, offered every settled one. Without it a run remembers what a retried boundary has achieved. */
  readonly journal?: Journal
  /** Delays of `boundary retry`; without it only a tool's own `retryAfterMs` delays. */
  readonly backoff?: Backoff
}

const nowhere = { start: 0, end: 0 }
const noTools: ReadonlyArray<Tool> = []
const noPrelude: ReadonlyArray<Intrinsic> = []

const hostError = (code: string, title: string, message: string): Draft => schemaError(code, message, nowhere, { title })

const readInputs = (inputs: ReadonlyArray<Input>): ReadonlyArray<Value> | Draft => {
  const values: Array<Value> = []
  for (const { name, schema, value } of inputs) {
    const { problem, type, validator } = portOf(name, schema)
    const read = fromJson(value, type)
    if (read instanceof NotJson || !accepts(type, read) || (validator?.check(value).length ?? 0) > 0 || problem !== undefined)
      return hostError("RL8102", "invalid host input", `input \`${name}\` does not match its schema`)
    values.push(read)
  }
  return values
}

const isError = (draft: Draft): boolean => draft.severity === "error"

const compileChecked = (source: string, options: CompileOptions): Compilation => {
  const limits: Limits = { ...defaultLimits, ...options.limits }
  const lines = new Lines(source)
  const refuse = (drafts: ReadonlyArray<Draft>): Compilation => ({
    ok: false,
    diagnostics: drafts.map((draft) => placed(draft, lines)),
  })
  if (source.length > limits.sourceBytes || utf8Length(source) > limits.sourceBytes)
    return refuse([
      syntaxError("RL4108", "source too large", `the source exceeds the host limit of ${limits.sourceBytes} bytes`, nowhere),
    ])
  const parsed = parse(source)
  if (!parsed.ok) return refuse(parsed.errors.map((draft) => withFix(source, draft)))
  const inputs = options.inputs ?? []
  const values = readInputs(inputs)
  if ("code" in values) return refuse([values])
  const registry = registryOf(options.tools ?? noTools, options.prelude === false ? noPrelude : prelude)
  if (registry.problems.length > 0)
    return refuse(registry.problems.map((problem) => hostError("RL8103", "invalid tool", problem)))
  const types = inputs.map(({ name, schema }) => ({ name, type: readSchema(schema).type }))
  const checked = check(parsed.program, registry, types)
  if (checked.drafts.some(isError)) {
    const errors = (text: string) => {
      const again = parse(text)
      return again.ok ? check(again.program, registry, types).drafts.filter(isError) : again.errors
    }
    return refuse([
      ...withFixes(source, checked.drafts.filter(isError), errors),
      ...checked.drafts.filter((draft) => !isError(draft)),
    ])
  }
  const names = inputs.map(({ name }) => name)
  const body = lowerProgram(parsed.program, { registry, lines, foldTypes: checked.foldTypes }, names)
  const warnings = checked.drafts.map((draft) => placed(draft, lines))
  const program: Program = { source, warnings, syntax: parsed.program, registry, body, inputs: values, limits, lines }
  return { ok: true, program, warnings }
}

/**
 * Source to program: everything that can be known to be wrong without running it. Pure and synchronous; calls no tool; never throws.
 *
 * @example
 * const compiled = compile("return 1 + 1")
 * if (compiled.ok) Effect.runPromise(run(compiled.program)) // 2
 */
export const compile = (source: string, options: CompileOptions = {}): Compilation => {
  try {
    return compileChecked(source, options)
  } catch (cause) {
    const message = `internal error: ${cause instanceof Error ? cause.message : String(cause)}`
    return { ok: false, diagnostics: [placed(syntaxError("RL8104", "internal error", message, nowhere), new Lines(""))] }
  }
}

const details = (failed: Failed): JsonObject => {
  const json = toJson(object(failed.details))
  return json instanceof NotJson ? {} : (json as JsonObject)
}

const surface = (failed: Failed, lines: Lines): RunletError => {
  const place = failed.span === undefined ? undefined : lines.place(failed.span.start)
  return new RunletError({
    code: failed.code,
    message: failed.message,
    retryable: failed.retryable,
    uncertain: failed.uncertain,
    details: details(failed),
    span: failed.span,
    line: place?.line,
    column: place?.column,
  })
}

const deliver = (value: Value, limits: Limits): Value | Failed => {
  const large = () =>
    new Failed("RL4112", `the program's value exceeded the host limit of ${limits.outputBytes} bytes`, undefined)
  if (sizeOf(value) > limits.outputBytes) return large()
  const text = present(value)
  if (text instanceof NotPresentable) return new Failed("RL5207", `NOT_JSON_REPRESENTABLE: ${text.message}`, undefined)
  return utf8Length(text) > limits.outputBytes ? large() : value
}

/**
 * Runs a program. The value can always be presented as JSON. Interruption reaches every running tool, and the effect ends only when all
 * of them have ended; so does failure.
 */
export const run = (program: Program, options: RunOptions = {}): Effect.Effect<Value, RunletError> =>
  Effect.suspend(() => {
    const limits: Limits = { ...program.limits, ...options.limits }
    const { body, lines, source, syntax } = program
    const graph = options.observer === undefined ? undefined : new Recorder(options.observer)
    const state = new Run({
      limits,
      source,
      graph,
      journal: options.journal ?? memory(),
      durable: options.journal !== undefined,
      backoff: options.backoff,
    })
    const frame = new Frame(undefined, body.thunks)
    for (const [slot, value] of program.inputs.entries()) frame.slots[slot] = value
    const root = graph?.add("root", "return", syntax.result.span, 0, undefined)
    graph?.update(root, "running")
    const evaluated = Effect.suspend(() => toEffect(state.node(0, syntax.span) ?? body.run(frame, new Task(state, undefined), 0)))
    const bounded = Number.isFinite(limits.wallMs)
      ? Effect.timeoutOrElse(evaluated, {
          duration: Duration.millis(limits.wallMs),
          orElse: () =>
            Effect.fail(new Failed("RL4110", `the program exceeded the host limit of ${limits.wallMs} ms`, undefined)),
        })
      : evaluated
    const delivered = Effect.flatMap(bounded, (value) => toEffect(deliver(value, limits)))
    const sound = Effect.catchDefect(delivered, (defect) =>
      Effect.fail(
        new Failed("RL8104", `internal error: ${defect instanceof Error ? defect.message : String(defect)}`, undefined),
      ),
    )
    return sound.pipe(
      Effect.tap((value) =>
        Effect.sync(() => {
          if (graph === undefined || root === undefined) return
          for (const from of body.made(frame)) graph.edge({ kind: "data", from, to: root, fromPath: "result", toPath: "return" })
          graph.update(root, "succeeded", { output: value })
        }),
      ),
      Effect.onInterrupt(() => Effect.sync(() => graph?.update(root, "cancelled"))),
      Effect.tapError((failed) => Effect.sync(() => graph?.update(root, "failed", { error: failed }))),
      Effect.mapError((failed) => surface(failed, lines)),
    )
  })

/** The value as plain JSON, integers exact. */
export const json = (value: Value): Json => {
  const plain = toJson(value)
  return plain instanceof NotJson ? null : plain
}

export * as Runlet from "./Runlet.ts"
