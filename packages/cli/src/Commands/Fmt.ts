import { SystemFailure } from "@acp-kit/platform/SystemFailure"
import { format } from "@acp-kit/runlet/Format"
import { heal } from "@acp-kit/runlet/Heal"
import type { JsonObject } from "@acp-kit/runlet/Host"
import { compile, type Diagnostic } from "@acp-kit/runlet/Runlet"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import { command } from "../Command.ts"
import { failed } from "../CommandFailed.ts"
import { Findings } from "../Findings.ts"
import { Flag } from "../Flag.ts"
import { Output } from "../Output.ts"
import { Program } from "../Program.ts"
import { Terminal } from "../Terminal.ts"

/** What became of one source. */
interface Formatted {
  readonly program: Program.Program
  /** Its standard form; `undefined` where it does not parse. */
  readonly text: string | undefined
  /** What was repaired to get there. */
  readonly repairs: ReadonlyArray<string>
  readonly diagnostics: ReadonlyArray<Diagnostic>
}

const standard = (program: Program.Program, repair: boolean): Formatted => {
  const { source } = program
  const text = format(source)
  if (text !== null) return { program, text, repairs: [], diagnostics: [] }
  const healed = repair ? heal(source, { rewrite: true }) : null
  const mended = healed === null ? null : format(healed.source)
  if (healed !== null && mended !== null) return { program, text: mended, repairs: healed.notes, diagnostics: [] }
  const compiled = compile(source)
  return { program, text: undefined, repairs: [], diagnostics: compiled.ok ? [] : compiled.diagnostics }
}

const unwritable = (path: string, error: PlatformError) =>
  failed(1, "UNWRITABLE", `could not write ${path}: ${SystemFailure.why(error)}`)

/** Replaces a file in one step; it keeps its mode, and a link keeps pointing where it did. */
const replace = Effect.fnUntraced(function* (named: string, text: string) {
  const files = yield* FileSystem.FileSystem
  const write = Effect.gen(function* () {
    const path = yield* files.realPath(named)
    const { mode } = yield* files.stat(path)
    const beside = `${path}.kit-fmt`
    yield* Effect.mapError(files.writeFileString(beside, text, { flag: "wx" }), (error) => unwritable(beside, error))
    yield* Effect.andThen(files.chmod(beside, mode & 0o7777), files.rename(beside, path)).pipe(
      Effect.onError(() => Effect.ignore(files.remove(beside))),
    )
  })
  yield* Effect.catchTag(Effect.uninterruptible(write), "PlatformError", (error) => Effect.fail(unwritable(named, error)))
})

const state = ({ program, text }: Formatted, check: boolean): string => {
  if (text === undefined) return "broken"
  return text === program.source ? "unchanged" : check ? "differs" : "formatted"
}

const json = (one: Formatted, check: boolean): JsonObject => ({
  path: one.program.path,
  state: state(one, check),
  repairs: one.repairs,
  diagnostics: one.diagnostics.map(Findings.diagnosticJson),
})

interface Asked {
  readonly check: boolean
  readonly repair: boolean
  readonly json: boolean
}

const run = Effect.fnUntraced(function* (named: ReadonlyArray<string>, asked: Asked) {
  const terminal = yield* Terminal.Service
  const programs = yield* Effect.forEach(named, (file) => Program.read("fmt", file, undefined))
  const all: Array<Formatted> = []
  for (const [index, program] of programs.entries()) {
    const one = standard(program, asked.repair)
    const changed = one.text !== undefined && one.text !== program.source
    const notes = one.repairs.map((note) => `${program.path}: ${note}\n`).join("")
    const broken = one.diagnostics.length === 0 ? "" : `${Findings.text(one.diagnostics, program)}\n`
    if (notes + broken !== "") yield* terminal.err(notes + broken)
    const piped = named[index] === "-"
    if (changed && !piped && !asked.check) yield* replace(program.path, one.text)
    if (!asked.json && piped && !asked.check && one.text !== undefined) yield* terminal.out(one.text)
    else if (!asked.json && changed) yield* Output.lines([program.path])
    all.push(one)
  }
  if (asked.json) yield* Output.value({ files: all.map((one) => json(one, asked.check)) }, true)
  if (all.some(({ text }) => text === undefined)) return 2 as const
  return asked.check && all.some(({ program, text }) => text !== program.source) ? (1 as const) : (0 as const)
})

/** `kit fmt FILE...`. */
export const fmt = command({
  name: "fmt",
  summary: "bring programs into the standard form, and name those that changed",
  details: [
    "A file is replaced in one step, and only where it changes; the standard input, named -, goes to stdout. Formatting twice changes nothing more, and what a program means stays.",
    "One that does not parse is left as it is: its diagnostics are shown, the others are formatted, and the exit code is 2.",
  ],
  parameters: { FILE: Flag.several("the programs; - reads one from standard input") },
  flags: {
    check: Flag.toggle({ summary: "write nothing, name what would change, and leave with 1 where something would" }),
    repair: Flag.toggle({
      summary: "first repair what does not parse, as a model's program is repaired, and tell what was done",
    }),
    json: Flag.toggle({ summary: 'print {"files":[{path, state, repairs, diagnostics}]}; the standard input is only looked at' }),
  },
  examples: [
    { line: "fmt examples/first-run.rnlt", does: "formats a program in place" },
    { line: "fmt --check examples/first-run.rnlt", does: "for continuous integration" },
  ],
  run: ({ parameters, flags }) => run(parameters.FILE, flags),
})
