import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import type { AgentLaunchSpec } from "@acp-kit/store/AgentLaunchSpec"
import { isStatus } from "@acp-kit/store/AgentMeta"
import type { ChildRecord, Lifecycle } from "@acp-kit/store/ChildRecord"
import type { SessionStore } from "@acp-kit/store/SessionStore"
import type { StoreError } from "@acp-kit/store/StoreError"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { Child } from "./Child.ts"
import { SubagentError } from "./SubagentError.ts"

const storage = (error: StoreError, dispatched: boolean): SubagentError =>
  new SubagentError({
    code: "STORAGE",
    message: `child checkpoint could not be persisted: ${error.message}`,
    brief: "child checkpoint could not be persisted",
    retryable: !dispatched,
    ...(dispatched ? { uncertain: true } : {}),
    details: { store: error.code },
  })

/**
 * The durable side of a child (S100, S102): its four files, and the records in the parent's transcript that decide what it is after a restart
 * (decision 22). A record is on disk when its call succeeds; `meta.json` follows, and a failure to write it only is told, not raised.
 */
export class Checkpoints {
  readonly #session: SessionStore.SessionWriter
  /** The children's own depth. */
  readonly #depth: number
  readonly #onTrouble: (error: StoreError) => Effect.Effect<void>
  /** Children whose directory is not there, or not yet. */
  readonly #unmade = new Set<string>()

  constructor(session: SessionStore.SessionWriter, depth: number, onTrouble: (error: StoreError) => Effect.Effect<void>) {
    this.#session = session
    this.#depth = depth
    this.#onTrouble = onTrouble
  }

  /** Writes the child's directory, all four files, before anything of it runs (K07). */
  create(child: Child, spec: AgentLaunchSpec, systemPrompt: string): Effect.Effect<void, SubagentError> {
    return Effect.suspend(() => {
      this.#unmade.add(child.id)
      return this.#session.subagents.create(spec, systemPrompt, { id: child.id })
    }).pipe(
      Effect.mapError((error) => storage(error, false)),
      Effect.andThen(Effect.sync(() => void this.#unmade.delete(child.id))),
      Effect.uninterruptible,
    )
  }

  #record(child: Child, lifecycle: Lifecycle): ChildRecord {
    const given = Math.max(1, child.generation)
    return {
      id: child.id,
      lifecycle,
      acp_session_id: child.sessionId ?? child.id,
      harness: child.harness,
      name: child.name,
      cwd: child.cwd,
      generation: given,
      handle_generation: given,
      depth: this.#depth,
      task: child.task,
      output: child.output,
      created_at_unix_ms: child.created,
      ...(child.updates === undefined ? {} : { updates: child.updates }),
      ...(child.model === undefined ? {} : { model: child.model }),
      ...(child.agent === undefined ? {} : { agent: child.agent }),
      ...(child.snapshot === undefined ? {} : { snapshot: child.snapshot }),
    }
  }

  #append(child: Child, lifecycle: Lifecycle): Effect.Effect<void, StoreError> {
    return Effect.asVoid(Effect.suspend(() => this.#session.appendChild(this.#record(child, lifecycle))))
  }

  /** Follows with `meta.json`; what another run wrote there last is where it starts from. */
  #status(child: Child, status: Child["status"], reason?: string): Effect.Effect<void> {
    const { subagents } = this.#session
    return Effect.suspend(() => {
      if (child.status === status || this.#unmade.has(child.id)) return Effect.void
      return Effect.asVoid(subagents.setStatus(child.id, child.status, status, reason))
    }).pipe(
      Effect.catchIf(
        ({ reason: { _tag } }) => _tag === "Busy",
        (error) => {
          const found = error.reason._tag === "Busy" ? error.reason.status : ""
          if (!isStatus(found) || found === child.status) return Effect.fail(error)
          return found === status ? Effect.void : Effect.asVoid(subagents.setStatus(child.id, found, status, reason))
        },
      ),
      Effect.catch(this.#onTrouble),
      Effect.ensuring(
        Effect.sync(() => {
          child.status = status
        }),
      ),
    )
  }

  #ordered<E>(child: Child, write: Effect.Effect<void, E>): Effect.Effect<void, E> {
    return Effect.uninterruptible(Semaphore.withPermit(child.records, write))
  }

  /** Before a prompt goes out: after a crash from here on the child is not a handle again (decision 21). Where it fails, nothing was sent. */
  interrupted(child: Child): Effect.Effect<void, SubagentError> {
    return this.#ordered(
      child,
      this.#append(child, "Interrupted").pipe(
        Effect.mapError((error) => storage(error, false)),
        Effect.andThen(this.#status(child, "working")),
      ),
    )
  }

  /** After a turn: its value is what a restart gives back. */
  idle(child: Child): Effect.Effect<void, SubagentError> {
    return this.#ordered(
      child,
      this.#session.subagents.saveContext(child.id, child.context).pipe(
        Effect.andThen(this.#append(child, "Idle")),
        Effect.mapError((error) => storage(error, true)),
        Effect.andThen(this.#status(child, "idle")),
      ),
    )
  }

  /** Nothing of an announced prompt went out: the child is again what it was. */
  withdrawn(child: Child): Effect.Effect<void> {
    return this.#ordered(
      child,
      this.#append(child, "Idle").pipe(Effect.catch(this.#onTrouble), Effect.andThen(this.#status(child, "idle"))),
    )
  }

  /** The tombstone: from here on the child never comes back (S103). Where it fails, nothing was done. */
  closed(child: Child): Effect.Effect<void, SubagentError> {
    return this.#ordered(
      child,
      this.#append(child, "Closed").pipe(
        Effect.mapError((error) => storage(error, false)),
        Effect.andThen(this.#status(child, "closed")),
      ),
    )
  }

  /** The child ended without being closed; its records say already that it is no handle again. */
  ended(child: Child, status: "failed" | "interrupted", reason: string): Effect.Effect<void> {
    return this.#ordered(child, this.#status(child, status, reason))
  }

  /** Adds a completed turn to what `context.json` holds (K05). */
  extend(
    child: Child,
    turn: {
      readonly prompt: ReadonlyArray<Json>
      readonly text: string
      readonly tools: ReadonlyArray<JsonObject>
      readonly more: JsonObject
    },
  ): void {
    const before = child.context
    const list = (key: string): ReadonlyArray<Json> => (Array.isArray(before[key]) ? before[key] : [])
    child.context = {
      ...before,
      ...turn.more,
      messages: [...list("messages"), { role: "user", content: turn.prompt }, { role: "agent", text: turn.text }],
      tool_calls: [...list("tool_calls"), ...turn.tools],
      last_output: child.output,
      generation: child.generation,
    }
  }
}
