const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

/** C0 without tab, DEL, C1, and what reorders or hides text: none of it reaches a terminal as it is. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the purpose
const unsafe = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

/** Text of a child or a model as one line that cannot move the cursor, change a colour or hide something. */
export const printable = (text: string): string => text.replaceAll(/\r?\n|\t/g, " ").replaceAll(unsafe, "\ufffd")

/** Text of a child or a model as lines, tabs included, that cannot move the cursor either. */
export const printableLines = (text: string): string =>
  text
    .replaceAll("\r", "")
    .split("\n")
    .map((line) => line.replaceAll(unsafe, "\ufffd"))
    .join("\n")

/** Compact JSON of the same value in which the characters that could move the cursor stand as escapes. */
export const printableJson = (json: string): string =>
  json.replaceAll(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)

const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u
const pictograph = /^\p{Extended_Pictographic}|^\p{Regional_Indicator}/u
const zero = /^[\p{Mark}\p{Format}]+$/u

const cells = (grapheme: string): number => {
  if (zero.test(grapheme)) return 0
  if (wide.test(grapheme)) return 2
  return pictograph.test(grapheme) && (/^\p{Emoji_Presentation}/u.test(grapheme) || grapheme.includes("\ufe0f")) ? 2 : 1
}

/** How many terminal cells printable text takes. */
export const columnsOf = (text: string): number => {
  let sum = 0
  for (const { segment } of graphemes.segment(text)) sum += cells(segment)
  return sum
}

/** The text in at most `columns` cells; what was cut ends with `…`. */
export const clip = (text: string, columns: number): string => {
  if (columnsOf(text) <= columns) return text
  let kept = ""
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    used += cells(segment)
    if (used > columns - 1) break
    kept += segment
  }
  return columns < 1 ? "" : `${kept}…`
}

/** The text in exactly `columns` cells, cut or filled with spaces. */
export const padTo = (text: string, columns: number): string => {
  const clipped = clip(text, columns)
  return clipped + " ".repeat(Math.max(0, columns - columnsOf(clipped)))
}

export * as Printable from "./Printable.ts"
