import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Disk, type File } from "./Disk.ts"
import { decode, lineEnd, lineEndBefore } from "./Frame.ts"
import { isGap, LogDecoder, maxLineBytes } from "./LogDecoder.ts"
import { activePath, type LogName, type Segment, segments } from "./LogFiles.ts"
import type { LogGap, LogRecord } from "./Record.ts"
import { ofDisk, type StoreError } from "./StoreError.ts"

const chunkBytes = 256 * 1024
const probeBytes = 64 * 1024

type Chunk = Array<LogRecord | LogGap>

/** Opens a file for the scope; `undefined` where it is gone (a rotation may have just renamed it). */
const opened = Effect.fnUntraced(function* (
  path: string,
): Effect.fn.Return<File | undefined, StoreError, Disk.Service | Scope.Scope> {
  const disk = yield* Disk.Service
  return yield* Effect.acquireRelease(
    disk
      .openRead(path)
      .pipe(
        Effect.catchTag("DiskError", (error) =>
          error.code === "ENOENT" ? Effect.succeed(undefined) : Effect.fail(ofDisk(error)),
        ),
      ),
    (file) => (file === undefined ? Effect.void : disk.close(file)),
  )
})

/** A file's first line where it is intact; nearly always within the first probe. */
export const firstLine = Effect.fnUntraced(function* (
  file: File,
): Effect.fn.Return<LogRecord | undefined, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  for (const length of [probeBytes, maxLineBytes]) {
    const bytes = yield* disk.read(file, 0, length).pipe(Effect.mapError(ofDisk))
    const end = lineEnd(bytes, 0)
    if (end >= 0) return decode(bytes, 0, end)
    if (bytes.length < length) return undefined
  }
  return undefined
})

interface Found {
  readonly offset: number
  readonly seq: number
}

/** The first intact line that starts at or after `from` and before `to`. */
const nextIntact = Effect.fnUntraced(function* (
  file: File,
  from: number,
  to: number,
): Effect.fn.Return<Found | undefined, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  for (let length = probeBytes; ; length *= 4) {
    const bytes = yield* disk.read(file, from, Math.min(length, to - from + probeBytes)).pipe(Effect.mapError(ofDisk))
    let start = from === 0 ? 0 : lineEnd(bytes, 0) + 1
    while (start > 0 || from === 0) {
      if (from + start >= to) return undefined
      const end = lineEnd(bytes, start)
      if (end < 0) break
      const record = decode(bytes, start, end)
      if (record !== undefined) return { offset: from + start, seq: record.seq }
      start = end + 1
    }
    if (bytes.length < length || length > maxLineBytes) return undefined
  }
})

/** The offset of a line whose number is at most `seq`, close before it: about log2(size) reads of 64 KiB. */
const seek = Effect.fnUntraced(function* (file: File, seq: number): Effect.fn.Return<number, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  let low = 0
  let high = yield* disk.size(file).pipe(Effect.mapError(ofDisk))
  while (high - low > probeBytes) {
    const middle = low + Math.floor((high - low) / 2)
    const found = yield* nextIntact(file, middle, high)
    if (found === undefined || found.seq > seq) high = middle
    else low = found.offset
  }
  return low
})

/** The files of a log as they stood together at one moment. */
interface Located {
  /** Oldest first. */
  readonly sealed: ReadonlyArray<Segment>
  /** The file that was active, held open: a rotation meanwhile does not take it away. */
  readonly active: { readonly file: File; readonly number: number } | undefined
}

/**
 * Finds the files for the scope. The active one is opened before the sealed ones are listed, so that whatever is rotated in between, no file is left out
 * and none is read twice.
 */
const locate = Effect.fnUntraced(function* (name: LogName): Effect.fn.Return<Located, StoreError, Disk.Service | Scope.Scope> {
  let file = yield* opened(activePath(name))
  for (let tries = 0; file === undefined && tries < 3; tries++) {
    yield* Effect.yieldNow
    file = yield* opened(activePath(name))
  }
  const sealed = (yield* segments(name)).filter((segment) => segment.number !== undefined)
  if (file === undefined) return { sealed, active: undefined }
  const head = yield* firstLine(file)
  const number = head?.kind === "head" ? segmentOf(head) : (sealed[sealed.length - 1]?.number ?? 0) + 1
  return { sealed: sealed.filter((segment) => (segment.number as number) < number), active: { file, number } }
})

/** One file of a log: a sealed one is opened when its turn comes. */
interface Part {
  readonly number: number
  readonly open: Effect.Effect<File | undefined, StoreError, Disk.Service | Scope.Scope>
}

const partsOf = ({ sealed, active }: Located): ReadonlyArray<Part> => [
  ...sealed.map((segment) => ({ number: segment.number as number, open: opened(segment.path) })),
  ...(active === undefined ? [] : [{ number: active.number, open: Effect.succeed(active.file) }]),
]

/** The records of one file from `fromSeq` on; `state` carries the last number from file to file. */
const partStream = (
  part: Part,
  fromSeq: number,
  state: { lastSeq: number | undefined },
): Stream.Stream<LogRecord | LogGap, StoreError, Disk.Service> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const disk = yield* Disk.Service
      const file = yield* part.open
      if (file === undefined) return Stream.empty
      const head = yield* firstLine(file)
      const seeking = state.lastSeq === undefined && head !== undefined && head.seq < fromSeq
      let offset = seeking ? yield* seek(file, fromSeq) : 0
      const decoder = new LogDecoder({ segment: part.number, offset, lastSeq: seeking ? undefined : state.lastSeq })
      let ended = false
      const pull = Effect.gen(function* () {
        for (;;) {
          if (ended) return yield* Cause.done()
          const bytes = yield* disk.read(file, offset, chunkBytes).pipe(Effect.mapError(ofDisk))
          offset += bytes.length
          const out: Chunk = decoder.push(bytes)
          if (bytes.length < chunkBytes) {
            ended = true
            decoder.finish(out)
          }
          state.lastSeq = decoder.lastSeq ?? state.lastSeq
          const wanted = fromSeq <= 1 ? out : out.filter((element) => isGap(element) || element.seq >= fromSeq)
          if (wanted.length > 0) return wanted as [LogRecord | LogGap, ...Chunk]
        }
      })
      return Stream.fromPull(Effect.succeed(pull))
    }),
  )

/** The segment number that a head line names, 1 where it names none. */
export const segmentOf = (head: LogRecord | undefined): number => {
  const body = head?.body
  const number = typeof body === "object" && body !== null && "segment" in body ? body.segment : undefined
  return typeof number === "number" ? number : 1
}

/** The files that can hold records from `fromSeq` on. */
const from = Effect.fnUntraced(function* (
  parts: ReadonlyArray<Part>,
  fromSeq: number,
): Effect.fn.Return<ReadonlyArray<Part>, StoreError, Disk.Service> {
  for (let i = parts.length - 1; i > 0; i--) {
    const head = yield* Effect.scoped(
      Effect.flatMap((parts[i] as Part).open, (file) => (file === undefined ? Effect.undefined : firstLine(file))),
    )
    if (head !== undefined && head.seq <= fromSeq) return parts.slice(i)
  }
  return parts
})

/** Every record from `fromSeq` to the end of now, gaps in place. Reads in chunks; a torn tail is left out and left alone. */
export const replay = (name: LogName, fromSeq = 1): Stream.Stream<LogRecord | LogGap, StoreError, Disk.Service> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const parts = partsOf(yield* locate(name))
      const chosen = fromSeq <= 1 ? parts : yield* from(parts, fromSeq)
      const state: { lastSeq: number | undefined } = { lastSeq: fromSeq <= 1 ? 0 : undefined }
      return Stream.fromIterable(chosen).pipe(Stream.flatMap((part) => partStream(part, fromSeq, state)))
    }),
  )

/** Every record of the sealed files, gaps in place. */
export const replaySealed = (name: LogName): Stream.Stream<LogRecord | LogGap, StoreError, Disk.Service> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { sealed } = yield* locate(name)
      const state: { lastSeq: number | undefined } = { lastSeq: 0 }
      return Stream.fromIterable(partsOf({ sealed, active: undefined })).pipe(
        Stream.flatMap((part) => partStream(part, 1, state)),
      )
    }),
  )

/** The last `count` intact records, oldest first. Reads backwards, so that the log's length does not matter. */
export const tail = Effect.fn("LogReader.tail")(function* (
  name: LogName,
  count: number,
): Effect.fn.Return<ReadonlyArray<LogRecord>, StoreError, Disk.Service | Scope.Scope> {
  const found: Array<LogRecord> = []
  for (const part of partsOf(yield* locate(name)).toReversed()) {
    if (found.length >= count) break
    const file = yield* part.open
    if (file !== undefined) found.push(...(yield* tailOf(file, count - found.length)))
  }
  return found.reverse()
}, Effect.scoped)

/** The last intact records of one file, newest first. */
const tailOf = Effect.fnUntraced(function* (
  file: File,
  count: number,
): Effect.fn.Return<ReadonlyArray<LogRecord>, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const found: Array<LogRecord> = []
  let end = yield* disk.size(file).pipe(Effect.mapError(ofDisk))
  let length = probeBytes
  while (end > 0 && found.length < count) {
    const start = Math.max(0, end - length)
    const bytes = yield* disk.read(file, start, end - start).pipe(Effect.mapError(ofDisk))
    let stop = bytes.length
    for (;;) {
      const text = bytes[stop - 1] === 10 ? stop - 1 : stop
      const before = lineEndBefore(bytes, text)
      if (before < 0 && start > 0) break
      const record = decode(bytes, before + 1, text)
      if (record !== undefined) found.push(record)
      stop = before + 1
      if (found.length === count || stop === 0) break
    }
    length = stop === bytes.length ? length * 4 : probeBytes
    end = start + stop
  }
  return found
})

/** The offset behind the last intact line of a file. */
export const intactEnd = (path: string): Effect.Effect<number, StoreError, Disk.Service> =>
  Effect.scoped(
    Effect.gen(function* () {
      const disk = yield* Disk.Service
      const file = yield* opened(path)
      if (file === undefined) return 0
      const decoder = new LogDecoder({ segment: 0 })
      for (let offset = 0; ; offset += chunkBytes) {
        const bytes = yield* disk.read(file, offset, chunkBytes).pipe(Effect.mapError(ofDisk))
        decoder.push(bytes)
        if (bytes.length < chunkBytes) break
      }
      decoder.finish([])
      return decoder.goodEnd
    }),
  )
