import * as Effect from "effect/Effect"
import { crcHex } from "./Checksum.ts"
import { apply } from "./ContextDelta.ts"
import * as Document from "./Document.ts"
import { isObject, type Json, type JsonObject, stringify } from "./Json.ts"
import type { Position } from "./Log.ts"
import type { LogRecord } from "./Record.ts"
import { Corrupt, of, type StoreError } from "./StoreError.ts"

/** The format of `context.json`. */
export const format: Document.Format = { schema: "subagent.context", version: 1 }

/** A conversation state and where in the wire log it stands. */
export interface Snapshot {
  readonly state: JsonObject
  readonly position: Position
  /** Bytes of the file. */
  readonly bytes: number
  /** The checksum does not fit, the JSON does: someone edited the file. */
  readonly edited: boolean
  /** Members of the document that this version does not know; they are kept. */
  readonly unknown: JsonObject
}

const encoder = new TextEncoder()

const known = new Set([
  "schema",
  "version",
  "min_reader",
  "session_id",
  "agent_id",
  "wire_seq",
  "segment",
  "wire_offset",
  "state",
  "sum",
])

/** The bytes of `context.json`: the state after every record up to `position.seq`. */
export const encode = (
  ids: { readonly session_id: string; readonly agent_id: string },
  state: JsonObject,
  position: Position,
  unknown: JsonObject = {},
): Uint8Array => {
  const head = stringify({
    schema: format.schema,
    version: format.version,
    min_reader: format.version,
    ...ids,
    wire_seq: position.seq,
    segment: position.segment,
    wire_offset: position.offset,
    ...unknown,
  })
  const prefix = encoder.encode(`${head.slice(0, -1)},"state":`)
  const bytes = encoder.encode(`${head.slice(0, -1)},"state":${stringify(state)},"sum":"00000000"}\n`)
  const end = bytes.length - sumLength
  bytes.set(encoder.encode(crcHex(bytes.subarray(prefix.length, end))), end + 8)
  return bytes
}

/** Bytes of `,"sum":"…"}` and the line feed. */
const sumLength = 19

const integer = (value: Json | undefined, fallback: number): number =>
  typeof value === "number" && Number.isSafeInteger(value) ? value : fallback

/** The snapshot in the bytes of `context.json`. */
export const decode = Effect.fnUntraced(function* (path: string, bytes: Uint8Array): Effect.fn.Return<Snapshot, StoreError> {
  const document = yield* Document.decode(path, bytes)
  yield* Document.checkWritable(path, document, format)
  const { state, sum } = document
  if (!isObject(state)) return yield* of(new Corrupt({ path, why: "it holds no state" }))
  const unknown: { [key: string]: Json } = {}
  for (const key of Object.keys(document)) if (!known.has(key)) unknown[key] = document[key] as Json
  return {
    state,
    position: {
      seq: integer(document.wire_seq, 0),
      segment: integer(document.segment, 0),
      offset: integer(document.wire_offset, 0),
    },
    bytes: bytes.length,
    edited: crcHex(encoder.encode(stringify(state))) !== sum,
    unknown,
  }
})

/** The kind of the records that change the state. */
export const stateKind = "state"

/** The body of a `state` record. */
export const stateBody = (changes: ReadonlyArray<Json>): string => stringify({ changes })

/** Applies a `state` record to a state that nobody else holds; other records are left alone. False where part of it was not understood. */
export const replayOnto = (state: JsonObject, record: LogRecord): boolean => {
  if (record.kind !== stateKind) return true
  const changes = isObject(record.body) ? record.body.changes : undefined
  if (!Array.isArray(changes)) return false
  let understood = true
  for (const change of changes) understood = apply(state, change) && understood
  return understood
}

export * as AgentContext from "./AgentContext.ts"
