import { rank } from "../Convert.ts"
import { schemaError } from "../Draft.ts"
import { hintFor } from "../Hints.ts"
import { Failed } from "../Outcome.ts"
import { compilePattern } from "../Prelude/Patterns.ts"
import type { Call, Fail } from "../Syntax.ts"
import * as Types from "../Types.ts"
import { type Type, typeKind, variants } from "../Types.ts"
import type { Checking } from "./Checking.ts"
import { mismatch } from "./Mismatch.ts"
import type { Names } from "./Names.ts"

const counted = (name: string, required: number, total: number, received: number) => {
  const expects = required === total ? String(total) : `${required} to ${total}`
  return `\`${name}\` expects ${expects} argument${expects === "1" ? "" : "s"} but received ${received}`
}

/** Bytes, as patterns charge them, that a check spends on patterns; further ones are left to the run. */
const MAX_PATTERNS = 8_000_000

/** A literal pattern as second argument of a `regex` function is compiled here already. */
const checkPattern = (checking: Checking, expr: Call): void => {
  const pattern = expr.args[1]
  if (!expr.path?.startsWith("regex.") || pattern?.kind !== "literal" || typeof pattern.value !== "string") return
  if (checking.patterns > MAX_PATTERNS) return
  const compiled = compilePattern(pattern.value, { charge: (bytes) => (checking.patterns += bytes) })
  if (compiled instanceof Failed) checking.report(schemaError("RL2316", `${compiled.code}: ${compiled.message}`, pattern.span))
}

export const callType = (checking: Checking, expr: Call, names: Names): Type => {
  if (expr.path === undefined) {
    checking.report(schemaError("RL2104", "values are not callable; use a registered tool name", expr.callee.span))
    return Types.any
  }
  const callable = checking.registry.lookup(expr.path)
  if (callable === undefined) {
    const hint = hintFor(expr.path)
    const message = `\`${expr.path}\` is not registered${hint === undefined ? "" : `; ${hint}`}`
    checking.report(
      schemaError("RL2102", message, expr.callee.span, {
        title: "unknown callable",
        candidates: checking.candidates(expr.path, () => checking.registry.names()),
      }),
    )
    return Types.any
  }
  const { output, parameters, required } = callable
  for (const { name, problem } of [...parameters, output])
    if (problem !== undefined)
      checking.report(
        schemaError("RL8103", `\`${callable.name}\` cannot be called: the schema of its ${name}: ${problem}`, expr.callee.span, {
          title: "invalid tool",
        }),
      )
  if (expr.args.length < required || expr.args.length > parameters.length)
    checking.report(schemaError("RL2208", counted(callable.name, required, parameters.length, expr.args.length), expr.span))
  for (const [at, arg] of expr.args.slice(0, parameters.length).entries()) {
    const type = checking.infer(arg, names)
    const wanted = parameters[at]!.type
    if (rank(type, wanted) === undefined)
      checking.report(
        schemaError(
          "RL2311",
          `argument cannot be safely converted to the tool parameter schema: ${mismatch(type, wanted)}`,
          arg.span,
        ),
      )
  }
  checkPattern(checking, expr)
  return callable.output.type
}

const mayBe = (type: Type, ...kinds: ReadonlyArray<Type["kind"]>) =>
  variants(type).some((variant) => variant.kind === "any" || variant.kind === "never" || kinds.includes(variant.kind))

export const failType = (checking: Checking, expr: Fail, names: Names): Type => {
  const types = expr.args.map((arg) => checking.infer(arg, names))
  if (expr.args.length < 2 || expr.args.length > 3)
    checking.report(schemaError("RL2314", counted("fail", 2, 3, expr.args.length), expr.span))
  for (const [at, word] of ["code", "message"].entries()) {
    const type = types[at]
    if (type !== undefined && !mayBe(type, "string"))
      checking.report(schemaError("RL2314", `fail ${word} must be a string, got ${typeKind(type)}`, expr.args[at]!.span))
  }
  const details = types[2]
  if (details !== undefined && !mayBe(details, "object", "map"))
    checking.report(schemaError("RL2314", "fail details must be an object", expr.args[2]!.span))
  return Types.never
}
