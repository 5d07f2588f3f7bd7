import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { AgentId } from "./AgentId.ts"
import type { AgentLaunchSpec } from "./AgentLaunchSpec.ts"
import type { AgentMeta, AgentStatus } from "./AgentMeta.ts"
import type { Level, Receipt } from "./Durability.ts"
import type { Json, JsonObject } from "./Json.ts"
import type { LogGap, LogRecord } from "./Record.ts"
import type { StoreError } from "./StoreError.ts"
import type { Warning } from "./Warning.ts"

/** One event of an agent's wire (K04). */
export type WireEvent =
  /** A frame as it was on the wire, without its line feed; secrets are replaced by a marker before it is written. */
  | { readonly direction: "in" | "out"; readonly frame: string }
  /** What is no frame: a start, an exit, a line of stderr. */
  | { readonly note: string; readonly data?: Json }

/** All that a resume needs (K09). */
export interface LoadedAgent {
  readonly meta: AgentMeta
  /** The system prompt, byte for byte as it was given to `create`. */
  readonly prompt: string
  /** The conversation state after the last saved change (K05); `{}` before the first. */
  readonly context: JsonObject
  readonly warnings: ReadonlyArray<Warning>
}

/** A row of `list`. `problem` says why `meta` cannot be shown whole; such an agent is listed all the same. */
export interface AgentSummary {
  readonly id: string
  readonly meta?: AgentMeta
  readonly problem?: StoreError
}

export interface Orphan {
  readonly path: string
  readonly id: string
  /** No readable metadata, an owning session or process that is gone, or the leftovers of a creation or deletion that a crash cut short. */
  readonly why:
    | "no_metadata"
    | "damaged_metadata"
    | "owner_gone"
    | "process_gone"
    | "foreign"
    | "unfinished_create"
    | "unfinished_delete"
  readonly detail: string
}

/** What `verify` found in one file. */
export interface Finding {
  readonly path: string
  readonly severity: "ok" | "warning" | "error"
  readonly message: string
}

/** What anyone may do without the writer lock. Nothing here writes. */
export interface Reader {
  /** Checks that the agent exists and belongs to this session, and restores prompt and context (K09, K10). Fails with `NotFound`, `ForeignSession`, `Corrupt`, `NewerVersion`. */
  readonly load: (id: string) => Effect.Effect<LoadedAgent, StoreError>
  /** All agents of the session, newest first; a damaged one hides no other. */
  readonly list: (filter?: {
    readonly status?: string
    readonly limit?: number
  }) => Effect.Effect<ReadonlyArray<AgentSummary>, StoreError>
  /** The last `count` records of the wire log, oldest first, whatever the log's length. */
  readonly tail: (id: string, count: number) => Effect.Effect<ReadonlyArray<LogRecord>, StoreError>
  /** Every record from `fromSeq` (default the first) to the end of now, checksums checked, gaps reported in place. Memory is flat. */
  readonly replay: (id: string, options?: { readonly fromSeq?: number }) => Stream.Stream<LogRecord | LogGap, StoreError>
  /** Directories that no session record vouches for (K12). Nothing is adopted, nothing dropped. */
  readonly orphans: Effect.Effect<ReadonlyArray<Orphan>, StoreError>
  /** Reads every byte of the agent's files and tells what is wrong with which. */
  readonly verify: (id: string) => Effect.Effect<ReadonlyArray<Finding>, StoreError>
}

/** The agents of one session that is open for writing. */
export interface Interface extends Reader {
  /**
   * Writes the agent's directory with all four files, status `starting`, or nothing (K01, K07); on disk when it succeeds.
   * Makes an id unless one is given; fails with `AlreadyExists` where that one is taken.
   */
  readonly create: (
    spec: AgentLaunchSpec,
    prompt: string,
    options?: { readonly id?: AgentId },
  ) => Effect.Effect<AgentMeta, StoreError>
  /** Appends one event to the agent's wire log, in call order (K04, K08). Default level `kernel`. An interruption while it waits for the disk leaves the record written. */
  readonly append: (id: string, event: WireEvent, level?: Level) => Effect.Effect<Receipt, StoreError>
  /** Sets the status if it is `from` now and the move is legal, on disk when it succeeds; else `Busy` and nothing changed. */
  readonly setStatus: (id: string, from: AgentStatus, to: AgentStatus, reason?: string) => Effect.Effect<AgentMeta, StoreError>
  /** Merges fields into `ext` of the metadata. */
  readonly setExt: (id: string, ext: JsonObject) => Effect.Effect<AgentMeta, StoreError>
  /**
   * Records the whole conversation state as it is now. Only what changed since the last save is written (arrays that grew at the end cost their new
   * elements), and `context.json` follows at once while it is small, else when the log has grown by as much as it. Default level `disk`.
   */
  readonly saveContext: (id: string, context: JsonObject, level?: Level) => Effect.Effect<Receipt, StoreError>
  /** The state after the last save. */
  readonly context: (id: string) => Effect.Effect<JsonObject, StoreError>
  /** Everything written so far is on disk, and `context.json` is current. */
  readonly flush: (id: string) => Effect.Effect<void, StoreError>
  /** Removes the directory and all in it, in two steps that survive a crash (K11). `Busy` while the agent starts or works. */
  readonly delete: (id: string) => Effect.Effect<void, StoreError>
  /** Marks the agent as moving to another session (see `SessionStore.migrate`); from then on nothing but the move's end changes it. */
  readonly freeze: (id: string, moving: JsonObject) => Effect.Effect<void, StoreError>
  /**
   * Mends what `verify` found, only by appending, rebuilding from the log, or copying damage aside; returns what it did, and as errors what is left. Gaps of
   * the wire log are copied to `.quarantine` and noted in the log; from then on they are known, and `verify` only warns of them.
   */
  readonly repair: (id: string) => Effect.Effect<ReadonlyArray<Finding>, StoreError>
}

export class Service extends Context.Service<Service, Interface>()("@acp-kit/store/SubagentStore") {}

export * as SubagentStore from "./SubagentStore.ts"
