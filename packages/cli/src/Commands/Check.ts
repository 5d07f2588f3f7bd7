import { Compose, NotCompiled } from "@acp-kit/orchestrator/Compose"
import type { Input } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import { command } from "../Command.ts"
import { Findings } from "../Findings.ts"
import { Flag } from "../Flag.ts"
import { Output } from "../Output.ts"
import { Program } from "../Program.ts"
import { Terminal } from "../Terminal.ts"
import { Toolset } from "../Toolset.ts"

const run = Effect.fnUntraced(function* (program: Program.Program, given: ReadonlyArray<Input>, json: boolean) {
  const inputs = yield* Program.inputs(given)
  const diagnostics = Compose.check(program.source, yield* Toolset.declarations, inputs)
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === "error")
  const exit = errors.length === 0 ? (0 as const) : (2 as const)
  if (json) {
    yield* Output.value({ diagnostics: diagnostics.map(Findings.diagnosticJson) }, true)
    return exit
  }
  if (errors.length > 0) return yield* Findings.notCompiled(new NotCompiled({ source: program.source, diagnostics }), program)
  const terminal = yield* Terminal.Service
  if (diagnostics.length > 0) yield* terminal.err(`${Findings.text(diagnostics, program)}\n`)
  return exit
})

/** `kit check FILE`: every diagnostic of a program, nothing called. */
export const check = command({
  name: "check",
  summary: "compile a program and show every diagnostic; nothing is called",
  details: [
    "Exit 0 without an error, warnings included, and 2 with one. Names of inputs count as known where --input gives them.",
  ],
  parameters: Program.parameters,
  flags: {
    ...Program.flags,
    json: Flag.toggle({ summary: 'print {"diagnostics":[{code, severity, line, column, message, fixes}]}' }),
  },
  exclusive: [["FILE", "eval"]],
  examples: [{ line: "check review.rnlt", does: "shows what is wrong with review.rnlt, and how to repair it" }],
  run: ({ parameters, flags }) =>
    Effect.flatMap(Program.read("check", parameters.FILE, flags.eval), (program) => run(program, flags.input, flags.json)),
})
