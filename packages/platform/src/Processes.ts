import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"

/** The process could not be started; nothing runs. `reason` is the system's code (`ENOENT`, `EACCES`, …). */
export class SpawnFailed extends Schema.TaggedError<SpawnFailed>()("SpawnFailed", {
  command: Schema.String,
  reason: Schema.String,
}) {
  override get message() {
    return `could not start ${this.command}: ${this.reason}`
  }
}

/** The process no longer reads its input. */
export class PipeClosed extends Schema.TaggedError<PipeClosed>()("PipeClosed", {}) {
  override get message() {
    return "the process no longer reads its input"
  }
}

export interface Command {
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** Absolute path of an existing directory. */
  readonly cwd: string
  /** The complete environment of the process; nothing is inherited besides. */
  readonly env: Readonly<Record<string, string>>
  /** How the scope ends the process; see {@link Ladder}. */
  readonly ladder?: Ladder
}

/** End stdin, wait `eof`, TERM to the group, wait `term`, KILL to the group and to every descendant noted before the first signal. */
export interface Ladder {
  readonly eof: Duration.Input
  readonly term: Duration.Input
}

/** Exactly one of the two is set. */
export interface ExitStatus {
  readonly code: number | undefined
  readonly signal: string | undefined
}

export interface Child {
  readonly pid: number
  /** The next chunk of stdout, `undefined` at its end. Pulled: nobody reads, the process waits. One reader at a time. */
  readonly read: Effect.Effect<Uint8Array | undefined>
  /** The same for stderr. */
  readonly readError: Effect.Effect<Uint8Array | undefined>
  /** Succeeds once the pipe has taken the bytes. */
  readonly write: (bytes: Uint8Array | string) => Effect.Effect<void, PipeClosed>
  readonly endInput: Effect.Effect<void>
  readonly exit: Effect.Effect<ExitStatus>
  /** Walks the ladder, then sweeps what carries this child's mark. Succeeds when nothing of it is left; uninterruptible, safe to call twice. */
  readonly stop: (ladder?: Ladder) => Effect.Effect<ExitStatus>
}

export interface Interface {
  /** Starts the process in a group of its own; closing the scope stops it and all it started. */
  readonly spawn: (command: Command) => Effect.Effect<Child, SpawnFailed, Scope.Scope>
}

export class Service extends Context.Service<Service, Interface>()("@acp-kit/platform/Processes") {}

export * as Processes from "./Processes.ts"
