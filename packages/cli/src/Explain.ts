import { NotCompiled } from "@acp-kit/orchestrator/Compose"
import type { Input, JsonObject } from "@acp-kit/runlet/Host"
import { Plan, type Step } from "@acp-kit/runlet/Plan"
import { Runlet } from "@acp-kit/runlet/Runlet"
import * as Effect from "effect/Effect"
import { Findings } from "./Findings.ts"
import { Output } from "./Output.ts"
import { printable } from "./Printable.ts"
import type { Program } from "./Program.ts"
import { Terminal } from "./Terminal.ts"
import { Toolset } from "./Toolset.ts"

const stepJson = ({ id, kind, label, binding, line, column, parent, waitsFor, policy, lazy }: Step): JsonObject => ({
  id,
  kind,
  label,
  binding: binding ?? null,
  line,
  column,
  parent: parent ?? null,
  waitsFor,
  policy: policy ?? null,
  lazy,
})

/** Prints what a program would do and what waits for what, and runs nothing. One that does not compile fails as it would when run. */
export const explain = Effect.fnUntraced(function* (program: Program.Program, inputs: ReadonlyArray<Input>, asJson: boolean) {
  const { source } = program
  const compiled = Runlet.compile(source, { tools: yield* Toolset.declarations, inputs })
  if (!compiled.ok) return yield* Findings.notCompiled(new NotCompiled({ source, diagnostics: compiled.diagnostics }), program)
  const terminal = yield* Terminal.Service
  if (compiled.warnings.length > 0) yield* terminal.err(`${Findings.text(compiled.warnings, program)}\n`)
  const steps = Plan.plan(compiled.program)
  if (asJson) yield* Output.value({ steps: steps.map(stepJson) }, true)
  else if (steps.length === 0) yield* Output.lines(["no steps: the program only computes its value"])
  else yield* Output.lines(Plan.renderPlan(steps).split("\n").map(printable))
})

export * as Explain from "./Explain.ts"
