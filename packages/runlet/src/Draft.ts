import type { Diagnostic, Fix } from "./Diagnostic.ts"
import type { Lines, Span } from "./Span.ts"

/** An edit that may help; a guess only if the whole source parses with it. */
export interface Proposal extends Fix {
  readonly guess?: boolean
}

/** A diagnostic whose place is not yet counted, and whose fixes have not been tried. */
export interface Draft extends Omit<Diagnostic, "line" | "column" | "fixes"> {
  readonly fixes: ReadonlyArray<Proposal>
}

export interface DraftDetails {
  readonly title?: string
  readonly fix?: Proposal
  readonly candidates?: ReadonlyArray<string>
}

/** Messages hold names and types of the source, which may be as long as it likes. */
const MAX_MESSAGE = 1_000

const brief = (message: string): string => (message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message)

/** An error of the scanner or the parser. */
export const syntaxError = (code: string, title: string, message: string, span: Span, fix?: Proposal): Draft => ({
  code,
  title,
  message: brief(message),
  severity: "error",
  phase: "parse",
  span,
  fixes: fix === undefined ? [] : [fix],
  candidates: [],
})

/** An error of the checker. */
export const schemaError = (code: string, message: string, span: Span, details: DraftDetails = {}): Draft => ({
  code,
  title: details.title ?? "schema error",
  message: brief(message),
  severity: "error",
  phase: "analyze",
  span,
  fixes: details.fix === undefined ? [] : [details.fix],
  candidates: details.candidates ?? [],
})

export const warning = (code: string, title: string, message: string, span: Span): Draft => ({
  code,
  title,
  message: brief(message),
  severity: "warning",
  phase: "analyze",
  span,
  fixes: [],
  candidates: [],
})

export const placed = (draft: Draft, lines: Lines): Diagnostic => ({ ...draft, ...lines.place(draft.span.start) })
