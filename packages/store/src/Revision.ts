import type * as Document from "./Document.ts"
import { isObject, type Json, type JsonObject } from "./Json.ts"

/** The text in a member, `undefined` where it is none. */
export const text = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined)

/** The integer in a member, `fallback` where it is none. */
export const integer = (value: Json | undefined, fallback: number): number =>
  typeof value === "number" && Number.isSafeInteger(value) ? value : fallback

/** The object in a member, an empty one where it is none. */
export const object = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

/** The array in a member, an empty one where it is none. */
export const list = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

const latest = 8.64e15

/** RFC 3339, UTC, milliseconds; the epoch for what is no moment. */
export const timestamp = (millis: number): string => new Date(Math.abs(millis) <= latest ? millis : 0).toISOString()

/** A moment that is after the one before, whatever the clock says. */
const after = (previous: string, now: number): string => {
  const last = Date.parse(previous)
  return timestamp(Number.isNaN(last) ? now : Math.max(last + 1, now))
}

/** What every document that is revised says of itself. Order comes from `rev`, never from the clock. */
export interface Revision {
  readonly version: number
  readonly min_reader: number
  readonly rev: number
  /** RFC 3339, UTC, milliseconds. */
  readonly created_at: string
  readonly updated_at: string
}

/** What a document says of its revision; members that are missing, or of another type, get defaults. */
export const of = (raw: JsonObject): Revision => {
  const created = text(raw.created_at) ?? timestamp(0)
  return {
    version: integer(raw.version, 1),
    min_reader: integer(raw.min_reader, 1),
    rev: integer(raw.rev, 0),
    created_at: created,
    updated_at: text(raw.updated_at) ?? created,
  }
}

/** The first revision of a document of a format; `body` stands between what it is and when it was made. */
export const first = ({ schema, version }: Document.Format, body: JsonObject, now: number): JsonObject => {
  const at = timestamp(now)
  return { schema, version, min_reader: version, rev: 1, ...body, created_at: at, updated_at: at }
}

/** The next revision of a document: the members of `change` set, `undefined` ones taken away, everything else kept. */
export const next = (raw: JsonObject, change: { readonly [key: string]: Json | undefined }, now: number): JsonObject => {
  const revised: { [key: string]: Json } = {
    ...raw,
    rev: integer(raw.rev, 0) + 1,
    updated_at: after(text(raw.updated_at) ?? timestamp(0), now),
  }
  for (const [key, value] of Object.entries(change)) {
    if (value === undefined) delete revised[key]
    else revised[key] = value
  }
  return revised
}

export * as Revision from "./Revision.ts"
