/** Letters that may still be compared with one another; shared by the searches of one check. */
export interface Effort {
  left: number
}

/** Enough for two hundred thousand pairs of short names. */
export const effort = (): Effort => ({ left: 10_000_000 })

/** The Levenshtein distance, undefined when it is more than `most`. */
const distance = (a: ReadonlyArray<string>, right: string, most: number, spent: Effort): number | undefined => {
  const b = Array.from(right)
  if (Math.abs(a.length - b.length) > most) return undefined
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    spent.left -= b.length
    const next = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const cost = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
      next.push(cost)
      if (cost < least) least = cost
    }
    if (least > most) return undefined
    row = next
  }
  return row[b.length]! > most ? undefined : row[b.length]!
}

/** Names looked at; a program with more has other worries. */
const MAX_NAMES = 5_000
/** Characters of a name that are compared. */
const MAX_LETTERS = 100
const MAX_FOUND = 5

const last = (path: string) => path.slice(path.lastIndexOf(".") + 1)

/** Letters in which a name may differ from a word of this length and still be meant. */
const tolerance = (length: number) => Math.max(1, Math.floor(length / 3))

/** How far a name is from a word, by all of it or by the last segments of the paths: `upper` means `text.upper`. */
const scorer = (word: string, lenient: boolean, spent: Effort): ((name: string) => number | undefined) => {
  const letters = Array.from(word.slice(0, MAX_LETTERS))
  const end = Array.from(last(word).slice(0, MAX_LETTERS))
  return (name) => {
    const most = lenient ? Number.POSITIVE_INFINITY : tolerance(Math.max(letters.length, name.length))
    const whole = distance(letters, name.slice(0, MAX_LETTERS), most, spent)
    if (whole !== undefined || !(name.includes(".") || word.includes("."))) return whole
    const tail = last(name).slice(0, MAX_LETTERS)
    if (Math.min(end.length, tail.length) < 3) return undefined
    const between = distance(end, tail, tolerance(Math.max(end.length, tail.length)), spent)
    return between === undefined ? undefined : between + 1
  }
}

/**
 * The five names nearest to a word by Levenshtein distance, best first; ties keep their order. Names that differ in more than a third of
 * their letters are left out, unless `lenient`. Finds no more once the effort is spent.
 */
export const nearest = (
  word: string,
  names: Iterable<string>,
  lenient = false,
  spent: Effort = effort(),
): ReadonlyArray<string> => {
  const score = scorer(word, lenient, spent)
  const found: Array<{ readonly name: string; readonly score: number }> = []
  let left = MAX_NAMES
  for (const name of new Set(names)) {
    if (left-- === 0 || spent.left <= 0) break
    const own = score(name)
    if (own === undefined || (found.length === MAX_FOUND && own >= found.at(-1)!.score)) continue
    const at = found.findIndex((other) => other.score > own)
    found.splice(at === -1 ? found.length : at, 0, { name, score: own })
    if (found.length > MAX_FOUND) found.pop()
  }
  return found.map(({ name }) => name)
}
