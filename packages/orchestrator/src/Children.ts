import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Child, type Identity, make, rowOf } from "./Child.ts"
import { type Event, keepsName, next, type State, shown, takesPlace } from "./Handles.ts"
import type { Limits } from "./Limits.ts"
import { Names } from "./Names.ts"
import type { Roster } from "./Roster.ts"
import { SubagentError } from "./SubagentError.ts"

/** Reuse of a child that is gone (decision 6, S154). */
export const retired = (): SubagentError =>
  new SubagentError({ code: "SUBAGENT_RETIRED", message: "subagent session is retired", retryable: false })

/** Reuse of a child whose process ended between turns. */
export const lost = (): SubagentError =>
  new SubagentError({ code: "LOST", message: "nested agent process is no longer running", retryable: false })

const unknown = (id: string): SubagentError =>
  new SubagentError({ code: "UNKNOWN_SUBAGENT", message: `unknown subagent session ${JSON.stringify(id)}`, retryable: false })

/** The holders that a refusal for want of a place names. */
const shownHolders = 10

/**
 * The direct children of one session: the one place where states change, names are given and places are counted. Names and places are no
 * counters of their own: they follow from the states, so they cannot leak (S43, S161).
 */
export class Children {
  readonly #children = new Map<string, Child>()
  readonly #gone = new Map<string, SubagentError>()
  /** Those of {@link #gone} whose process ended between turns: their sessions may still be there. */
  readonly #lost = new Map<string, Child>()
  readonly #roster: Roster
  readonly #limits: Limits.Interface

  constructor(roster: Roster, limits: Limits.Interface) {
    this.#roster = roster
    this.#limits = limits
  }

  get all(): ReadonlyArray<Child> {
    return [...this.#children.values()]
  }

  /** The child of an id, else why it has none: retired, or never seen. */
  find(id: string): Result.Result<Child, SubagentError> {
    const child = this.#children.get(id)
    return child === undefined ? Result.fail(this.#gone.get(id) ?? unknown(id)) : Result.succeed(child)
  }

  /** Fails where all places are taken, and says who has them (S161). */
  room(): Result.Result<void, SubagentError> {
    const holders = this.all.filter((child) => takesPlace[child.state])
    if (holders.length < this.#limits.liveChildren) return Result.void
    const names = holders.map((child) => `${child.name} (${shown[child.state] ?? child.state})`)
    const rest = names.length > shownHolders ? `, and ${names.length - shownHolders} more` : ""
    return Result.fail(
      new SubagentError({
        code: "CAPACITY",
        message: `live subagent session limit (${this.#limits.liveChildren}) reached: held by ${names.slice(0, shownHolders).join(", ")}${rest}; close one to go on`,
        retryable: true,
        details: { holders: holders.map((child) => child.id) },
      }),
    )
  }

  /** The name that a child of that preferred name would have now (S40, S41). */
  freeName(preferred: string | undefined): string {
    const used = this.all.filter((child) => keepsName(child.state)).map((child) => child.name)
    return Names.allocate(preferred, used, this.#limits.nameBytes)
  }

  /** Gives a new child its place and its name, in one step (S41, S43). */
  admit(identity: Omit<Identity, "name">, preferred: string | undefined, task: string): Result.Result<Child, SubagentError> {
    return Result.map(this.room(), () => {
      const child = make({ ...identity, name: this.freeName(preferred) }, "starting", task)
      this.#children.set(child.id, child)
      this.show(child)
      return child
    })
  }

  /** Puts a child of an earlier run back, without a process (S101). */
  restore(child: Child): void {
    this.#children.set(child.id, child)
    this.show(child)
  }

  /** Takes a child that is no handle in this run because its process ended between turns; the next run would find it again. */
  takeLost(id: string): Child | undefined {
    const child = this.#lost.get(id)
    if (child !== undefined) this.remember(id)
    return child
  }

  /** The child that was taken is lost as before. */
  putLost(child: Child): void {
    this.#gone.set(child.id, lost())
    this.#lost.set(child.id, child)
  }

  /** Remembers an id that is never a handle again (decision 21). */
  remember(id: string): void {
    this.#lost.delete(id)
    this.#gone.set(id, retired())
  }

  /** Tells the roster how the child is now. */
  show(child: Child): void {
    const status = shown[child.state]
    if (status !== undefined) this.#roster.change(rowOf(child, status))
  }

  /** Moves a child; `false` where its state does not know the event, and nothing changed. */
  move(child: Child, event: Exclude<Event, "failed" | "gone" | "closing" | "kept">): Effect.Effect<boolean> {
    return Effect.map(Clock.currentTimeMillis, (now) => {
      const state = next(child.state, event)
      if (state === undefined) return false
      if (shown[state] !== shown[child.state]) child.since = now
      child.state = state
      this.show(child)
      return true
    })
  }

  /** Begins a close: whoever wants to change the child waits until it is decided. */
  closing(child: Child): boolean {
    const state = next(child.state, "closing")
    if (state === undefined) return false
    child.before = child.state
    child.state = state
    child.decided = Deferred.makeUnsafe<void>()
    return true
  }

  #decide(child: Child, state: State): void {
    child.state = state
    child.before = undefined
    const { decided } = child
    child.decided = undefined
    if (decided !== undefined) Deferred.doneUnsafe(decided, Effect.void)
  }

  /** The close could not be recorded: the child is as it was. */
  kept(child: Child): void {
    const state = next(child.state, "kept", child.before)
    if (state !== undefined) this.#decide(child, state)
  }

  /** The child is gone for good: name and place are free, whoever waits on it fails with `why`. `false` where it was gone already. */
  retire(child: Child, reason: "closed" | "failed" | "ended", why: SubagentError = retired(), message?: string): boolean {
    const state = next(child.state, reason === "closed" ? "gone" : "failed")
    if (state === undefined) return false
    this.#decide(child, state)
    this.#children.delete(child.id)
    this.#gone.set(child.id, why)
    if (reason === "ended") this.putLost(child)
    Deferred.doneUnsafe(child.ended, Effect.fail(why))
    this.#roster.remove(child.id, reason, message)
    return true
  }

  /** Waits out a close that is being decided; fails where the child is gone. */
  alive(child: Child): Effect.Effect<void, SubagentError> {
    return Effect.suspend(() => {
      if (child.state === "retired") return Effect.fail(this.#gone.get(child.id) ?? retired())
      if (child.decided === undefined) return Effect.void
      return Effect.flatMap(Deferred.await(child.decided), () => this.alive(child))
    })
  }
}
