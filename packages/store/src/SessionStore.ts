import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { AgentId } from "./AgentId.ts"
import type { Copied, OnCopied } from "./Archive.ts"
import type { Collected, OnLooked, Policy } from "./Collection.ts"
import type { Disk } from "./Disk.ts"
import * as DiskModel from "./DiskModel.ts"
import * as DiskNode from "./DiskNode.ts"
import type { Health } from "./Health.ts"
import type { Imported } from "./KimiImport.ts"
import { Lock } from "./Lock.ts"
import type { CreateOptions, Session, SessionInfo, SessionSummary, SessionWriter, TranscriptRecord } from "./Session.ts"
import * as Sessions from "./Sessions.ts"
import type { Holder, StoreError } from "./StoreError.ts"
import { defaults, StoreLimits } from "./StoreLimits.ts"
import type { Orphan } from "./SubagentStore.ts"

export type { CreateOptions, Session, SessionInfo, SessionSummary, SessionWriter, TranscriptRecord } from "./Session.ts"

export interface Interface {
  /** How the disk takes what this store writes, of whatever session: now, and at every change. */
  readonly health: Stream.Stream<Health.State>
  /** A new session, on disk and locked for this process when it succeeds; the scope holds the lock. `AlreadyExists` where the id is taken. */
  readonly create: (options: CreateOptions) => Effect.Effect<SessionWriter, StoreError, Scope.Scope>
  /**
   * Opens for writing: takes the lock (`Locked` names the holder), mends what a crash left, marks agents that were at work `interrupted`. `NewerVersion` writes nothing.
   * `visit` is told each intact record in order as it is read on the way, so that nobody has to read the transcript again.
   */
  readonly openWriter: (
    id: string,
    visit?: (record: TranscriptRecord) => void,
  ) => Effect.Effect<SessionWriter, StoreError, Scope.Scope>
  /** Opens for reading, also while another process writes. Writes nothing. */
  readonly openReader: (id: string) => Effect.Effect<Session, StoreError>
  /** Newest first; sessions of subagents are left out unless asked for; damaged and newer ones are there, with their problem, also where nothing tells their `cwd`. */
  readonly list: (filter?: {
    readonly cwd?: string
    readonly subagents?: boolean
  }) => Effect.Effect<ReadonlyArray<SessionSummary>, StoreError>
  /** Sets the title of a session that nobody writes, or that this process writes. */
  readonly rename: (id: string, title: string | undefined) => Effect.Effect<SessionInfo, StoreError>
  /** Removes the session and its agents in two steps that survive a crash (K17); `Locked` where it is open anywhere, this process included. */
  readonly delete: (id: string) => Effect.Effect<void, StoreError>
  /** Who writes the session now, `undefined` where nobody does. */
  readonly holder: (id: string) => Effect.Effect<Holder | undefined, StoreError>
  /**
   * Moves or copies an agent to another session (K10); neither may be open anywhere. A move keeps the id and takes the checkpoint along; a copy gets a new id
   * and no handle. A move that a crash cut short is finished by calling again. The id in the target is returned.
   */
  readonly migrate: (
    id: string,
    options: { readonly from: string; readonly to: string; readonly mode?: "move" | "copy" },
  ) => Effect.Effect<AgentId, StoreError>
  /** What a policy would remove, and with `dryRun: false` has removed (K16). Open sessions stay, whatever it says. */
  readonly collect: (
    policy: Policy,
    options: { readonly dryRun: boolean; readonly onLooked?: OnLooked },
  ) => Effect.Effect<ReadonlyArray<Collected>, StoreError>
  /** Copies a session, open or not, into a new directory with a manifest of sizes and checksums; the path is absolute. A failure leaves nothing. */
  readonly exportTo: (id: string, directory: string, onCopied?: OnCopied) => Effect.Effect<Copied, StoreError>
  /** Makes a session of an export, whole or not at all, under its own id. A failure leaves nothing. */
  readonly importFrom: (directory: string, onCopied?: OnCopied) => Effect.Effect<Copied, StoreError>
  /** Makes agents of this session, which must not be open anywhere, out of a directory of Kimi CLI: that of an agent, or of a session with all of its. */
  readonly importKimi: (session: string, directory: string) => Effect.Effect<ReadonlyArray<Imported>, StoreError>
  /** The orphans of every session, those without a readable `session.json` included (K12). Nothing is adopted, nothing dropped. */
  readonly orphans: Effect.Effect<ReadonlyArray<Orphan & { readonly session: string }>, StoreError>
}

export class Service extends Context.Service<Service, Interface>()("@acp-kit/store/SessionStore") {}

export interface Options {
  /** Kit's home, absolute; made when the first session is. */
  readonly home: string
  /** Who we are to others who find a session locked; what is left out is asked of the system. */
  readonly owner?: { readonly pid?: number; readonly host?: string }
}

/** The store over a disk and a lock of the caller's choice. */
export const layerDisk = (options: Options): Layer.Layer<Service, never, Disk.Service | Lock.Service> =>
  Layer.effect(Service, Sessions.make(options))

/** The in-memory twin for parents that are not persistent (S107): the same behaviour, gone with the layer; of each log only the last megabytes are kept. */
export const layerMemory: Layer.Layer<Service> = layerDisk({ home: "/memory" }).pipe(
  Layer.provide(Layer.provideMerge(Lock.layerMemory, DiskModel.layer)),
  Layer.provide(Layer.succeed(StoreLimits, { ...defaults, rotateBytes: 1024 * 1024, keepSegments: 2 })),
)

/** The durable store under a home. */
export const layerWith = (options: Options): Layer.Layer<Service> =>
  layerDisk(options).pipe(Layer.provide(Layer.mergeAll(DiskNode.layer, Lock.layer)))

export * as SessionStore from "./SessionStore.ts"
