import type { NotCompiled, RunFailed } from "@acp-kit/orchestrator/Compose"
import { type Diagnostic, excerpt, render } from "@acp-kit/runlet/Diagnostic"
import type { JsonObject } from "@acp-kit/runlet/Host"
import { CommandFailed } from "./CommandFailed.ts"
import type { Program } from "./Program.ts"

/** A diagnostic as `--json` prints it. A fix replaces `length` UTF-16 units from `offset` by `replacement`. */
export const diagnosticJson = (diagnostic: Diagnostic): JsonObject => ({
  code: diagnostic.code,
  severity: diagnostic.severity,
  line: diagnostic.line,
  column: diagnostic.column,
  message: diagnostic.message,
  fixes: diagnostic.fixes.map((fix) => ({
    message: fix.message,
    replacement: fix.replacement,
    offset: fix.span.start,
    length: fix.span.end - fix.span.start,
  })),
  ...(diagnostic.candidates.length === 0 ? {} : { candidates: diagnostic.candidates }),
})

/** Diagnostics for people, each with its line, its carets and its help. */
export const text = (diagnostics: ReadonlyArray<Diagnostic>, program: Program): string =>
  diagnostics.map((diagnostic) => render(diagnostic, program.source, program.path)).join("\n")

/** The program does not compile: exit 2 with every diagnostic. */
export const notCompiled = (failure: NotCompiled, program: Program): CommandFailed =>
  new CommandFailed({
    exit: 2,
    text: text(failure.diagnostics, program),
    error: { code: failure.code, message: failure.message, diagnostics: failure.diagnostics.map(diagnosticJson) },
  })

/** The program ran and failed: exit 1 with the failure and its place. */
export const runFailed = (failure: RunFailed, program: Program): CommandFailed => {
  const { code, message, retryable, uncertain, details, line, column } = failure
  const place = line === undefined || column === undefined ? undefined : { line, column }
  const head = place === undefined ? program.path : `${program.path}:${place.line}:${place.column}`
  return new CommandFailed({
    exit: 1,
    text: [
      `${head}: failed[${code}]: ${message}`,
      ...(place === undefined ? [] : excerpt(program.source.split("\n")[place.line - 1] ?? "", place.line, place.column)),
      ...(uncertain ? ["  what was asked for may have happened"] : []),
    ].join("\n"),
    error: { code, message, retryable, uncertain, details, ...place },
  })
}

export * as Findings from "./Findings.ts"
