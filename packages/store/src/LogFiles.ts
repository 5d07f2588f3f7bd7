import * as Effect from "effect/Effect"
import { Disk } from "./Disk.ts"
import { ofDisk, type StoreError } from "./StoreError.ts"

/** A log's place: `wire` and `.log` in a directory are `wire.log`, the active file, and `wire.000001.log`, … the sealed ones before it. */
export interface LogName {
  readonly directory: string
  readonly base: string
  readonly extension: string
}

export interface Segment {
  readonly path: string
  /** From the file's name; `undefined` for the active one, whose number stands in its first line. */
  readonly number: number | undefined
}

/** The file that is written now. */
export const activePath = (name: LogName): string => `${name.directory}/${name.base}${name.extension}`

/** The sealed file of a segment. */
export const sealedPath = (name: LogName, number: number): string =>
  `${name.directory}/${name.base}.${String(number).padStart(6, "0")}${name.extension}`

/** The next active file while it is being made. */
export const stagedPath = (name: LogName): string => `${name.directory}/.${name.base}${name.extension}.next`

/** Where damage is set aside. */
export const quarantinePath = (name: LogName): string => `${name.directory}/.quarantine`

/** Every file of the log in order, the active one last; a missing active one is left out. */
export const segments = Effect.fnUntraced(function* (
  name: LogName,
): Effect.fn.Return<ReadonlyArray<Segment>, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const names = (yield* disk.list(name.directory).pipe(Effect.mapError(ofDisk))) ?? []
  const prefix = `${name.base}.`
  const found: Array<Segment & { readonly number: number }> = []
  let active = false
  for (const file of names) {
    if (file === `${name.base}${name.extension}`) active = true
    else if (file.startsWith(prefix) && file.endsWith(name.extension)) {
      const middle = file.slice(prefix.length, file.length - name.extension.length)
      if (/^\d{6,}$/.test(middle)) found.push({ path: `${name.directory}/${file}`, number: Number(middle) })
    }
  }
  found.sort((a, b) => a.number - b.number)
  return active ? [...found, { path: activePath(name), number: undefined }] : found
})
