import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { ChildRecord } from "./ChildRecord.ts"
import type { Level, Receipt } from "./Durability.ts"
import type { Json } from "./Json.ts"
import type { LogGap, LogRecord } from "./Record.ts"
import type { SessionId } from "./SessionId.ts"
import type { StoreError } from "./StoreError.ts"
import type { SubagentStore } from "./SubagentStore.ts"
import type { Warning } from "./Warning.ts"

/** `session.json`. Unknown fields are kept on every rewrite. */
export interface SessionInfo {
  readonly schema: "session"
  readonly version: number
  readonly min_reader: number
  readonly rev: number
  readonly id: SessionId
  /** Absolute path. */
  readonly cwd: string
  readonly additional_directories: ReadonlyArray<string>
  readonly origin: "top_level" | "subagent"
  /** At most 100 characters, no control characters. */
  readonly title?: string
  /** RFC 3339, UTC, milliseconds. */
  readonly created_at: string
  readonly updated_at: string
}

/** A row of `list`. `problem` is set where the session cannot be opened for writing or has lost its transcript; it is listed all the same. */
export interface SessionSummary {
  readonly id: string
  readonly info?: SessionInfo
  /** Unix milliseconds of the last change to its metadata or transcript. */
  readonly updated: number
  readonly problem?: StoreError
}

/** One record of a transcript. Kinds unknown to this version appear as `other`. */
export type TranscriptRecord =
  | { readonly kind: "item"; readonly seq: number; readonly time: number; readonly item: Json }
  /** The whole new list of items; what stood before stays in the file, readers start anew here. */
  | { readonly kind: "replacement"; readonly seq: number; readonly time: number; readonly items: ReadonlyArray<Json> }
  | { readonly kind: "child"; readonly seq: number; readonly time: number; readonly child: ChildRecord }
  | { readonly kind: "other"; readonly seq: number; readonly time: number; readonly record: LogRecord }
  | { readonly kind: "gap"; readonly gap: LogGap }

/** A session that is open for reading. It sees what was written up to each call and holds no lock. */
export interface Session {
  readonly id: SessionId
  /** The session's row in a list, as it is now. */
  readonly summary: Effect.Effect<SessionSummary>
  readonly info: Effect.Effect<SessionInfo, StoreError>
  /** What opening found and did. */
  readonly warnings: ReadonlyArray<Warning>
  /** Every record in order. */
  readonly records: Stream.Stream<TranscriptRecord, StoreError>
  /** The items as they stand: those of the last replacement, then what followed. */
  readonly items: Effect.Effect<ReadonlyArray<Json>, StoreError>
  /** The last record of each child, in the order in which they first appeared (S101). */
  readonly children: Effect.Effect<ReadonlyArray<ChildRecord>, StoreError>
  readonly subagents: SubagentStore.Reader
}

/** A session that this process alone may write. Closing the scope flushes it and frees the lock. */
export interface SessionWriter extends Session {
  /** Appends one transcript item. Default level `soon`. */
  readonly appendItem: (item: Json, level?: Level) => Effect.Effect<Receipt, StoreError>
  /** Replaces the items by others in one record, on disk when it succeeds; history stays in the file and children stay known. */
  readonly appendReplacement: (items: ReadonlyArray<Json>) => Effect.Effect<Receipt, StoreError>
  /** A checkpoint (S100, S102): on disk when it succeeds. `Invalid` where the record breaks a rule of {@link ChildRecord}. */
  readonly appendChild: (record: ChildRecord) => Effect.Effect<Receipt, StoreError>
  /** Sets the title; `undefined` takes it away. */
  readonly rename: (title: string | undefined) => Effect.Effect<SessionInfo, StoreError>
  /** Everything written so far is on disk. */
  readonly flush: Effect.Effect<void, StoreError>
  readonly subagents: SubagentStore.Interface
}

export interface CreateOptions {
  readonly id?: string
  /** Absolute path. */
  readonly cwd: string
  readonly additionalDirectories?: ReadonlyArray<string>
  readonly origin?: "top_level" | "subagent"
  readonly title?: string
}
