import { parsePattern } from "./Regexp/Parser.ts"
import type { Pattern } from "./Regexp/Pattern.ts"
import { compileRegexp, PatternError, type Regexp } from "./Regexp.ts"

const native = (pattern: string): boolean => {
  try {
    new RegExp(pattern, "u")
    return true
  } catch {
    return false
  }
}

/** A `pattern` ready to match in linear time, or why it cannot be used: it is no regular expression, or refers back to a group. */
export const compile = (pattern: string): Regexp | string => {
  if (!native(pattern)) return `\`${pattern}\` is not a regular expression`
  const compiled = compileRegexp(pattern, "ecma")
  return compiled instanceof PatternError ? `\`${pattern}\` cannot be used: ${compiled.message}` : compiled
}

/** What backtracking over a text of length n may cost: `branches * (n + 1) ** degree` steps. */
export interface Cost {
  readonly branches: number
  readonly degree: number
}

const MAX_BRANCHES = 10_000
const MAX_DEGREE = 4

const costOf = (pattern: Pattern): Cost | undefined => {
  switch (pattern.kind) {
    case "group":
    case "look":
      return costOf(pattern.item)
    case "concat":
      return all(pattern.items, (a, b) => ({ branches: a.branches * b.branches, degree: a.degree + b.degree }))
    case "alternate":
      return all(pattern.items, (a, b) => ({ branches: a.branches + b.branches, degree: Math.max(a.degree, b.degree) }))
    case "repeat": {
      const item = costOf(pattern.item)
      if (item === undefined) return undefined
      if (pattern.min === pattern.max) return { branches: item.branches ** pattern.min, degree: item.degree * pattern.min }
      return item.degree > 0 || item.branches > 1 ? undefined : { branches: 1, degree: 1 }
    }
    default:
      return { branches: 1, degree: 0 }
  }
}

const all = (items: ReadonlyArray<Pattern>, join: (a: Cost, b: Cost) => Cost): Cost | undefined => {
  let so: Cost | undefined
  for (const item of items) {
    const cost = costOf(item)
    if (cost === undefined) return undefined
    so = so === undefined ? cost : join(so, cost)
  }
  return so
}

/** The cost of a key of `patternProperties`, which the runtime's own backtracking engine matches, or why it is refused. */
export const backtracking = (pattern: string): Cost | string => {
  if (!native(pattern)) return `\`${pattern}\` is not a regular expression`
  const parsed = parsePattern(pattern, "ecma")
  const cost = parsed instanceof PatternError ? undefined : costOf(parsed.pattern)
  if (cost === undefined || cost.branches > MAX_BRANCHES || cost.degree > MAX_DEGREE)
    return `\`${pattern}\` repeats what repeats or branches, so that its matching time on property names cannot be bounded`
  return { branches: cost.branches, degree: cost.degree + 1 }
}
