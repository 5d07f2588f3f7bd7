import { decode, lineEnd } from "./Frame.ts"
import type { LogGap, LogRecord } from "./Record.ts"

/** No line of ours is longer; what is longer is damage and is not held in memory. */
export const maxLineBytes = 64 * 1024 * 1024 + 1024

const none = new Uint8Array(0)

export interface DecoderOptions {
  readonly segment: number
  /** Where in the file the first pushed byte stands; the start of a line. */
  readonly offset?: number
  /** The number of the line before, where it is known. */
  readonly lastSeq?: number | undefined
}

/**
 * Turns the bytes of one segment into records and gaps, chunk by chunk. Lines that are not intact are held back until an intact one follows (a gap) or
 * the bytes end (a torn tail). Memory is one chunk and one line.
 */
export class LogDecoder {
  /** The number of the last intact line. */
  lastSeq: number | undefined
  /** The offset behind the last intact line. */
  goodEnd: number
  /** The highest record version seen. */
  newest = 0
  private readonly segment: number
  private carry: Uint8Array = none
  /** Offset of the first byte of `carry`. */
  private at: number
  private badFrom: number | undefined
  private skipping = false

  constructor(options: DecoderOptions) {
    this.segment = options.segment
    this.at = options.offset ?? 0
    this.goodEnd = this.at
    this.lastSeq = options.lastSeq
  }

  /** The records that end in the chunk. */
  push(chunk: Uint8Array): Array<LogRecord | LogGap> {
    const out: Array<LogRecord | LogGap> = []
    const bytes = this.carry.length === 0 ? chunk : concat(this.carry, chunk)
    let start = 0
    for (let end = lineEnd(bytes, this.carry.length); end >= 0; end = lineEnd(bytes, start)) {
      this.line(bytes, start, end, end + 1, out)
      start = end + 1
    }
    this.at += start
    this.carry = bytes.subarray(start)
    if (this.carry.length > maxLineBytes) {
      this.badFrom ??= this.at
      this.skipping = true
      this.at += this.carry.length
      this.carry = none
    }
    return out
  }

  /**
   * The line without a line feed at the end, where it is intact, as a line. True when the file ends with it, or with it and the zeros that a power loss left
   * of what came after.
   */
  finish(out: Array<LogRecord | LogGap>): boolean {
    let length = this.carry.length
    while (length > 0 && this.carry[length - 1] === 0) length--
    if (length === 0 || this.skipping) return false
    const before = this.goodEnd
    this.line(this.carry, 0, length, length, out)
    return this.goodEnd !== before
  }

  private line(bytes: Uint8Array, start: number, end: number, next: number, out: Array<LogRecord | LogGap>): void {
    const from = this.at + start
    const record = this.skipping ? undefined : decode(bytes, start, end)
    this.skipping = false
    if (record === undefined || (this.lastSeq !== undefined && record.seq <= this.lastSeq)) {
      this.badFrom ??= from
      return
    }
    const expected = this.lastSeq === undefined ? record.seq : this.lastSeq + 1
    if (this.badFrom !== undefined || record.seq !== expected) {
      const gap = { gap: true, segment: this.segment, from: this.badFrom ?? from, to: from } as const
      out.push(record.seq > expected ? { ...gap, firstSeq: expected, lastSeq: record.seq - 1 } : gap)
      this.badFrom = undefined
    }
    this.lastSeq = record.seq
    this.goodEnd = this.at + next
    if (record.version > this.newest) this.newest = record.version
    out.push(record)
  }
}

const concat = (a: Uint8Array, b: Uint8Array): Uint8Array => {
  const joined = new Uint8Array(a.length + b.length)
  joined.set(a)
  joined.set(b, a.length)
  return joined
}

/** Whether a decoded element is a gap. */
export const isGap = (element: LogRecord | LogGap): element is LogGap => "gap" in element
