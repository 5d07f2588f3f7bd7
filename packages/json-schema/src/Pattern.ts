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
