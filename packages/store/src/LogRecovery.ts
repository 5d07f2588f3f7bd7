import * as Effect from "effect/Effect"
import { Disk, type File } from "./Disk.ts"
import { encodeValue } from "./Frame.ts"
import type { JsonObject } from "./Json.ts"
import * as Layout from "./Layout.ts"
import { isGap, LogDecoder } from "./LogDecoder.ts"
import { activePath, type LogName, quarantinePath, segments, stagedPath } from "./LogFiles.ts"
import { firstLine, segmentOf, tail } from "./LogReader.ts"
import type { LogGap, LogRecord } from "./Record.ts"
import { Corrupt, NewerVersion, of, ofDisk, type StoreError } from "./StoreError.ts"
import type { Warning } from "./Warning.ts"

const chunkBytes = 1024 * 1024
/** A cut tail is kept for people up to this size. */
const keptTailBytes = 1024 * 1024

/** The format of a log's files; a head that names a higher `min_reader` is not written. */
export const formatVersion = 1

/** The body of a segment's first line. */
export const headBody = (
  identity: JsonObject,
  segment: number,
  previous?: { readonly segment: number; readonly seq: number },
): JsonObject => ({
  format: formatVersion,
  min_reader: formatVersion,
  segment,
  ...identity,
  prev: previous === undefined ? null : { segment: previous.segment, last_q: previous.seq },
})

/** The only line of a new log. `about` stands in it beside the identity, for whoever must rebuild what was lost beside the log. */
export const onlyLine = (identity: JsonObject, time: number, about: JsonObject = {}): Uint8Array =>
  encodeValue(1, time, "head", 1, { ...headBody(identity, 1), ...about })

export interface OpenOptions {
  readonly name: LogName
  /** Must stand in every head. */
  readonly identity: JsonObject
  /** Whether a head of another identity belongs here all the same (a migrated agent's older segments). */
  readonly accepts?: (head: JsonObject) => boolean
  /** The newest record version that may be there when we append. */
  readonly supported: number
  /** Where a snapshot says that reading may begin: the end of the line numbered `seq`. */
  readonly from?: { readonly segment: number; readonly offset: number; readonly seq: number }
  /** Sees every record that is read, in order. */
  readonly visit?: (record: LogRecord) => void
  readonly now: number
}

/** A log whose active file ends with an intact line. */
export interface Opened {
  readonly file: File
  readonly segment: number
  readonly end: number
  readonly lastSeq: number
  /** The last record is a seal: the segment is to be rotated before the first append. */
  readonly sealed: boolean
  readonly gaps: ReadonlyArray<LogGap>
  /** Bytes that were cut from the end. */
  readonly cut: number
  readonly warnings: ReadonlyArray<Warning>
}

/**
 * Opens a log for writing (the caller closes the file) and makes its end sound: finishes a rotation that a crash cut short, cuts a torn tail, copies damage in the middle aside.
 * Writes nothing where the log is of a newer version. Safe to be cut short itself: the next opening finishes.
 */
export const open = Effect.fn("LogRecovery.open")(function* (
  options: OpenOptions,
): Effect.fn.Return<Opened, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const { name } = options
  const warnings: Array<Warning> = []
  const path = activePath(name)
  const staged = stagedPath(name)
  if ((yield* disk.stat(path).pipe(Effect.mapError(ofDisk))) === undefined) {
    yield* restoreActive(options, warnings)
  } else if ((yield* disk.stat(staged).pipe(Effect.mapError(ofDisk))) !== undefined) {
    yield* disk.unlink(staged).pipe(Effect.mapError(ofDisk))
  }
  const file = yield* disk.openAppend(path).pipe(Effect.mapError(ofDisk))
  return yield* mend(file, options, warnings).pipe(Effect.onError(() => disk.close(file)))
})

const mend = Effect.fnUntraced(function* (
  file: File,
  options: OpenOptions,
  warnings: Array<Warning>,
): Effect.fn.Return<Opened, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const { name } = options
  const path = file.path
  const scan = yield* scanActive(file, options)
  const size = scan.size
  let end = scan.goodEnd
  let cut = 0
  if (scan.unterminated) {
    if (size > end) yield* disk.truncate(file, end).pipe(Effect.mapError(ofDisk))
    yield* disk.write(file, new Uint8Array([10])).pipe(Effect.mapError(ofDisk))
    yield* disk.sync(file).pipe(Effect.mapError(ofDisk))
    end += 1
  } else if (size > end) {
    cut = size - end
    const kept = yield* setAside(name, file, scan.segment, end, Math.min(size, end + keptTailBytes), true)
    yield* disk.truncate(file, end).pipe(Effect.mapError(ofDisk))
    yield* disk.sync(file).pipe(Effect.mapError(ofDisk))
    warnings.push({
      kind: "torn_tail_cut",
      path,
      message: `${cut} bytes of an unfinished write were cut from the end${kept === undefined ? "" : `; a copy is in ${kept}`}`,
    })
  }
  for (const gap of scan.gaps) {
    const kept = yield* setAside(name, file, scan.segment, gap.from, gap.to, false)
    warnings.push({
      kind: "damage_skipped",
      path,
      message: `${describeGap(gap)}${kept === undefined ? "" : `; a copy is in ${kept}`}`,
    })
  }
  return { file, segment: scan.segment, end, lastSeq: scan.lastSeq, sealed: scan.sealed, gaps: scan.gaps, cut, warnings }
})

/** A gap in words. */
export const describeGap = (gap: LogGap): string => {
  const numbers = gap.firstSeq === undefined ? "" : `records ${gap.firstSeq} to ${gap.lastSeq}`
  if (gap.from === gap.to) return `${numbers} are missing`
  return `bytes ${gap.from} to ${gap.to}${numbers === "" ? "" : ` (${numbers})`} cannot be read and are skipped`
}

interface Scan {
  readonly segment: number
  readonly size: number
  readonly goodEnd: number
  readonly lastSeq: number
  readonly sealed: boolean
  readonly unterminated: boolean
  readonly gaps: ReadonlyArray<LogGap>
}

const scanActive = Effect.fnUntraced(function* (
  file: File,
  options: OpenOptions,
): Effect.fn.Return<Scan, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const read = (offset: number, length: number) => disk.read(file, offset, length).pipe(Effect.mapError(ofDisk))
  const size = yield* disk.size(file).pipe(Effect.mapError(ofDisk))
  const first = yield* firstLine(file)
  const head = first?.kind === "head" ? first : undefined
  if (head !== undefined) yield* checkHead(head, options)
  const segment = head === undefined ? yield* nextNumber(options.name) : segmentOf(head)
  const hint =
    options.from !== undefined && options.from.segment === segment && (yield* confirms(file, options.from))
      ? options.from
      : undefined
  const before = hint === undefined ? yield* lastSeqBefore(options.name) : hint.seq
  const decoder = new LogDecoder({ segment, offset: hint?.offset ?? 0, lastSeq: before })
  const gaps: Array<LogGap> = []
  let newest = 0
  let lastKind = ""
  const take = (elements: ReadonlyArray<LogRecord | LogGap>): void => {
    for (const element of elements) {
      if (isGap(element)) {
        gaps.push(element)
        continue
      }
      if (element.version > newest) newest = element.version
      lastKind = element.kind
      options.visit?.(element)
    }
  }
  let offset = hint?.offset ?? 0
  while (offset < size) {
    const bytes = yield* read(offset, chunkBytes)
    if (bytes.length === 0) break
    offset += bytes.length
    take(decoder.push(bytes))
  }
  const rest: Array<LogRecord | LogGap> = []
  const unterminated = decoder.finish(rest)
  take(rest)
  if (newest > options.supported) {
    return yield* of(new NewerVersion({ path: file.path, version: newest, supported: options.supported }))
  }
  return {
    segment,
    size,
    goodEnd: decoder.goodEnd,
    lastSeq: Math.max(decoder.lastSeq ?? before ?? 0, options.from?.seq ?? 0),
    sealed: lastKind === "seal",
    unterminated,
    gaps,
  }
})

const checkHead = Effect.fnUntraced(function* (head: LogRecord, options: OpenOptions): Effect.fn.Return<void, StoreError> {
  const path = activePath(options.name)
  const body = head.body as JsonObject
  const minReader = typeof body.min_reader === "number" ? body.min_reader : 1
  if (minReader > formatVersion) return yield* of(new NewerVersion({ path, version: minReader, supported: formatVersion }))
  const same = Object.entries(options.identity).every(([key, value]) => body[key] === value)
  if (!same && options.accepts?.(body) !== true)
    return yield* of(new Corrupt({ path, why: "its first line names another owner" }))
})

/** Whether a line numbered as the hint says ends where it says. */
const confirms = Effect.fnUntraced(function* (
  file: File,
  hint: { readonly offset: number; readonly seq: number },
): Effect.fn.Return<boolean, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  for (let length = 64 * 1024; ; length *= 8) {
    const start = Math.max(0, hint.offset - length)
    const bytes = yield* disk.read(file, start, hint.offset - start).pipe(Effect.mapError(ofDisk))
    if (bytes.length !== hint.offset - start || bytes[bytes.length - 1] !== 10) return false
    const before = bytes.lastIndexOf(10, bytes.length - 2)
    if (before < 0 && start > 0) continue
    const decoder = new LogDecoder({ segment: 0 })
    const [record] = decoder.push(bytes.subarray(before + 1))
    return record !== undefined && !isGap(record) && record.seq === hint.seq
  }
})

/** The last number in the sealed segments, 0 where there are none. */
const lastSeqBefore = Effect.fnUntraced(function* (
  name: LogName,
): Effect.fn.Return<number | undefined, StoreError, Disk.Service> {
  const all = yield* segments(name)
  const sealed = all.filter((segment) => segment.number !== undefined)
  if (sealed.length === 0) return 0
  const disk = yield* Disk.Service
  const last = sealed[sealed.length - 1]
  if (last === undefined) return 0
  const file = yield* disk.openRead(last.path).pipe(Effect.mapError(ofDisk))
  const seq = yield* Effect.ensuring(lastSeqOf(file), disk.close(file))
  return seq
})

const lastSeqOf = Effect.fnUntraced(function* (file: File): Effect.fn.Return<number | undefined, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const size = yield* disk.size(file).pipe(Effect.mapError(ofDisk))
  for (let length = 64 * 1024; ; length *= 8) {
    const start = Math.max(0, size - length)
    const bytes = yield* disk.read(file, start, size - start).pipe(Effect.mapError(ofDisk))
    const from = start === 0 ? 0 : bytes.indexOf(10) + 1
    const decoder = new LogDecoder({ segment: 0 })
    const out = decoder.push(bytes.subarray(from))
    decoder.finish(out)
    if (decoder.lastSeq !== undefined || start === 0) return decoder.lastSeq
  }
})

const nextNumber = Effect.fnUntraced(function* (name: LogName): Effect.fn.Return<number, StoreError, Disk.Service> {
  const sealed = (yield* segments(name)).filter((segment) => segment.number !== undefined)
  return (sealed[sealed.length - 1]?.number ?? 0) + 1
})

/** Puts an active file in place where there is none: the staged one of a rotation, else a new one. */
const restoreActive = Effect.fnUntraced(function* (
  options: OpenOptions,
  warnings: Array<Warning>,
): Effect.fn.Return<void, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const { name } = options
  const path = activePath(name)
  const last = (yield* tail(name, 1))[0]
  const number = yield* nextNumber(name)
  yield* disk.unlink(stagedPath(name)).pipe(Effect.mapError(ofDisk))
  const body = headBody(options.identity, number, last === undefined ? undefined : { segment: number - 1, seq: last.seq })
  yield* writeNew(stagedPath(name), encodeValue((last?.seq ?? options.from?.seq ?? 0) + 1, options.now, "head", 1, body))
  yield* disk.rename(stagedPath(name), path).pipe(Effect.mapError(ofDisk))
  yield* disk.syncDirectory(name.directory).pipe(Effect.mapError(ofDisk))
  if (last?.kind !== "seal") warnings.push({ kind: "missing_file", path, message: "the log was missing and was begun anew" })
})

/** A whole new file, on disk when it succeeds; its name is on disk after the next sync of the directory. */
export const writeNew = Effect.fnUntraced(function* (
  path: string,
  bytes: Uint8Array,
): Effect.fn.Return<void, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  yield* Effect.uninterruptible(
    Effect.gen(function* () {
      const file = yield* disk.openExclusive(path)
      yield* Effect.ensuring(Effect.andThen(disk.write(file, bytes), disk.sync(file)), disk.close(file))
    }),
  ).pipe(Effect.mapError(ofDisk))
})

/** Copies a byte range into the quarantine, once; `undefined` where a tail is but one unfinished line, which nobody was promised. */
export const setAside = Effect.fnUntraced(function* (
  name: LogName,
  file: File,
  segment: number,
  from: number,
  to: number,
  isTail: boolean,
): Effect.fn.Return<string | undefined, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  if (to <= from) return undefined
  const bytes = yield* disk.read(file, from, to - from).pipe(Effect.mapError(ofDisk))
  if (isTail && bytes.indexOf(10) < 0) return undefined
  const directory = quarantinePath(name)
  if ((yield* Layout.directory(directory)) === undefined) {
    yield* disk.makeDirectory(directory).pipe(Effect.mapError(ofDisk))
  }
  const path = `${directory}/${name.base}${name.extension}.${segment}.${from}-${to}`
  if ((yield* disk.stat(path).pipe(Effect.mapError(ofDisk))) !== undefined) {
    if (!isTail) return path
    yield* disk.unlink(path).pipe(Effect.mapError(ofDisk))
  }
  yield* writeNew(path, bytes)
  yield* disk.syncDirectory(directory).pipe(Effect.mapError(ofDisk))
  return path
})
