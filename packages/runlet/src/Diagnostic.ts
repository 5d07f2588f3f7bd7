import type { Span } from "./Span.ts"

/** An edit that makes the diagnostic go away: `replacement` instead of the text of `span`. Empty spans insert. */
export interface Fix {
  readonly span: Span
  readonly replacement: string
  readonly message: string
}

/** Where in the pipeline a diagnostic comes from. */
export type Phase = "parse" | "analyze" | "plan" | "execute"

/** What is wrong with a source, where, and how to repair it. */
export interface Diagnostic {
  /** Stable: `RL` and four digits. */
  readonly code: string
  readonly title: string
  readonly message: string
  readonly severity: "error" | "warning"
  readonly phase: Phase
  /** UTF-16 offsets, half open. */
  readonly span: Span
  /** 1-based. */
  readonly line: number
  /** 1-based, in characters (Unicode scalar values). */
  readonly column: number
  /** Each has been tried on this source. */
  readonly fixes: ReadonlyArray<Fix>
  /** The nearest valid names, best first, at most five. */
  readonly candidates: ReadonlyArray<string>
}

const WIDTH = 200

const lineAround = (source: string, offset: number): string => {
  const start = source.lastIndexOf("\n", offset - 1) + 1
  const end = source.indexOf("\n", offset)
  return source.slice(start, end === -1 ? source.length : end).replace(/\r$/, "")
}

/** A line of a source around a column, at most 200 characters of it, and the line of carets that goes below. Tabs are shown as one space. */
export const excerpt = (text: string, line: number, column: number, length = 1): ReadonlyArray<string> => {
  const whole = Array.from(text, (char) => (char === "\t" ? " " : char))
  const first = Math.max(0, Math.min(column - 1 - 60, whole.length - WIDTH))
  const shown = whole.slice(first, first + WIDTH)
  const carets = "^".repeat(Math.max(1, Math.min(length, shown.length - (column - 1 - first))))
  const gutter = String(line)
  return [
    `${gutter} | ${shown.join("").trimEnd()}`,
    `${" ".repeat(gutter.length)} | ${" ".repeat(Math.max(0, column - 1 - first))}${carets}`,
  ]
}

/**
 * The text a person reads: `path:line:column: error[CODE]: title`, the source line with carets, the message, and the help.
 * Lines longer than 200 characters show the part around the place.
 */
export const render = (diagnostic: Diagnostic, source: string, path: string): string => {
  const { line, column, span } = diagnostic
  const length = Array.from(source.slice(span.start, span.end).split("\n", 1)[0] ?? "").length
  const out = [
    `${path}:${line}:${column}: ${diagnostic.severity}[${diagnostic.code}]: ${diagnostic.title}`,
    ...excerpt(lineAround(source, span.start), line, column, length),
    `  ${diagnostic.message}`,
  ]
  for (const fix of diagnostic.fixes) if (fix.message !== "") out.push(`  help: ${fix.message}`)
  if (diagnostic.candidates.length > 0)
    out.push(`  did you mean ${diagnostic.candidates.map((name) => `\`${name}\``).join(", ")}?`)
  return out.join("\n")
}
