import { compileRegexp, GaveUp, PatternError, type Regexp } from "@acp-kit/json-schema/Regexp"
import { Failed } from "../Outcome.ts"
import type { Run } from "../Run.ts"
import { utf8Length } from "../Span.ts"
import type { Value } from "../Value.ts"
import { failed } from "./Signature.ts"

/** UTF-8 bytes a pattern may have. */
const MAX_PATTERN = 1_000
/** Compiled patterns kept, most recent last. */
const MAX_KEPT = 64

const kept = new Map<string, Regexp | Failed>()

const lookAround = /\(\?<?[=!]/

const build = (pattern: string): Regexp | Failed => {
  if (utf8Length(pattern) > MAX_PATTERN) return failed("RL5210", `INVALID_REGEX: the pattern is longer than ${MAX_PATTERN} bytes`)
  const compiled = compileRegexp(pattern, "rust")
  if (!(compiled instanceof PatternError)) return compiled
  const hint = lookAround.test(pattern)
    ? " (lookaround is not supported; match the surrounding text and use regex.captures to extract the part you need)"
    : ""
  return failed("RL5210", `INVALID_REGEX: ${compiled.message}, at offset ${compiled.at}${hint}`)
}

/** Bytes looked at that an instruction compiled, or a step of a search, counts as. */
const INSTRUCTION = 64
const STEP = 4

/** The pattern compiled, or RL5210. */
export const compilePattern = (pattern: string, run: Pick<Run, "charge">): Regexp | Failed => {
  const known = kept.get(pattern)
  const compiled = known ?? build(pattern)
  if (known === undefined && !(compiled instanceof Failed)) run.charge(INSTRUCTION * compiled.cost)
  kept.delete(pattern)
  kept.set(pattern, compiled)
  if (kept.size > MAX_KEPT)
    for (const oldest of kept.keys()) {
      kept.delete(oldest)
      break
    }
  return compiled
}

/** What a search with a pattern finds, or RL4113 when it was given up. */
export const searched = <A>(
  pattern: Value | undefined,
  run: Run,
  search: (compiled: Regexp, spent: (steps: number) => void) => A | GaveUp,
): A | Failed => {
  const compiled = compilePattern(pattern as string, run)
  if (compiled instanceof Failed) return compiled
  const found = search(compiled, (steps) => run.charge(STEP * steps))
  return found instanceof GaveUp ? failed("RL4113", `regex: ${found.message}`) : found
}
