const astral = /[\ud800-\udbff][\udc00-\udfff]/
const astrals = /[\ud800-\udbff][\udc00-\udfff]/g

/** Number of Unicode scalar values. */
export const scalarLength = (text: string): number => {
  if (!astral.test(text)) return text.length
  return text.length - (text.match(astrals)?.length ?? 0)
}

/** The UTF-16 offset of the `index`-th scalar value, counted from `from`. */
const offsetOf = (text: string, index: number): number => {
  let at = 0
  for (let count = 0; count < index && at < text.length; count++) {
    const unit = text.charCodeAt(at)
    const low = unit >= 0xd800 && unit <= 0xdbff ? text.charCodeAt(at + 1) : 0
    at += low >= 0xdc00 && low <= 0xdfff ? 2 : 1
  }
  return at
}

/** The scalar value at a non-negative index, which must exist. */
export const scalarAt = (text: string, index: number): string => {
  if (!astral.test(text)) return text[index]!
  const at = offsetOf(text, index)
  return String.fromCodePoint(text.codePointAt(at)!)
}

/** A slice by scalar values, `0 <= start <= end`. */
export const scalarSlice = (text: string, start: number, end: number): string => {
  if (!astral.test(text)) return text.slice(start, end)
  const from = offsetOf(text, start)
  return text.slice(from, from + offsetOf(text.slice(from), end - start))
}
