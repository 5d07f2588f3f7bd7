import * as Effect from "effect/Effect"
import { uuid } from "./AgentId.ts"
import { Disk } from "./Disk.ts"
import { trashPrefix } from "./Layout.ts"
import { isFull, ofDisk, type StoreError } from "./StoreError.ts"

/**
 * Removes a directory in two steps: it is renamed to a name that nobody reads, on disk, and then removed. A crash between the two leaves that name, which
 * {@link sweep} removes; a crash before leaves it whole. Where the disk has no space even for the name, it is removed where it stands: a crash then leaves a
 * part, of which calling again finishes the removal.
 */
export const remove = Effect.fn("Trash.remove")(function* (
  parent: string,
  name: string,
): Effect.fn.Return<void, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const path = `${parent}/${name}`
  const target = `${parent}/${trashPrefix}${name}.${yield* uuid}`
  const renamed = Effect.as(disk.rename(path, target), target)
  yield* Effect.uninterruptible(
    Effect.gen(function* () {
      const going = yield* Effect.catchIf(renamed, isFull, () => Effect.succeed(path))
      yield* Effect.catchIf(disk.syncDirectory(parent), isFull, () => Effect.void)
      yield* disk.removeTree(going)
    }),
  ).pipe(Effect.mapError(ofDisk))
})

/** Finishes what deletions left; the number of directories removed. */
export const sweep = Effect.fnUntraced(function* (parent: string): Effect.fn.Return<number, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const left = ((yield* disk.list(parent).pipe(Effect.mapError(ofDisk))) ?? []).filter((name) => name.startsWith(trashPrefix))
  yield* Effect.forEach(left, (name) => disk.removeTree(`${parent}/${name}`).pipe(Effect.mapError(ofDisk)), { discard: true })
  return left.length
})

export * as Trash from "./Trash.ts"
