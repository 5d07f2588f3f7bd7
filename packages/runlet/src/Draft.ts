import type { Diagnostic, Fix } from "./Diagnostic.ts"
import type { Lines, Span } from "./Span.ts"

/** A diagnostic whose place is not yet counted. */
export interface Draft extends Omit<Diagnostic, "line" | "column"> {}

export interface DraftDetails {
  readonly title?: string
  readonly fix?: Fix
  readonly candidates?: ReadonlyArray<string>
}

/** An error of the scanner or the parser. */
export const syntaxError = (code: string, title: string, message: string, span: Span, fix?: Fix): Draft => ({
  code,
  title,
  message,
  severity: "error",
  phase: "parse",
  span,
  fixes: fix === undefined ? [] : [fix],
  candidates: [],
})

/** An error of the checker; without a fix of its own it says that the expression has to change. */
export const schemaError = (code: string, message: string, span: Span, details: DraftDetails = {}): Draft => ({
  code,
  title: details.title ?? "schema error",
  message,
  severity: "error",
  phase: "analyze",
  span,
  fixes: [details.fix ?? { span, replacement: "", message: "change this expression to an accepted shape" }],
  candidates: details.candidates ?? [],
})

export const warning = (code: string, title: string, message: string, span: Span, fix?: Fix): Draft => ({
  code,
  title,
  message,
  severity: "warning",
  phase: "analyze",
  span,
  fixes: fix === undefined ? [] : [fix],
  candidates: [],
})

export const placed = (draft: Draft, lines: Lines): Diagnostic => ({ ...draft, ...lines.place(draft.span.start) })

/** Fixes that say what to do but carry no edit: applying their empty replacement would delete the expression. */
export const isAdvice = (fix: Fix): boolean => fix.replacement === "" && fix.span.end > fix.span.start
