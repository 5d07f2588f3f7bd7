import * as Effect from "effect/Effect"
import { Disk, type File } from "./Disk.ts"
import { ofDisk, type StoreError } from "./StoreError.ts"

/** A file below a directory. */
export interface Entry {
  /** Relative, with slashes. */
  readonly path: string
  readonly bytes: number
}

/** Every regular file below a directory, names sorted; links and devices are left out. `hidden`: also those whose names, or parents' names, begin with a dot. */
export const files: (
  directory: string,
  options?: { readonly hidden?: boolean },
  prefix?: string,
) => Effect.Effect<ReadonlyArray<Entry>, StoreError, Disk.Service> = Effect.fnUntraced(function* (
  directory: string,
  options: { readonly hidden?: boolean } = {},
  prefix = "",
): Effect.fn.Return<ReadonlyArray<Entry>, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const found: Array<Entry> = []
  for (const name of (yield* disk.list(directory).pipe(Effect.mapError(ofDisk))) ?? []) {
    if (name.startsWith(".") && options.hidden !== true) continue
    const stat = yield* disk.stat(`${directory}/${name}`).pipe(Effect.mapError(ofDisk))
    if (stat?.kind === "file") found.push({ path: `${prefix}${name}`, bytes: stat.size })
    if (stat?.kind === "directory") found.push(...(yield* files(`${directory}/${name}`, options, `${prefix}${name}/`)))
  }
  return found
})

/** What a directory holds, in bytes. */
export const size = (directory: string): Effect.Effect<number, StoreError, Disk.Service> =>
  Effect.map(files(directory, { hidden: true }), (all) => all.reduce((sum, entry) => sum + entry.bytes, 0))

const chunkBytes = 1024 * 1024

/**
 * Copies at most the first `bytes` of a file in chunks to a new one, on disk when it succeeds with how many there were; `seen` is shown each chunk.
 * An interruption leaves a part of the copy.
 */
export const copy = Effect.fnUntraced(function* (
  source: string,
  target: string,
  bytes: number,
  seen: (chunk: Uint8Array) => void = () => {},
): Effect.fn.Return<number, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const run = Effect.fnUntraced(function* (reading: File, writing: File) {
    let offset = 0
    while (offset < bytes) {
      const chunk = yield* disk.read(reading, offset, Math.min(chunkBytes, bytes - offset))
      if (chunk.length === 0) break
      yield* disk.write(writing, chunk)
      seen(chunk)
      offset += chunk.length
      yield* Effect.yieldNow
    }
    yield* disk.sync(writing)
    return offset
  })
  return yield* Effect.acquireUseRelease(
    disk.openRead(source),
    (reading) => Effect.acquireUseRelease(disk.openExclusive(target), (writing) => run(reading, writing), disk.close),
    disk.close,
  ).pipe(Effect.mapError(ofDisk))
})

export * as Tree from "./Tree.ts"
