import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import type { SessionStore } from "@acp-kit/store/SessionStore"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Harnesses } from "./Harness.ts"
import type { Inheritance } from "./Inheritance.ts"
import type { RosterEvent, RosterRow } from "./Roster.ts"
import type { SubagentError } from "./SubagentError.ts"

export type { RosterEvent, RosterRow, Status } from "./Roster.ts"

/** What a completed turn returns (S10 to S12). `updates` is present as S70 says. */
export interface HandleValue extends JsonObject {
  readonly id: string
  readonly name: string
  readonly output: Json
  readonly generation: number
}

/** The six verbs of one parent session. Arguments are whatever the program passed; each verb validates its own (decision 18). */
export interface Interface {
  readonly subagent: (input: Json) => Effect.Effect<HandleValue, SubagentError>
  readonly prompt: (input: Json) => Effect.Effect<HandleValue, SubagentError>
  readonly fork: (input: Json) => Effect.Effect<HandleValue, SubagentError>
  readonly steer: (input: Json) => Effect.Effect<Json, SubagentError>
  readonly close: (input: Json) => Effect.Effect<Json, SubagentError>
  readonly subagents: (input: Json) => Effect.Effect<ReadonlyArray<Json>, SubagentError>
  /** The rows of now. */
  readonly roster: Effect.Effect<ReadonlyArray<RosterRow>>
  /** Starts with a `changed` per live row; a slow reader never slows a child. */
  readonly events: Stream.Stream<RosterEvent>
}

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

export class Service extends Context.Service<Service, Interface>()("@acp-kit/orchestrator/Subagents") {}

export * as Subagents from "./Subagents.ts"
