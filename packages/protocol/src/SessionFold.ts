import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { isJsonObject, type Json, type JsonObject } from "./Json.ts"
import type { Replay, SessionEvent, SessionView } from "./Session.ts"
import type { TurnFold } from "./TurnFold.ts"
import type { Usage } from "./TurnResult.ts"

const count = (value: Json | undefined): number | undefined =>
  typeof value === "number" ? value : typeof value === "bigint" ? Number(value) : undefined

/** A turn that updates are folded into. */
export interface OpenTurn {
  readonly fold: TurnFold
  /** Told of each `state_update` after it was folded. */
  readonly onState: (update: JsonObject) => void
  /** Told of each update while the turn's text is more than may be held. */
  readonly onExcess: () => void
}

/** The state of one session as its updates left it; folding is synchronous and keeps wire order. */
export class SessionFold {
  turn: OpenTurn | undefined
  /** The latest whole configuration snapshot, raw. */
  configOptions: ReadonlyArray<Json> | undefined
  usage: Usage | undefined
  title: string | undefined
  /** A prompt was started and has not settled, written or not. */
  busy = false
  retired = false
  /** Permissions are answered `cancelled` from here on until the turn has settled. */
  cancelling = false
  readonly replay: { -readonly [K in keyof Replay]: Replay[K] } = { updates: 0, userMessages: 0, agentMessages: 0 }
  replaying = false
  private plan: string | undefined
  private seq = 0
  private readonly subscribers = new Set<Queue.Queue<SessionEvent, Cause.Done>>()
  private over = false

  /** Folds one update of this session. */
  add(update: JsonObject): void {
    const kind = typeof update.sessionUpdate === "string" ? update.sessionUpdate : ""
    if (this.replaying) this.countReplay(kind)
    const turn = this.turn
    if (turn !== undefined) turn.fold.add(kind, update)
    if (kind !== "agent_message_chunk") this.note(kind, update)
    this.seq += 1
    if (this.subscribers.size > 0) this.publish({ seq: this.seq, update })
    if (turn?.fold.text.exceeded === true) turn.onExcess()
    if (kind === "state_update" && turn !== undefined) turn.onState(update)
  }

  /** Passes on an update of a session that the agent runs below this one; nothing of it is folded. */
  pass(from: string, update: JsonObject): void {
    this.seq += 1
    if (this.subscribers.size > 0) this.publish({ seq: this.seq, update, from })
  }

  /** The turn is over: tool and plan clear (S51). */
  endTurn(): void {
    this.turn = undefined
    this.busy = false
    this.plan = undefined
    this.cancelling = false
  }

  view(): SessionView {
    return {
      state: this.retired ? "retired" : this.busy ? "working" : "idle",
      tool: this.turn?.fold.tools.running(),
      plan: this.plan,
      title: this.title,
      usage: this.usage,
    }
  }

  /** A queue of the updates from now on, sliding at `capacity`; it ends with the session. */
  subscribe(capacity: number): Effect.Effect<Queue.Queue<SessionEvent, Cause.Done>, never, Scope.Scope> {
    const open = Effect.tap(Queue.sliding<SessionEvent, Cause.Done>(capacity), (queue) =>
      Effect.sync(() => {
        this.subscribers.add(queue)
        if (this.over) Queue.endUnsafe(queue)
      }),
    )
    return Effect.acquireRelease(open, (queue) =>
      Effect.andThen(
        Effect.sync(() => this.subscribers.delete(queue)),
        Queue.shutdown(queue),
      ),
    )
  }

  /** Nothing comes for this session any more. */
  end(): void {
    this.over = true
    for (const queue of this.subscribers) Queue.endUnsafe(queue)
  }

  private publish(event: SessionEvent): void {
    for (const queue of this.subscribers) Queue.offerUnsafe(queue, event)
  }

  private countReplay(kind: string): void {
    this.replay.updates += 1
    if (kind === "user_message" || kind === "user_message_chunk") this.replay.userMessages += 1
    if (kind === "agent_message" || kind === "agent_message_chunk") this.replay.agentMessages += 1
  }

  private note(kind: string, update: JsonObject): void {
    switch (kind) {
      case "config_option_update":
        if (Array.isArray(update.configOptions)) this.configOptions = update.configOptions
        return
      case "session_info_update":
        if (typeof update.title === "string") this.title = update.title
        else if (update.title === null) this.title = undefined
        return
      case "usage_update":
        this.noteUsage(update)
        return
      case "plan":
        this.plan = entryInProgress(update.entries)
        return
      case "plan_update":
      case "plan_removed":
        this.plan = isJsonObject(update.plan) ? entryInProgress(update.plan.entries) : undefined
        return
    }
  }

  private noteUsage(update: JsonObject): void {
    const used = count(update.used)
    const size = count(update.size)
    if (used === undefined || size === undefined) return
    const cost = update.cost
    const amount = isJsonObject(cost) ? count(cost.amount) : undefined
    this.usage = {
      used,
      size,
      cost:
        cost === undefined
          ? this.usage?.cost
          : isJsonObject(cost) && amount !== undefined && typeof cost.currency === "string"
            ? { amount, currency: cost.currency }
            : undefined,
    }
  }
}

const entryInProgress = (entries: Json | undefined): string | undefined => {
  if (!Array.isArray(entries)) return undefined
  const entry = entries.find((item: Json) => isJsonObject(item) && item.status === "in_progress")
  return isJsonObject(entry) && typeof entry.content === "string" ? entry.content : undefined
}
