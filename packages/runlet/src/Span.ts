/** A half-open range of UTF-16 offsets into the source. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** A place as people count it: 1-based line, 1-based column in characters. */
export interface Place {
  readonly line: number
  readonly column: number
}

const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff
const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff

/** Offsets of one source turned into lines, columns and UTF-8 bytes. */
export class Lines {
  readonly source: string
  readonly #starts: Array<number>

  constructor(source: string) {
    this.source = source
    this.#starts = [0]
    for (let at = source.indexOf("\n"); at !== -1; at = source.indexOf("\n", at + 1)) this.#starts.push(at + 1)
  }

  place(offset: number): Place {
    let low = 0
    let high = this.#starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#starts[middle]! <= offset) low = middle
      else high = middle - 1
    }
    let column = 1
    for (let at = this.#starts[low]!; at < offset; at++) {
      const unit = this.source.charCodeAt(at)
      if (!(isLow(unit) && at > 0 && isHigh(this.source.charCodeAt(at - 1)))) column++
    }
    return { line: low + 1, column }
  }

  /** The byte offset in the UTF-8 form of the source. */
  bytes(offset: number): number {
    return utf8Length(this.source, 0, offset)
  }
}

/** UTF-8 length of `text` between two UTF-16 offsets; a lone surrogate counts 3, as its replacement does. */
export const utf8Length = (text: string, start = 0, end = text.length): number => {
  let bytes = 0
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) bytes += 1
    else if (unit < 0x800) bytes += 2
    else if (isHigh(unit) && at + 1 < end && isLow(text.charCodeAt(at + 1))) {
      bytes += 4
      at++
    } else bytes += 3
  }
  return bytes
}
