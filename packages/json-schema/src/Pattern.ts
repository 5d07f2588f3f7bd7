const quantifier = /^(?:[*+]|\{\d+,\d*\})/

/**
 * Why a `pattern` is refused, or undefined. A repeated group that repeats or branches inside takes exponential time on some
 * text, and so does a back-reference; both are refused rather than run.
 */
export const problem = (pattern: string): string | undefined => {
  try {
    new RegExp(pattern, "u")
  } catch {
    return `\`${pattern}\` is not a regular expression`
  }
  const groups: Array<boolean> = [false]
  let inClass = false
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]
    if (char === "\\") {
      if (!inClass && /[1-9k]/.test(pattern[at + 1] ?? ""))
        return `\`${pattern}\` has a back-reference, whose matching time cannot be bounded`
      at++
    } else if (inClass) inClass = char !== "]"
    else if (char === "[") inClass = true
    else if (char === "(") groups.push(false)
    else if (char === "|") groups[groups.length - 1] = true
    else if (char === ")") {
      const branches = groups.pop() ?? false
      const repeated = quantifier.test(pattern.slice(at + 1))
      if (branches && repeated)
        return `\`${pattern}\` repeats a group that repeats or branches, whose matching time cannot be bounded`
      if (branches || repeated) groups[groups.length - 1] = true
    } else if (quantifier.test(pattern.slice(at, at + 12))) groups[groups.length - 1] = true
  }
  return undefined
}
