import * as Fs from "node:fs"
import { buffer } from "node:stream/consumers"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { SystemFailure } from "./SystemFailure.ts"
import { Utf8 } from "./Utf8.ts"

/** A file that is not there, cannot be read, or holds no text. */
export class Unreadable extends Schema.TaggedError<Unreadable>()("Unreadable", {
  /** As it was given. */
  path: Schema.String,
  /** The reason, in words. */
  why: Schema.String,
  /** Nothing is at that path. */
  missing: Schema.Boolean,
}) {
  override get message() {
    return `could not read ${this.path}: ${this.why}`
  }
}

const decoded = (path: string, bytes: Uint8Array): Effect.Effect<string, Unreadable> => {
  const text = Utf8.decode(bytes)
  return Result.isSuccess(text)
    ? Effect.succeed(text.success)
    : Effect.fail(new Unreadable({ path, why: Utf8.refusal(text.failure), missing: false }))
}

/** The text of a file, byte for byte as UTF-8, a byte order mark included; what is not UTF-8 is refused with its offset. */
export const read = Effect.fn("TextFile.read")(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const bytes = yield* Effect.mapError(
    files.readFile(path),
    (error) => new Unreadable({ path, why: SystemFailure.why(error), missing: error.reason._tag === "NotFound" }),
  )
  return yield* decoded(path, bytes)
})

/** The same for whatever has a path, a pipe or a device too; one that holds more than so many bytes is refused, and read no further. */
export const readAtMost = Effect.fn("TextFile.readAtMost")(function* (path: string, limit: number) {
  const bytes = yield* Effect.tryPromise({
    try: (signal) => buffer(Fs.createReadStream(path, { end: limit, signal })),
    catch: (cause) => {
      const code = SystemFailure.codeOf(cause)
      return new Unreadable({ path, why: SystemFailure.explain(code), missing: code === "ENOENT" })
    },
  })
  if (bytes.length > limit) return yield* new Unreadable({ path, why: `it is larger than ${limit} bytes`, missing: false })
  return yield* decoded(path, bytes)
})

/** A text without the byte order mark that some editors put in front of it. */
export const unmarked = (text: string): string => text.replace(/^\ufeff/, "")

export * as TextFile from "./TextFile.ts"
