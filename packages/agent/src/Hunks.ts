import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** One replacement: `old` becomes `new` where it stands between the two contexts. */
export interface Hunk {
  readonly context_before?: string
  readonly old: string
  readonly new: string
  readonly context_after?: string
}

/** The hunks cannot be applied; the text is as it was. `index` counts from 0. */
export class HunkRefused extends Schema.TaggedError<HunkRefused>()("HunkRefused", {
  index: Schema.Int,
  reason: Schema.Literals(["no_anchor", "no_match", "ambiguous", "overlap"]),
}) {
  override get message() {
    return `${messages[this.reason]} (hunk ${this.index + 1})`
  }
}

const messages = {
  no_anchor: "an edit hunk needs an anchor",
  no_match: "hunk anchor did not match",
  ambiguous: "hunk anchor is ambiguous",
  overlap: "edit hunks overlap",
}

interface Replacement {
  readonly from: number
  readonly to: number
  readonly text: string
  readonly index: number
}

/**
 * Applies all hunks to the text as it is, or none. The anchor of each (before, old and after together) must stand in the text exactly
 * once; CRLF and LF count as equal in a match, and what is inserted gets the line ends that most lines of the text have.
 */
export const apply = Effect.fnUntraced(function* (
  text: string,
  hunks: ReadonlyArray<Hunk>,
): Effect.fn.Return<string, HunkRefused> {
  const view = lineFeedView(text)
  const lineEnd = prevailingLineEnd(text)
  const found = yield* Effect.forEach(hunks, (hunk, index) => locate(view, hunk, index, lineEnd))
  const inOrder = [...found].sort((left, right) => left.from - right.from || left.to - right.to)
  let result = ""
  let at = 0
  for (const { from, to, text: inserted, index } of inOrder) {
    if (from < at) return yield* new HunkRefused({ index, reason: "overlap" })
    result += text.slice(at, from) + inserted
    at = to
  }
  return result + text.slice(at)
})

const locate = Effect.fnUntraced(function* (
  view: LineFeedView,
  hunk: Hunk,
  index: number,
  lineEnd: string,
): Effect.fn.Return<Replacement, HunkRefused> {
  const before = toLineFeeds(hunk.context_before ?? "")
  const old = toLineFeeds(hunk.old)
  const anchor = before + old + toLineFeeds(hunk.context_after ?? "")
  if (anchor === "") return yield* new HunkRefused({ index, reason: "no_anchor" })
  const first = view.text.indexOf(anchor)
  if (first === -1) return yield* new HunkRefused({ index, reason: "no_match" })
  if (view.text.indexOf(anchor, first + 1) !== -1) return yield* new HunkRefused({ index, reason: "ambiguous" })
  const from = first + before.length
  const text = toLineFeeds(hunk.new).replaceAll("\n", lineEnd)
  return { from: view.original(from), to: view.original(from + old.length), text, index }
})

const toLineFeeds = (text: string) => text.replaceAll("\r\n", "\n")

const prevailingLineEnd = (text: string) => {
  const crlf = text.split("\r\n").length - 1
  const lf = text.split("\n").length - 1
  return crlf * 2 > lf ? "\r\n" : "\n"
}

interface LineFeedView {
  readonly text: string
  /** Where an offset of the view stands in the text itself. */
  readonly original: (offset: number) => number
}

const lineFeedView = (text: string): LineFeedView => {
  const removed: Array<number> = []
  for (let at = text.indexOf("\r\n"); at !== -1; at = text.indexOf("\r\n", at + 2)) removed.push(at - removed.length)
  return {
    text: toLineFeeds(text),
    original: (offset) => offset + countBelow(removed, offset),
  }
}

/** How many of the ascending numbers are less than the limit. */
const countBelow = (ascending: ReadonlyArray<number>, limit: number) => {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ascending[middle]! < limit) low = middle + 1
    else high = middle
  }
  return low
}

export * as Hunks from "./Hunks.ts"
