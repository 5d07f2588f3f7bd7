import { NotCompiled } from "@acp-kit/orchestrator/Compose"
import type { Input } from "@acp-kit/runlet/Host"
import { compileRepairing } from "@acp-kit/runlet/Repair"
import { Runlet } from "@acp-kit/runlet/Runlet"
import * as Effect from "effect/Effect"
import { command } from "../Command.ts"
import { CommandFailed } from "../CommandFailed.ts"
import { Findings } from "../Findings.ts"
import { Flag } from "../Flag.ts"
import { Output } from "../Output.ts"
import { Program } from "../Program.ts"
import { Terminal } from "../Terminal.ts"
import { Toolset } from "../Toolset.ts"

const repairLines = ({ path }: Program.Program, repairs: ReadonlyArray<string>): ReadonlyArray<string> =>
  repairs.length === 0 ? [] : ["these repairs would make it parse:", ...repairs.map((note) => `${path}: ${note}`)]

const run = Effect.fnUntraced(function* (program: Program.Program, given: ReadonlyArray<Input>, json: boolean) {
  const inputs = yield* Program.inputs(given)
  const { source } = program
  const options = { tools: yield* Toolset.declarations, inputs }
  const compiled = Runlet.compile(source, options)
  const diagnostics = compiled.ok ? compiled.warnings : compiled.diagnostics
  const repairs = compiled.ok ? [] : compileRepairing(source, { ...options, rewrite: true }).notes
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === "error")
  const exit = errors.length === 0 ? (0 as const) : (2 as const)
  if (json) {
    yield* Output.value({ diagnostics: diagnostics.map(Findings.diagnosticJson), repairs }, true)
    return exit
  }
  if (errors.length > 0) {
    const failed = Findings.notCompiled(new NotCompiled({ source, diagnostics }), program)
    return yield* new CommandFailed({
      exit: failed.exit,
      text: [failed.text, ...repairLines(program, repairs)].join("\n"),
      error: failed.error,
    })
  }
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
    "Where it does not parse, the repairs are told that a model's program would get; kit fmt --repair makes them.",
  ],
  parameters: Program.parameters,
  flags: {
    ...Program.flags,
    json: Flag.toggle({ summary: 'print {"diagnostics":[{code, severity, line, column, message, fixes}], repairs}' }),
  },
  exclusive: [["FILE", "eval"]],
  examples: [{ line: "check review.rnlt", does: "shows what is wrong with review.rnlt, and how to repair it" }],
  run: ({ parameters, flags }) =>
    Effect.flatMap(Program.read("check", parameters.FILE, flags.eval), (program) => run(program, flags.input, flags.json)),
})
