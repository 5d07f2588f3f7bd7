import type { AgentLaunchSpec } from "./AgentLaunchSpec.ts"
import type { JsonObject } from "./Json.ts"

/** What an agent is (decision 22). A word unknown to this version is kept as it is, shown, and means that the agent cannot run here. */
export type AgentStatus = "starting" | "working" | "idle" | "interrupted" | "failed" | "closed"

const moves: Readonly<Record<AgentStatus, ReadonlyArray<AgentStatus>>> = {
  starting: ["working", "idle", "interrupted", "failed", "closed"],
  working: ["idle", "interrupted", "failed", "closed"],
  idle: ["working", "interrupted", "failed", "closed"],
  interrupted: ["working", "idle", "failed", "closed"],
  failed: ["working", "closed"],
  closed: [],
}

/** Whether the word is a status that this version knows. */
export const isStatus = (text: string): text is AgentStatus => Object.hasOwn(moves, text)

/** Whether the status may follow the other; `closed` is final. */
export const isLegalMove = (from: AgentStatus, to: AgentStatus): boolean => moves[from].includes(to)

/** Whether a process may be at work for an agent of that status. */
export const isLive = (status: string): boolean => status === "starting" || status === "working"

/** Where an agent came from, newest last (K10). */
export interface MigrationStep {
  readonly session_id: string
  readonly agent_id: string
  readonly at: string
  readonly migration_id: string
}

/** `meta.json` (K02). Order comes from `rev`, never from the clock. Unknown fields are kept on every rewrite. */
export interface AgentMeta {
  readonly schema: "subagent.meta"
  /** The writer's format version. */
  readonly version: number
  /** The oldest format version that may write this file. */
  readonly min_reader: number
  /** Plus one per write. */
  readonly rev: number
  readonly session_id: string
  readonly agent_id: string
  readonly spec: AgentLaunchSpec
  /** An {@link AgentStatus}, or a word of a newer version. */
  readonly status: string
  readonly status_reason?: string
  /** RFC 3339, UTC, milliseconds. */
  readonly created_at: string
  /** Never earlier than the one before, whatever the clock says. */
  readonly updated_at: string
  readonly prompt: { readonly bytes: number; readonly sha256: string }
  readonly migrated_from: ReadonlyArray<MigrationStep>
  /** For other packages. */
  readonly ext: JsonObject
}
