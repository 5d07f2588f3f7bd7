import type { Json } from "./Json.ts"

/** One line of a log, decoded. */
export interface LogRecord {
  /** Its number: from 1, plus 1 per line, across segments. */
  readonly seq: number
  /** Unix milliseconds of the writer's clock; order comes from `seq`. */
  readonly time: number
  /** `head`, `seal` and `note` belong to the log itself; the rest to its owner. Unknown kinds are kept and shown. */
  readonly kind: string
  /** Schema version of the record. */
  readonly version: number
  readonly body: Json
}

/** Lines that cannot be read; reading goes on after them. */
export interface LogGap {
  readonly gap: true
  readonly segment: number
  /** Byte range in the segment's file. */
  readonly from: number
  readonly to: number
  /** The numbers that are missing, where both neighbours are known. */
  readonly firstSeq?: number
  readonly lastSeq?: number
}
