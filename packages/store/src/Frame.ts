import { crc } from "./Checksum.ts"
import { type Json, parse, stringify } from "./Json.ts"
import type { LogRecord } from "./Record.ts"

/**
 * One line of a log: `{"q":seq,"t":time,"k":kind,"v":version,"e":body,"c":"crc32"}` and a line feed.
 * The checksum covers every byte before its own field, so that a line is judged without being parsed.
 */

const LF = 10
const CR = 13
const encoder = new TextEncoder()
const decoder = new TextDecoder()

const trailer = `,"c":"00000000"}\n`
const trailerBytes = encoder.encode(trailer)
const digitsAt = 6

/** Bytes of the checksum field, the closing brace and the line feed. */
const trailerLength = trailerBytes.length

/** A line, its body given as JSON text of one line. */
export const encode = (seq: number, time: number, kind: string, version: number, body: string): Uint8Array => {
  const bytes = encoder.encode(`{"q":${seq},"t":${time},"k":${JSON.stringify(kind)},"v":${version},"e":${body}${trailer}`)
  writeHex(bytes, bytes.length - trailerLength + digitsAt, crc(bytes.subarray(0, bytes.length - trailerLength)))
  return bytes
}

/** The same of a value. */
export const encodeValue = (seq: number, time: number, kind: string, version: number, body: Json): Uint8Array =>
  encode(seq, time, kind, version, stringify(body))

const hexDigit = (value: number): number => (value < 10 ? 48 + value : 87 + value)

const writeHex = (bytes: Uint8Array, at: number, value: number): void => {
  let rest = value
  for (let i = 7; i >= 0; i--) {
    bytes[at + i] = hexDigit(rest & 15)
    rest >>>= 4
  }
}

const readHex = (bytes: Uint8Array, at: number): number => {
  let value = 0
  for (let i = 0; i < 8; i++) {
    const byte = bytes[at + i] as number
    const digit = byte >= 48 && byte <= 57 ? byte - 48 : byte >= 97 && byte <= 102 ? byte - 87 : -1
    if (digit < 0) return -1
    value = value * 16 + digit
  }
  return value
}

/** Whether the bytes from `start` to `end` (the line feed left out) are a whole line with the checksum it names. */
export const isIntact = (bytes: Uint8Array, start: number, end: number): boolean => {
  const tail = end - (trailerLength - 1)
  if (tail <= start) return false
  for (let i = 0; i < trailerLength - 1; i++) {
    if (i >= digitsAt && i < digitsAt + 8) continue
    if (bytes[tail + i] !== trailerBytes[i]) return false
  }
  return readHex(bytes, tail + digitsAt) === crc(bytes.subarray(start, tail))
}

/** The times that a date can hold; what the writer's clock said beyond is the epoch. */
const isMoment = (time: number): boolean => Math.abs(time) <= 8.64e15

/** The record between `start` and `end`, or `undefined` where the bytes are no intact line of ours. */
export const decode = (bytes: Uint8Array, start: number, end: number): LogRecord | undefined => {
  let from = start
  let to = end
  if (to > from && bytes[to - 1] === CR) to--
  if (bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf) from += 3
  if (!isIntact(bytes, from, to)) return undefined
  const line = parse(decoder.decode(bytes.subarray(from, to)))
  if (line === undefined) return undefined
  const { q, t, k, v, e } = line as { readonly [key: string]: Json }
  if (!Number.isSafeInteger(q) || typeof t !== "number" || typeof k !== "string" || !Number.isSafeInteger(v)) return undefined
  return { seq: q as number, time: isMoment(t) ? t : 0, kind: k, version: v as number, body: e ?? null }
}

/** The next line feed at or after `from`, or -1. */
export const lineEnd = (bytes: Uint8Array, from: number): number => bytes.indexOf(LF, from)

/** The last line feed before `to`, or -1. */
export const lineEndBefore = (bytes: Uint8Array, to: number): number => (to <= 0 ? -1 : bytes.lastIndexOf(LF, to - 1))

export * as Frame from "./Frame.ts"
