import * as Effect from "effect/Effect"
import type * as Document from "./Document.ts"
import type { JsonObject } from "./Json.ts"
import * as Revision from "./Revision.ts"
import type { SessionInfo } from "./Session.ts"
import type { SessionId } from "./SessionId.ts"
import { Corrupt, Invalid, of, type StoreError } from "./StoreError.ts"

/** The format of `session.json`. */
export const format: Document.Format = { schema: "session", version: 1 }

const titleLimit = 100

/** Control characters and those that turn the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

/** Fails with `Invalid` where a title cannot be shown in one line. */
export const checkTitle = (title: string | undefined): Effect.Effect<void, StoreError> => {
  if (title === undefined) return Effect.void
  const why =
    title.trim().length === 0
      ? "it is empty"
      : title.length > titleLimit
        ? `it is longer than ${titleLimit} characters`
        : unprintable.test(title)
          ? "it holds control characters"
          : undefined
  return why === undefined ? Effect.void : Effect.fail(of(new Invalid({ what: "title", why })))
}

/** What a `session.json` says; missing optional members get defaults. */
export const view = Effect.fnUntraced(function* (
  path: string,
  raw: JsonObject,
  id: string,
): Effect.fn.Return<SessionInfo, StoreError> {
  if (raw.schema !== format.schema) return yield* of(new Corrupt({ path, why: `it is no ${format.schema} document` }))
  if (raw.id !== id) return yield* of(new Corrupt({ path, why: `it names session ${JSON.stringify(raw.id)}` }))
  const title = Revision.text(raw.title)
  return {
    schema: "session",
    ...Revision.of(raw),
    id: id as SessionId,
    cwd: Revision.text(raw.cwd) ?? "/",
    additional_directories: Revision.list(raw.additional_directories).filter((path) => typeof path === "string"),
    origin: raw.origin === "subagent" ? "subagent" : "top_level",
    ...(title === undefined ? {} : { title }),
  }
})

export interface Initial {
  readonly id: SessionId
  readonly cwd: string
  readonly additionalDirectories: ReadonlyArray<string>
  readonly origin: "top_level" | "subagent"
  readonly title: string | undefined
  readonly now: number
}

/** The first `session.json`. */
export const initial = (options: Initial): JsonObject =>
  Revision.first(
    format,
    {
      id: options.id,
      cwd: options.cwd,
      additional_directories: options.additionalDirectories,
      origin: options.origin,
      ...(options.title === undefined ? {} : { title: options.title }),
    },
    options.now,
  )

export * as SessionDocument from "./SessionDocument.ts"
