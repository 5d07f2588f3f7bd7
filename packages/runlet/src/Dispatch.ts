import type { Validator } from "@acp-kit/json-schema/JsonSchemas"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { accepts } from "./Convert.ts"
import type { Frame, Task } from "./Frame.ts"
import type { Json, Tool, ToolContext, ToolFailure } from "./Host.ts"
import { digest } from "./Identity.ts"
import type { Settlement } from "./Journal.ts"
import { fromJson, NotJson, toJson } from "./JsonValue.ts"
import { Failed, Later } from "./Outcome.ts"
import type { Callable, Port } from "./Registry.ts"
import type { Run } from "./Run.ts"
import type { Place, Span } from "./Span.ts"
import { list, Obj, sizeOf, type Value } from "./Value.ts"

/** A call written in the source. */
export interface Site {
  readonly callable: Callable
  readonly tool: Tool
  readonly span: Span
  readonly place: Place
}

const positions = (frame: Frame): ReadonlyArray<Value> => {
  const out: Array<Value> = []
  for (let at: Frame | undefined = frame; at !== undefined; at = at.parent) if (at.index >= 0) out.push(at.index, digest(at.item))
  return out.reverse()
}

const identify = (site: Site, frame: Frame, task: Task, args: ReadonlyArray<Value>): string => {
  const run = task.run
  run.digest ??= digest(run.source)
  const { callable, span } = site
  return digest(
    list([run.digest, callable.name, callable.schemaVersion, span.start, list([...positions(frame)]), list([...args])]),
  )
}

class Context implements ToolContext {
  readonly attempt: number
  readonly line: number
  readonly column: number
  readonly #identify: () => string
  readonly #generation: number
  #id: string | undefined

  constructor(site: Site, attempt: number, generation: number, id: string | undefined, identifyCall: () => string) {
    this.attempt = attempt
    this.line = site.place.line
    this.column = site.place.column
    this.#generation = generation
    this.#identify = identifyCall
    this.#id = id
  }

  get operationId(): string {
    this.#id ??= this.#identify()
    return this.#id
  }

  get dispatchId(): string {
    return `${this.operationId}:${this.#generation}`
  }
}

const mayRetry = (callable: Callable) =>
  callable.policy === "pure" || callable.policy === "idempotent" || callable.policy === "recoverable"

const violation = (validator: Validator | undefined, json: Json): string | undefined => {
  const first = validator?.check(json).at(-1)
  return first === undefined ? undefined : `${first.path === "" ? "" : `${first.path}: `}${first.message}`
}

const read = (output: Port, json: Json, callable: Callable, span: Span, run: Run): Value | Failed => {
  const mismatch = (detail: string) =>
    new Failed(
      "RL6103",
      `TOOL_OUTPUT_SCHEMA_MISMATCH: \`${callable.name}\` returned a value outside its output schema${detail}`,
      span,
      { uncertain: callable.policy !== "pure" },
    )
  const value = fromJson(json, output.type, run.limits.valueBytes)
  if (value instanceof NotJson) return mismatch(`: ${value.message}`)
  if (!accepts(output.type, value)) return mismatch("")
  const problem = violation(output.validator, json)
  if (problem !== undefined) return mismatch(`: ${problem}`)
  run.charge(2 * sizeOf(value))
  const bounded = run.bounded(value)
  return bounded instanceof Failed ? bounded.at(span) : bounded
}

const failure = (
  callable: Callable,
  settled: Settlement & { ok: false },
  retryAfterMs: number | undefined,
  span: Span,
): Failed => {
  const details = fromJson(settled.details)
  return new Failed(settled.code, settled.message, span, {
    retryable: settled.retryable && mayRetry(callable),
    uncertain: settled.uncertain,
    ...(details instanceof Obj ? { details: details.entries } : {}),
    retryAfterMs: mayRetry(callable) ? retryAfterMs : undefined,
  })
}

/** A call that an earlier attempt of its boundary dispatched, that did not succeed, and that its policy forbids to make again. */
const repeated = (callable: Callable, span: Span): Failed =>
  new Failed(
    "RL6104",
    `CALL_NOT_REPEATABLE: an earlier attempt called \`${callable.name}\` without success, and its policy allows one call`,
    span,
    { uncertain: true },
  )

const settle = (tool: Tool, args: ReadonlyArray<Json>, context: ToolContext) =>
  Effect.suspend(() => {
    const called: unknown = tool.handler(args, context)
    return Effect.isEffect(called) ? (called as ReturnType<Tool["handler"]>) : Effect.die("its handler returned no Effect")
  }).pipe(
    Effect.map((value): { settled: Settlement; retryAfterMs: number | undefined } => ({
      settled: { ok: true, value },
      retryAfterMs: undefined,
    })),
    Effect.catch((error: ToolFailure) => {
      if (typeof error?.code !== "string") return Effect.die(error)
      return Effect.succeed({
        settled: {
          ok: false,
          code: error.code,
          message: String(error.message),
          retryable: error.retryable === true,
          uncertain: error.uncertain === true,
          details: error.details ?? {},
        } satisfies Settlement,
        retryAfterMs: typeof error.retryAfterMs === "number" ? error.retryAfterMs : undefined,
      })
    }),
  )

const describe = (defect: unknown): string => {
  if (defect instanceof Error) return defect.message
  return typeof defect === "object" ? "it failed with something that is no ToolFailure" : String(defect)
}

/** Calls a tool of the host with converted arguments: at most once per operation, within the limits of the run. */
export const dispatch = (site: Site, frame: Frame, task: Task, args: ReadonlyArray<Value>, node: string | undefined): Later => {
  const { callable, tool, span } = site
  const run = task.run
  const call = Effect.suspend((): Effect.Effect<Value, Failed> => {
    const plain: Array<Json> = []
    for (const [at, arg] of args.entries()) {
      const json = toJson(arg)
      const problem = json instanceof NotJson ? json.message : violation(callable.parameters[at]?.validator, json)
      if (problem !== undefined)
        return Effect.fail(
          new Failed("RL6102", `TOOL_INPUT_SCHEMA_MISMATCH: argument ${at + 1} of \`${callable.name}\`: ${problem}`, span),
        )
      plain.push(json as Json)
    }
    const remembers = run.durable || task.consumed !== undefined
    const id = remembers ? identify(site, frame, task, args) : undefined
    const operation = id === undefined ? undefined : { id, tool: callable.name, schemaVersion: callable.schemaVersion }
    if (id !== undefined) {
      const before = run.lastNode.get(id)
      if (before !== undefined && node !== undefined) run.graph?.edge({ kind: "retry_of", from: node, to: before })
      if (node !== undefined) run.lastNode.set(id, node)
    }
    const dispatched = Effect.suspend(() => {
      const generation = id === undefined ? 0 : (run.generations.get(id) ?? 0)
      if (generation > 0 && !mayRetry(callable)) return Effect.fail(repeated(callable, span))
      if (run.calls >= run.limits.calls)
        return Effect.fail(new Failed("RL4109", `the program exceeded the host limit of ${run.limits.calls} tool calls`, span))
      run.calls++
      if (id !== undefined) run.generations.set(id, generation + 1)
      run.graph?.update(node, "running")
      const called = settle(
        tool,
        plain,
        new Context(site, frame.attempt, generation, id, () => identify(site, frame, task, args)),
      )
      return operation === undefined ? called : Effect.andThen(run.journal.dispatching(operation, generation), called)
    })
    const answer = ({ settled, retryAfterMs }: { settled: Settlement; retryAfterMs: number | undefined }): Value | Failed =>
      settled.ok ? read(callable.output, settled.value, callable, span, run) : failure(callable, settled, retryAfterMs, span)
    const within = Effect.suspend(() => {
      run.graph?.update(node, "dispatching")
      return run.permits.withPermit(dispatched)
    })
    run.graph?.update(node, "blocked")
    const remembered =
      operation === undefined
        ? within
        : Effect.flatMap(run.journal.lookup(operation), (known) =>
            Option.isSome(known)
              ? Effect.succeed({ settled: known.value, retryAfterMs: undefined })
              : Effect.tap(within, ({ settled }) => run.journal.record(operation, settled)),
          )
    return Effect.flatMap(remembered, (settled) => {
      const result = answer(settled)
      return result instanceof Failed ? Effect.fail(result) : Effect.succeed(result)
    })
  })
  return new Later(
    Effect.catchCause(call, (cause) => {
      const failed = Cause.findError(cause)
      if (Result.isSuccess(failed)) return Effect.fail(failed.success)
      const defect = Cause.findDefect(cause)
      const text = Result.isFailure(defect) ? "it interrupted itself" : describe(defect.success)
      return Effect.fail(
        new Failed("RL8104", `internal error in \`${callable.name}\`: ${text}`, span, { uncertain: callable.policy !== "pure" }),
      )
    }),
  )
}
