const printable = /^[\x20-\x7e]+$/

const valid = (name: string, bytes: number): boolean => name.length <= bytes && printable.test(name)

const withSuffix = (base: string, suffix: string, bytes: number): string =>
  `${base.slice(0, bytes - suffix.length).trimEnd()}${suffix}`

/**
 * The display name of a new child (S40, S41).
 *
 * A preferred name is trimmed and kept where it has 1 to `bytes` bytes of printable ASCII and none of `used` equals it without regard to case;
 * a clash takes the lowest free suffix from ` 2` on, the base shortened to stay within `bytes`. Anything else takes the lowest free `Agent N`.
 */
export const allocate = (preferred: unknown, used: Iterable<string>, bytes: number): string => {
  const taken = new Set<string>()
  for (const name of used) taken.add(name.toLowerCase())
  const free = (name: string) => !taken.has(name.toLowerCase())
  const base = typeof preferred === "string" ? preferred.trim() : ""
  const wanted = valid(base, bytes)
  if (wanted && free(base)) return base
  for (let number = wanted ? 2 : 1; ; number++) {
    const name = wanted ? withSuffix(base, ` ${number}`, bytes) : `Agent ${number}`
    if (free(name)) return name
  }
}

export * as Names from "./Names.ts"
