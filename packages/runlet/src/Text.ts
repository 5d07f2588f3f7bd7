const astral = /[\ud800-\udbff][\udc00-\udfff]/

const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff

/** Characters between two marks of a {@link Ruler}. */
const STEP = 256

/** Where the characters of a text stand, when they are not its UTF-16 units. */
interface Ruler {
  readonly length: number
  /** Offset of every {@link STEP}-th character; undefined when every character is one unit. */
  readonly marks: ReadonlyArray<number> | undefined
}

const measure = (text: string): Ruler => {
  if (!astral.test(text)) return { length: text.length, marks: undefined }
  const marks: Array<number> = []
  let length = 0
  for (let at = 0; at < text.length; at++) {
    if (length % STEP === 0) marks.push(at)
    if (isHigh(text.charCodeAt(at)) && isLow(text.charCodeAt(at + 1))) at++
    length++
  }
  return { length, marks }
}

/** Texts longer than this are measured once as long as they stay among the last few in use. */
const LONG = 512
const KEPT = 4
const recent: Array<{ readonly text: string; readonly ruler: Ruler }> = []

const rulerOf = (text: string): Ruler => {
  if (text.length <= LONG) return measure(text)
  const known = recent.find((entry) => entry.text === text)
  if (known !== undefined) return known.ruler
  const ruler = measure(text)
  recent.unshift({ text, ruler })
  if (recent.length > KEPT) recent.pop()
  return ruler
}

/** The UTF-16 offset of a character, the end of the text for positions past it. */
const offsetOf = (text: string, { length, marks }: Ruler, index: number): number => {
  if (marks === undefined) return index
  if (index >= length) return text.length
  let at = marks[Math.floor(index / STEP)]!
  for (let left = index % STEP; left > 0; left--) at += isHigh(text.charCodeAt(at)) && isLow(text.charCodeAt(at + 1)) ? 2 : 1
  return at
}

/** Number of Unicode scalar values. */
export const scalarLength = (text: string): number => rulerOf(text).length

/** The scalar value at a non-negative index, which must exist. */
export const scalarAt = (text: string, index: number): string => {
  const ruler = rulerOf(text)
  return ruler.marks === undefined ? text[index]! : String.fromCodePoint(text.codePointAt(offsetOf(text, ruler, index))!)
}

/** A slice by scalar values, `0 <= start <= end`. */
export const scalarSlice = (text: string, start: number, end: number): string => {
  const ruler = rulerOf(text)
  return text.slice(offsetOf(text, ruler, start), offsetOf(text, ruler, end))
}
