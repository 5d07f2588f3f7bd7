import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { Canonical } from "../src/Canonical.ts"
import type { Json, JsonSchema, Policy, Tool } from "../src/Host.ts"
import {
  type CompileOptions,
  compile,
  type Diagnostic,
  type Program,
  type RunletError,
  type RunOptions,
  render,
} from "../src/Runlet.ts"
import { settle } from "./Scripted.ts"

/** The program, or the test fails with its diagnostics. */
export const compiled = (source: string, options?: CompileOptions): Program => {
  const result = compile(source, options)
  if (result.ok) return result.program
  throw new Error(result.diagnostics.map((diagnostic) => render(diagnostic, source, "test.rnlt")).join("\n"))
}

/** What is wrong with a source that must not compile. */
export const refused = (source: string, options?: CompileOptions): ReadonlyArray<Diagnostic> => {
  const result = compile(source, options)
  if (!result.ok) return result.diagnostics
  throw new Error(`compiled:\n${source}`)
}

export const codes = (source: string, options?: CompileOptions): ReadonlyArray<string> =>
  refused(source, options).map(({ code }) => code)

export const warnings = (source: string, options?: CompileOptions): ReadonlyArray<string> =>
  compiled(source, options).warnings.map(({ code }) => code)

/** The presentation of what a program returns, on the test clock. */
export const value = Effect.fnUntraced(function* (source: string, options?: CompileOptions & RunOptions) {
  const exit = yield* settle(compiled(source, options), options)
  if (Exit.isSuccess(exit)) return Canonical.stringify(exit.value)
  throw new Error(`${source}\n${Cause.pretty(exit.cause)}`)
})

/** How a program fails, on the test clock. */
export const failure = Effect.fnUntraced(function* (source: string, options?: CompileOptions & RunOptions) {
  const exit = yield* settle(compiled(source, options), options)
  if (Exit.isSuccess(exit)) throw new Error(`${source}\nreturned ${Canonical.stringify(exit.value)}`)
  const error = Cause.findError(exit.cause)
  if (Result.isFailure(error)) throw new Error(Cause.pretty(exit.cause))
  return error.success satisfies RunletError
})

/** A tool that keeps what it was given and returns what it is told. */
export const probe = (
  schema: JsonSchema,
  output: JsonSchema,
  returns: (args: ReadonlyArray<Json>) => unknown = ([first]) => first,
  policy: Policy = "pure",
) => {
  const seen: Array<Json> = []
  const tool: Tool = {
    name: "probe",
    summary: "",
    parameters: [{ name: "input", schema }],
    output,
    policy,
    schemaVersion: "1",
    handler: (args) =>
      Effect.sync(() => {
        seen.push(args[0]!)
        return returns(args) as Json
      }),
  }
  return { seen, options: { tools: [tool] } }
}
