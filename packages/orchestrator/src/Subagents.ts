import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { SubagentError } from "./SubagentError.ts"

/** What a completed turn returns (S10 to S12). `updates` is present as S70 says. */
export interface HandleValue extends JsonObject {
  readonly id: string
  readonly name: string
  readonly output: Json
  readonly generation: number
}

export type Status = "starting" | "working" | "idle"

/** One live direct child, as a view shows it (S23, S50 to S53). Times are Unix milliseconds. */
export interface RosterRow {
  readonly id: string
  readonly name: string
  readonly status: Status
  readonly generation: number
  /** The prompt's text blocks, whitespace collapsed, at most 96 characters. */
  readonly task: string
  readonly activity: string
  readonly usage?: { readonly used: number; readonly size: number }
  readonly harness: string
  readonly since: number
}

/** What a view can follow live, in order. */
export type RosterEvent =
  | { readonly type: "changed"; readonly row: RosterRow }
  | { readonly type: "removed"; readonly id: string; readonly name: string; readonly reason: "closed" | "failed" | "ended"; readonly message?: string }
  | { readonly type: "log"; readonly harness: string; readonly line: string }

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

export class Service extends Context.Service<Service, Interface>()("@acp-kit/orchestrator/Subagents") {}

export * as Subagents from "./Subagents.ts"
