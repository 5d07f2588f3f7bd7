const distance = (a: ReadonlyArray<string>, right: string): number => {
  const b = Array.from(right)
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    row = next
  }
  return row[b.length]!
}

/** Names looked at; a program with more has other worries. */
const MAX_NAMES = 5_000

/** The five names nearest to a word by Levenshtein distance, best first; ties keep their order. */
export const nearest = (word: string, names: Iterable<string>): ReadonlyArray<string> => {
  const short = word.slice(0, 100)
  const letters = Array.from(short)
  const scored: Array<{ readonly name: string; readonly score: number }> = []
  let worst = Number.POSITIVE_INFINITY
  let left = MAX_NAMES
  for (const name of new Set(names)) {
    if (left-- === 0) break
    if (Math.abs(name.length - short.length) > worst) continue
    const score = distance(letters, name.slice(0, 100))
    if (scored.length === 5 && score >= worst) continue
    const at = scored.findIndex((other) => other.score > score)
    scored.splice(at === -1 ? scored.length : at, 0, { name, score })
    if (scored.length > 5) scored.pop()
    if (scored.length === 5) worst = scored[4]!.score
  }
  return scored.map(({ name }) => name)
}
