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

/** Repairs made to one source before it is given up. */
const MAX_PASSES = 64

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

/** The white space between a `}` and its `catch`. */
const joining = (source: string, at: number): Edit | undefined => {
  const gap = /[\s;]*$/.exec(source.slice(0, at))![0]
  if (source[at - gap.length - 1] !== "}") return undefined
  return { start: at - gap.length, end: at, text: " ", note: "joined `catch` to the line of its boundary" }
}

const isLast = (source: string, end: number): boolean =>
  tokensOf(source).every((token) => token.end <= end || ["newline", ";", "end"].includes(token.kind))

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
      const name = freshName(source)
      return insert(
        span.start,
        `${name} = `,
        `control structures are expressions; bound the construct to \`${name}\` — write \`x = if condition { ... }\` directly next time`,
      )
    }
    case "RL1008":
      return message.includes("expected a newline")
        ? insert(span.start, "\n", "inserted a missing statement separator")
        : undefined
    default:
      return undefined
  }
}

/**
 * Repairs a source that does not parse: a missing `return`, a bare expression, a control structure that stands alone, a missing
 * separator, a `catch` on its own line. Null when the source parses already or cannot be brought to parse. What the repaired
 * program means still has to be checked. Never throws.
 */
export const heal = (source: string, options: HealOptions = {}): Healed | null => {
  const notes: Array<string> = []
  let text = source
  for (let pass = 0; pass <= MAX_PASSES; pass++) {
    const parsed = parse(text)
    if (parsed.ok) return notes.length === 0 ? null : { source: text, notes }
    const first = parsed.errors[0]!
    if (first.phase !== "parse") return notes.length === 0 ? null : { source: text, notes }
    const edit = repair(text, first) ?? (options.rewrite === true ? rewrite(text, first) : undefined)
    if (edit === undefined) return null
    notes.push(`line ${new Lines(text).place(edit.start).line}: ${edit.note}`)
    text = text.slice(0, edit.start) + edit.text + text.slice(edit.end)
  }
  return null
}
