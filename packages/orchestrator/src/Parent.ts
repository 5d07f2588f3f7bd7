import type { JsonSchemas } from "@acp-kit/json-schema/JsonSchemas"
import type { Host } from "@acp-kit/platform/Host"
import type { Processes } from "@acp-kit/platform/Processes"
import type { SessionStore } from "@acp-kit/store/SessionStore"
import type { StoreError } from "@acp-kit/store/StoreError"
import type * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import type * as Scope from "effect/Scope"
import type * as Semaphore from "effect/Semaphore"
import type { Checkpoints } from "./Checkpoints.ts"
import type { Children } from "./Children.ts"
import type { Harnesses } from "./Harness.ts"
import type { Inheritance } from "./Inheritance.ts"
import type { Limits } from "./Limits.ts"
import type { Roster } from "./Roster.ts"
import type { SubagentError } from "./SubagentError.ts"

/** The parent session whose children these are. */
export interface Options {
  /** Open for writing as long as the scope lives; where the parent is nonpersistent, one of the in-memory store (S107). */
  readonly session: SessionStore.SessionWriter
  /** Depth of the parent: 0 for a session that a person started (S160). */
  readonly depth: number
  /** Kit's working directory, absolute. */
  readonly root: string
  /** Absolute; each child gets them all (S170). */
  readonly additionalDirectories: ReadonlyArray<string>
  readonly harnesses: Harnesses
  /** Read at each start of an `acp.kit` child. */
  readonly inherited: Effect.Effect<Inheritance>
}

/** What of the outside a parent session needs. */
export type Services = Processes.Service | Host.Service | JsonSchemas.Service | FileSystem.FileSystem | Path.Path

/** One parent session at work: what the verbs share. */
export interface Parent {
  readonly options: Options
  readonly limits: Limits.Interface
  readonly roster: Roster
  readonly children: Children
  readonly checkpoints: Checkpoints
  /** Tells of a failure to keep what is not needed for the run to go on; `what` goes before it. */
  readonly trouble: (harness: string, error: StoreError, what?: string) => Effect.Effect<void>
  /** One `subagent` call at a time, first come, first served, from its arguments to its name. */
  readonly arrivals: Semaphore.Semaphore
  readonly host: Host.Interface
  /** Every process lives here. */
  readonly processes: Scope.Scope
  /** Every process of this session carries it. */
  readonly mark: string
  /** Succeeds once nothing runs any more of what an earlier run of this session left behind; a child starts only then. */
  readonly reaped: Effect.Effect<void>
  /**
   * Runs the work of a verb as the parent's own (decision 15). An interrupted caller interrupts it and waits until it has cleaned up; the end of
   * the parent does too, and its callers fail with `CANCELLED`.
   */
  readonly own: <A>(work: Effect.Effect<A, SubagentError, Services>) => Effect.Effect<A, SubagentError>
  /** Starts work that goes on without whoever began it, until it ends or the parent does. */
  readonly fork: <A, E>(work: Effect.Effect<A, E, Services>) => Effect.Effect<Fiber.Fiber<A, E>>
}
