const distance = (left: string, right: string): number => {
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const swap = left[row - 1] === right[column - 1] ? 0 : 1
      current.push(Math.min(current[column - 1]! + 1, previous[column]! + 1, previous[column - 1]! + swap))
    }
    previous = current
  }
  return previous[right.length]!
}

/** The known name closest to what was written, or `undefined` where none is close: more than a third of its letters differ, two at least allowed. */
export const nearest = (written: string, known: Iterable<string>): string | undefined => {
  const wanted = written.toLowerCase().slice(0, 64)
  let best: { readonly name: string; readonly away: number } | undefined
  for (const name of known) {
    const away = distance(wanted, name.toLowerCase())
    if (away <= Math.max(2, Math.floor(name.length / 3)) && away < name.length && (best === undefined || away < best.away)) {
      best = { name, away }
    }
  }
  return best?.name
}

/** `; did you mean "name"?`, or nothing where no known name is close. */
export const suggestion = (written: string, known: Iterable<string>): string => {
  const name = nearest(written, known)
  return name === undefined ? "" : `; did you mean ${JSON.stringify(name)}?`
}
