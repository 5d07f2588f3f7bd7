import * as Effect from "effect/Effect"
import { Disk, DiskError } from "./Disk.ts"
import { isObject, type JsonObject, parse, stringifyPretty } from "./Json.ts"
import { Corrupt, NewerVersion, of, ofDisk, StoreError } from "./StoreError.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8")

/** The bytes of a document: two spaces per level, a line feed at the end. */
export const encode = (value: JsonObject): Uint8Array => encoder.encode(`${stringifyPretty(value)}\n`)

const split = (path: string): readonly [directory: string, name: string] => {
  const cut = path.lastIndexOf("/")
  return [path.slice(0, cut), path.slice(cut + 1)]
}

/** The name of a document while it is being written. One writer per directory, so one name is enough; a leftover is replaced. */
export const temporaryPath = (path: string): string => {
  const [directory, name] = split(path)
  return `${directory}/.${name}.tmp`
}

/** Whether a name is one that {@link temporaryPath} gives. */
export const isTemporary = (name: string): boolean => name.startsWith(".") && name.endsWith(".tmp")

/**
 * Replaces the file's content as a whole (K06): temporary file in the same directory, all bytes, sync, rename, sync of the directory.
 * A reader sees the old or the new content. On a failure the old content stands and no temporary file is left. `durable: false` leaves out the syncs.
 */
export const writeBytes = Effect.fn("Document.writeBytes")(function* (
  path: string,
  bytes: Uint8Array,
  options?: { readonly durable?: boolean },
): Effect.fn.Return<void, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const durable = options?.durable !== false
  const temporary = temporaryPath(path)
  const [directory] = split(path)
  const create = disk
    .openExclusive(temporary)
    .pipe(
      Effect.catchTag("DiskError", (error) =>
        error.code === "EEXIST" ? Effect.andThen(disk.unlink(temporary), disk.openExclusive(temporary)) : Effect.fail(error),
      ),
    )
  const fill = Effect.flatMap(create, (file) =>
    Effect.ensuring(Effect.andThen(disk.write(file, bytes), durable ? disk.sync(file) : Effect.void), disk.close(file)),
  )
  const rename = Effect.mapError(disk.rename(temporary, path), ({ call, code }) => new DiskError({ call, path, code }))
  const replace = Effect.andThen(fill, rename).pipe(Effect.tapError(() => Effect.ignore(disk.unlink(temporary))))
  yield* Effect.uninterruptible(durable ? Effect.andThen(replace, disk.syncDirectory(directory)) : replace).pipe(
    Effect.mapError(ofDisk),
  )
})

/** {@link writeBytes} of a JSON document. */
export const write = (
  path: string,
  value: JsonObject,
  options?: { readonly durable?: boolean },
): Effect.Effect<void, StoreError, Disk.Service> => writeBytes(path, encode(value), options)

/** What a document's name, version and oldest writer must be. */
export interface Format {
  readonly schema: string
  readonly version: number
}

/** The object of JSON bytes, or why there is none. A byte order mark is ignored. */
export const objectOf = (path: string, bytes: Uint8Array): JsonObject | StoreError => {
  if (bytes.length === 0) return of(new Corrupt({ path, why: "it is empty" }))
  const value = parse(decoder.decode(bytes))
  return isObject(value) ? value : of(new Corrupt({ path, why: "it is not a JSON object" }))
}

/** {@link objectOf} as an effect. */
export const decode = (path: string, bytes: Uint8Array): Effect.Effect<JsonObject, StoreError> => {
  const value = objectOf(path, bytes)
  return isStoreError(value) ? Effect.fail(value) : Effect.succeed(value)
}

/** The object in a file, `undefined` where there is no file. Unknown fields are there. */
export const read = Effect.fnUntraced(function* (
  path: string,
): Effect.fn.Return<JsonObject | undefined, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const bytes = yield* disk.readFile(path).pipe(Effect.mapError(ofDisk))
  return bytes === undefined ? undefined : yield* decode(path, bytes)
})

/** Fails with `NewerVersion` where only a newer Kit may write the document, with `Corrupt` where it is of another kind. */
export const checkWritable = (path: string, value: JsonObject, format: Format): Effect.Effect<void, StoreError> => {
  if (value.schema !== format.schema) return Effect.fail(of(new Corrupt({ path, why: `it is no ${format.schema} document` })))
  const version = typeof value.version === "number" ? value.version : 1
  const minReader = typeof value.min_reader === "number" ? value.min_reader : version
  return minReader > format.version
    ? Effect.fail(of(new NewerVersion({ path, version: minReader, supported: format.version })))
    : Effect.void
}

/** Whether a decoder's answer is a failure. */
export const isStoreError = (value: object): value is StoreError => value instanceof StoreError

export * as Document from "./Document.ts"
