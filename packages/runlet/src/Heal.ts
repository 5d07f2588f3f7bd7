import type { Draft } from "./Draft.ts"
import { type Edit, rewrite } from "./Heal/Rewrites.ts"
import { parse } from "./Parser.ts"
import { scan, type Token } from "./Scanner.ts"
import { Lines } from "./Span.ts"

/** A repaired source, and what was done to it, as `line N: …`. */
export interface Healed {
  readonly source: string
  readonly notes: ReadonlyArray<string>
}

export interface HealOptions {
  /** Also replaces what other languages write: `'…'`, `&&`, `||`, `!`, `? :`, `let`. Off by default, for it guesses. */
  readonly rewrite?: boolean
}

/** Bounds of one healing: repairs, and UTF-16 units read over all passes: one repair for a source of a megabyte, all for one of 30 kB. */
const MAX_REPAIRS = 64
const MAX_READ = 2_500_000

const insert = (at: number, text: string, note: string): Edit => ({ start: at, end: at, text, note })

const freshName = (source: string): string => {
  for (let count = 1; ; count++) if (!source.includes(`fixed_${count}`)) return `fixed_${count}`
}

const tokensOf = (source: string): ReadonlyArray<Token> => {
  const scanned = scan(source)
  return scanned.ok ? scanned.tokens : []
}

/** `if c { skip }` as a statement, which is `skip if c`. */
const skipping = (source: string, start: number): Edit | undefined => {
  const tokens = tokensOf(source).filter((token) => token.start >= start)
  let depth = 0
  const open = tokens.findIndex((token) => {
    if (token.kind === "{" && depth === 0) return true
    if (token.kind === "(" || token.kind === "[" || token.kind === "{") depth++
    if (token.kind === ")" || token.kind === "]" || token.kind === "}") depth--
    return false
  })
  if (open < 2) return undefined
  const inside = tokens.slice(open + 1).filter((token) => token.kind !== "newline" && token.kind !== ";")
  if (inside[0]?.kind !== "skip" || inside[1]?.kind !== "}" || inside[2]?.kind === "else") return undefined
  const condition = tokens.slice(1, open)
  const text = source.slice(condition[0]!.start, condition.at(-1)!.end)
  const whole = condition.some((token) => token.kind === "if") ? `(${text})` : text
  return {
    start,
    end: inside[1].end,
    text: `skip if ${whole}`,
    note: "`if` is not a statement; wrote the filter as `skip if condition`",
  }
}

const isBreak = ({ kind }: Token): boolean => kind === "newline" || kind === ";"

/** What stands between a `}` and its `catch`; comments go behind the `{` of the handler. */
const joining = (source: string, at: number): Edit | undefined => {
  const scanned = scan(source)
  if (!scanned.ok) return undefined
  const { comments, tokens } = scanned
  const here = tokens.findIndex((token) => token.start === at)
  const close = tokens.slice(0, here).findLast((token) => !isBreak(token))
  if (close?.kind !== "}") return undefined
  const between = comments.filter((comment) => comment.start > close.start && comment.start < at)
  const note = "joined `catch` to the line of its boundary"
  if (between.length === 0) return { start: close.end, end: at, text: " ", note }
  const open = tokens.slice(here).find(({ kind }) => kind === "{")
  if (open === undefined) return undefined
  const kept = between.map(({ text }) => ` ${text}\n`).join("")
  return { start: close.end, end: open.end, text: ` ${source.slice(at, open.end)}${kept}`, note }
}

/** Whether nothing stands between `end` and the end of the source. */
const isLast = (source: string, end: number): boolean =>
  tokensOf(source).every((token) => token.end <= end || token.kind === "end" || isBreak(token))

/** Whether the construct that begins at `start` is the last statement of its block or of the program: what it gives is the result. */
const isResult = (source: string, start: number): boolean => {
  const tokens = tokensOf(source)
  let depth = 0
  for (let at = tokens.findIndex((token) => token.start >= start); at < tokens.length; at++) {
    const { kind } = tokens[at]!
    if (kind === "(" || kind === "[" || kind === "{") depth++
    if (kind === ")" || kind === "]" || kind === "}") depth--
    if (depth < 0 || kind === "end") return depth <= 0
    if (depth > 0 || !isBreak(tokens[at]!)) continue
    const next = tokens.slice(at).find((token) => !isBreak(token))
    if (next?.kind !== "else" && next?.kind !== "catch") return next?.kind === "}" || next?.kind === "end"
  }
  return false
}

const returning = (at: number): Edit => insert(at, "return ", "a block must end with `return`; inserted `return`")

const binding = (source: string, at: number): Edit => {
  const name = freshName(source)
  return insert(
    at,
    `${name} = `,
    `control structures are expressions; bound the construct to \`${name}\` — write \`x = if condition { ... }\` directly next time`,
  )
}

/** The edit that healing makes for an error; `guessing` adds what other languages would have meant. */
export const repairOf = (source: string, draft: Draft, guessing: boolean): Edit | undefined =>
  (guessing ? rewrite(source, draft) : undefined) ?? repair(source, draft)

const repair = (source: string, draft: Draft): Edit | undefined => {
  const { code, message, span } = draft
  switch (code) {
    case "RL1017": {
      const fix = draft.fixes[0]
      if (fix === undefined || fix.replacement === "") return undefined
      return insert(fix.span.start, fix.replacement, `a block must end with \`return\`; inserted \`${fix.replacement.trim()}\``)
    }
    case "RL1019": {
      if (source.startsWith("catch", span.start)) return joining(source, span.start)
      if (isLast(source, span.end)) return insert(span.start, "return ", "a program must end with `return`; inserted `return`")
      const name = freshName(source)
      return insert(span.start, `${name} = `, `statements are bindings; bound the bare expression to \`${name}\``)
    }
    case "RL1014": {
      const filter = source.startsWith("if", span.start) ? skipping(source, span.start) : undefined
      if (filter !== undefined) return filter
      return isResult(source, span.start) ? returning(span.start) : binding(source, span.start)
    }
    case "RL1008":
      if (message.includes("a binding such as") && /^after\b/.test(source.slice(span.start, span.start + 6)))
        return isResult(source, span.start) ? returning(span.start) : binding(source, span.start)
      return message.includes("expected a newline") && !message.includes("prefix")
        ? insert(span.start, "\n", "inserted a missing statement separator")
        : undefined
    default:
      return undefined
  }
}

/**
 * Repairs a source that does not parse: a missing `return`, a bare expression, a control structure that stands alone, a missing
 * separator, a `catch` on its own line. A construct that stands last in its block becomes the block's result. Null when the source
 * parses already or cannot be brought to parse within 64 repairs, fewer in a long source. What the repaired program means still has to
 * be checked. Never throws.
 */
export const heal = (source: string, options: HealOptions = {}): Healed | null => {
  const notes: Array<string> = []
  let text = source
  let read = 0
  for (let pass = 0; pass <= MAX_REPAIRS; pass++) {
    read += text.length
    if (read > MAX_READ) return null
    const parsed = parse(text)
    if (parsed.ok) return notes.length === 0 ? null : { source: text, notes }
    const first = parsed.errors[0]!
    if (first.phase !== "parse") return notes.length === 0 ? null : { source: text, notes }
    const edit = repairOf(text, first, options.rewrite === true)
    if (edit === undefined) return null
    notes.push(`line ${new Lines(text).place(edit.start).line}: ${edit.note}`)
    text = text.slice(0, edit.start) + edit.text + text.slice(edit.end)
  }
  return null
}
