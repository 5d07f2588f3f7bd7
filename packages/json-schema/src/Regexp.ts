import type { Dialect } from "./Regexp/Dialect.ts"
import { GaveUp, Matcher } from "./Regexp/Matcher.ts"
import { parsePattern } from "./Regexp/Parser.ts"
import { type Parsed, PatternError } from "./Regexp/Pattern.ts"
import { compileProgram, MAX_STEPS, type Program } from "./Regexp/Program.ts"

export { GaveUp } from "./Regexp/Matcher.ts"
export { PatternError } from "./Regexp/Pattern.ts"

/** One match. Offsets are UTF-16. */
export interface Match {
  readonly start: number
  readonly end: number
  readonly text: string
  /** Groups 1…n; null where a group took no part. */
  readonly groups: ReadonlyArray<string | null>
}

/**
 * A regular expression whose matching time is linear in the text, whatever the pattern: no backtracking. Leftmost match, the
 * alternatives of the pattern preferred in order, as backtracking engines choose.
 */
export class Regexp {
  readonly names: ReadonlyMap<string, number>
  readonly #program: Program
  readonly #classes: number

  constructor(program: Program, { classes, names }: Pick<Parsed, "classes" | "names">) {
    this.#program = program
    this.#classes = classes
    this.names = names
  }

  /** Whether some part of the text matches. `spent` is told how many steps that took. */
  test(text: string, spent?: (steps: number) => void): boolean | GaveUp {
    const matcher = new Matcher(this.#program, text)
    const found = bounded(() => matcher.exec(0) !== undefined)
    spent?.(matcher.work)
    return found
  }

  /** What compiling it took, in instructions: a class of characters takes as long as a thousand. */
  get cost(): number {
    return this.#program.steps.length + 1_000 * this.#classes
  }

  /** The first match. `spent` as in {@link Regexp.test}. */
  first(text: string, spent?: (steps: number) => void): Match | undefined | GaveUp {
    const matcher = new Matcher(this.#program, text)
    const found = bounded(() => {
      const slots = matcher.exec(0)
      return slots === undefined ? undefined : matchOf(slots, text)
    })
    spent?.(matcher.work)
    return found
  }

  /** Every match, one after the other. An empty match directly behind another match is none. `spent` as in {@link Regexp.test}. */
  all(text: string, spent?: (steps: number) => void): ReadonlyArray<Match> | GaveUp {
    const matcher = new Matcher(this.#program, text)
    const found = bounded(() => allOf(matcher, text))
    spent?.(matcher.work)
    return found
  }
}

const allOf = (matcher: Matcher, text: string): ReadonlyArray<Match> => {
  const matches: Array<Match> = []
  let last = -1
  for (let from = 0; from <= text.length; ) {
    const slots = matcher.exec(from)
    if (slots === undefined) break
    const match = matchOf(slots, text)
    if (match.end === match.start && match.end === last) {
      from = after(text, from)
      continue
    }
    matches.push(match)
    last = match.end
    from = match.end
  }
  return matches
}

const bounded = <A>(search: () => A): A | GaveUp => {
  try {
    return search()
  } catch (cause) {
    if (cause instanceof GaveUp) return cause
    throw cause
  }
}

const after = (text: string, at: number) => at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1)

const matchOf = (slots: ReadonlyArray<number>, text: string): Match => {
  const start = slots[0]!
  const end = slots[1]!
  const groups: Array<string | null> = []
  for (let slot = 2; slot < slots.length; slot += 2)
    groups.push(slots[slot + 1]! < 0 ? null : text.slice(slots[slot], slots[slot + 1]))
  return { start, end, text: text.slice(start, end), groups }
}

/** Reads and compiles a pattern: at most 20 000 instructions once its repetitions are written out. Never throws. */
export const compileRegexp = (source: string, dialect: Dialect): Regexp | PatternError => {
  const parsed = parsePattern(source, dialect)
  if (parsed instanceof PatternError) return parsed
  const program = compileProgram(parsed)
  if (program === undefined) return new PatternError(`the pattern is larger than ${MAX_STEPS} steps`, 0)
  return new Regexp(program, parsed)
}
