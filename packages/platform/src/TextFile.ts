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

/** The text of a file, byte for byte as UTF-8, a byte order mark included; what is not UTF-8 is refused with its offset. */
export const read = Effect.fn("TextFile.read")(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const bytes = yield* Effect.mapError(
    files.readFile(path),
    (error) => new Unreadable({ path, why: SystemFailure.why(error), missing: error.reason._tag === "NotFound" }),
  )
  const text = Utf8.decode(bytes)
  if (Result.isFailure(text)) return yield* new Unreadable({ path, why: Utf8.refusal(text.failure), missing: false })
  return text.success
})

/** A text without the byte order mark that some editors put in front of it. */
export const unmarked = (text: string): string => text.replace(/^\ufeff/, "")

export * as TextFile from "./TextFile.ts"
