import type { AgentClient } from "@acp-kit/protocol/AgentClient"
import type { Session, SessionView } from "@acp-kit/protocol/Session"
import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import type { AgentId } from "@acp-kit/store/AgentId"
import * as Deferred from "effect/Deferred"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Updates } from "./Capture.ts"
import type { Quote } from "./ChildWords.ts"
import type { State } from "./Handles.ts"
import type { HarnessReference } from "./HarnessReference.ts"
import type { RosterRow } from "./Roster.ts"
import type { SubagentError } from "./SubagentError.ts"
import type { Vendor } from "./Vendor.ts"
import type { WireLog } from "./WireLog.ts"

/** A process and its wire. Native forks of one child share it. */
export interface Connection {
  readonly client: AgentClient
  readonly log: WireLog
  /** For what it says, wherever a message of ours holds it. */
  readonly quote: Quote
  /** Lives as long as the process. */
  readonly scope: Scope.Scope
  /** Ids of the children whose sessions live in it. */
  readonly residents: Set<string>
  /** Ends the process and all it started; safe to call twice. `afterCancel` gives it half a second only. */
  readonly stop: (how?: "afterCancel") => Effect.Effect<void>
}

/** Where a child's session lives while it has a process. */
export interface Attachment {
  readonly connection: Connection
  readonly session: Session
}

/** What never changes of a child. */
export interface Identity {
  readonly id: AgentId
  readonly name: string
  readonly harness: HarnessReference
  /** Whose agent its launch line starts (S53). */
  readonly vendor?: Vendor
  /** Absolute path. */
  readonly cwd: string
  /** The model that the call asked for, alias or id; absent for the harness's own. */
  readonly model?: string
  /** The definition it was started from. */
  readonly agent?: string
  /** Unix milliseconds. */
  readonly created: number
}

/** One direct child of a session, from admission to retirement. Only `Children` moves its state. */
export interface Child extends Identity {
  /** One prompt or fork at a time, first come, first served (S19). */
  readonly gate: Semaphore.Semaphore
  /** Orders the durable records. */
  readonly records: Semaphore.Semaphore
  /** Fails once the child is gone, for whatever still waits on it. */
  readonly ended: Deferred.Deferred<never, SubagentError>
  state: State
  /** The state that `closing` came from. */
  before: State | undefined
  /** Completes when a close in progress has been decided. */
  decided: Deferred.Deferred<void> | undefined
  /** Completed turns. */
  generation: number
  task: string
  /** When the state that rosters show began, Unix milliseconds. */
  since: number
  view: SessionView | undefined
  attachment: Attachment | undefined
  /** Of the last completed turn. */
  output: Json
  updates: Updates | undefined
  /** The configuration snapshot that the parent knows. */
  snapshot: string | undefined
  /** Its own ACP session: known from the first checkpoint on. */
  sessionId: string | undefined
  /** The status of `meta.json` as last written. */
  status: "starting" | "working" | "idle" | "interrupted" | "failed" | "closed"
  /** What `context.json` holds (K05). */
  context: JsonObject
  /** A cancelled turn of it did not end: its process has to. */
  unsettled: boolean
}

/** A child that has just been admitted, or comes back from the disk. */
export const make = (identity: Identity, state: "starting" | "detached", task: string): Child => ({
  ...identity,
  gate: Semaphore.makeUnsafe(1),
  records: Semaphore.makeUnsafe(1),
  ended: Deferred.makeUnsafe(),
  state,
  before: undefined,
  decided: undefined,
  generation: 0,
  task,
  since: identity.created,
  view: undefined,
  attachment: undefined,
  output: null,
  updates: undefined,
  snapshot: undefined,
  sessionId: undefined,
  status: "starting",
  context: {},
  unsettled: false,
})

/** What a completed turn returns (S10 to S12). `updates` is present as S70 says. */
export interface HandleValue extends JsonObject {
  readonly id: string
  readonly name: string
  readonly output: Json
  readonly generation: number
}

/** The value of a child's last completed turn. */
export const valueOf = ({ id, name, output, generation, updates }: Child): HandleValue => ({
  id,
  name,
  output,
  generation,
  ...(updates === undefined ? {} : { updates }),
})

/** What rosters and `subagents({})` show of it; `status` is that of its state (S23, S51). */
export const rowOf = (child: Child, status: RosterRow["status"]): RosterRow => {
  const { view } = child
  const working = status === "working"
  const activity = (working ? (view?.tool ?? view?.plan) : undefined) ?? view?.title ?? child.task
  return {
    id: child.id,
    name: child.name,
    status,
    generation: working || child.generation === 0 ? child.generation + 1 : child.generation,
    task: child.task,
    activity,
    ...(view?.usage === undefined ? {} : { usage: { used: view.usage.used, size: view.usage.size } }),
    harness: child.harness,
    ...(child.vendor === undefined ? {} : { vendor: child.vendor }),
    since: child.since,
  }
}
