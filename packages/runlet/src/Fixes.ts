import type { Fix } from "./Diagnostic.ts"
import type { Draft, Proposal } from "./Draft.ts"
import { repairOf } from "./Heal.ts"
import { parse } from "./Parser.ts"

/** The source with an edit made. */
export const applied = (source: string, { replacement, span }: Fix): string =>
  source.slice(0, span.start) + replacement + source.slice(span.end)

/** Errors of the analysis whose fixes are tried; the others come without. */
const MAX_TRIED = 8

const syntaxErrors = (source: string): ReadonlyArray<Draft> => {
  const parsed = parse(source)
  return parsed.ok ? [] : parsed.errors
}

/** Where a place of a source is after an edit. */
export const moved = (at: number, { replacement, span }: Fix): number =>
  at < span.start ? at : Math.max(span.start, at - span.end + span.start + replacement.length)

/** Whether an edit brings a source on that does not parse: now it does, or what is wrong lies behind the edit and the old place. */
const bringsOn = (source: string, draft: Draft, fix: Proposal): boolean => {
  const first = syntaxErrors(applied(source, fix))[0]
  if (first === undefined || first.phase !== "parse") return true
  const { start } = first.span
  return fix.guess !== true && start >= fix.span.start + fix.replacement.length && start > moved(draft.span.start, fix)
}

/** A syntax error with the best edit that was tried and helps: what healing would do, else its own proposal. */
export const withFix = (source: string, draft: Draft): Draft => {
  if (draft.phase !== "parse") return draft
  const edit = repairOf(source, draft, true)
  const own: ReadonlyArray<Proposal> =
    edit === undefined
      ? draft.fixes
      : [{ span: { start: edit.start, end: edit.end }, replacement: edit.text, message: edit.note }, ...draft.fixes]
  const best = own.find((fix) => bringsOn(source, draft, fix))
  if (best === undefined) return { ...draft, fixes: [] }
  const { message, replacement, span } = best
  return { ...draft, fixes: [{ message, replacement, span }] }
}

/** Errors of the analysis with those of their fixes that leave fewer errors. */
export const withFixes = (
  source: string,
  errors: ReadonlyArray<Draft>,
  examine: (source: string) => ReadonlyArray<Draft>,
): ReadonlyArray<Draft> => {
  let left = MAX_TRIED
  const helps = (fix: Fix): boolean => {
    if (left-- <= 0) return false
    const after = examine(applied(source, fix))
    return after.length < errors.length && after.every(({ phase }) => phase !== "parse")
  }
  return errors.map((draft) => (draft.fixes.length === 0 ? draft : { ...draft, fixes: draft.fixes.filter(helps) }))
}
