import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

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
  /** An absolute path, a path relative to `cwd`, or a name that is looked up on the `PATH` of `env`. */
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** Absolute path of an existing directory. */
  readonly cwd: string
  /** The complete environment of the process; nothing is inherited besides. */
  readonly env: Readonly<Record<string, string>>
  /** How the scope ends the process; see {@link Ladder}. */
  readonly ladder?: Ladder
}

/**
 * Note every descendant, end stdin, wait `eof`; TERM to the group, to those noted and to whatever carries the mark, wait `term`; KILL to what
 * is left of them. A step is left early when nothing is left.
 */
export interface Ladder {
  readonly eof: Duration.Input
  readonly term: Duration.Input
}

/** Two seconds to leave at the end of input, two more after TERM. */
export const defaultLadder: Ladder = { eof: "2 seconds", term: "2 seconds" }

/** At most one of the two is set; neither where the system did not tell. */
export interface ExitStatus {
  readonly code: number | undefined
  readonly signal: string | undefined
}

export interface Child {
  readonly pid: number
  /** Stands, unique, in the environment of this process and of all it starts; see `Processes.reapMarked`. */
  readonly mark: string
  /**
   * The next chunk of stdout, `undefined` at its end. Pulled: nobody reads, the process waits. One reader at a time. It also ends when the
   * process has exited and nothing came for a quarter of a second, though something it started may still hold the pipe.
   */
  readonly read: Effect.Effect<Uint8Array | undefined>
  /** The same for stderr. */
  readonly readError: Effect.Effect<Uint8Array | undefined>
  /** Succeeds once the pipe has taken the bytes; interrupted, they are still written. */
  readonly write: (bytes: Uint8Array | string) => Effect.Effect<void, PipeClosed>
  /** The process sees the end of its input after all that was written. Does not wait for it. */
  readonly endInput: Effect.Effect<void>
  readonly exit: Effect.Effect<ExitStatus>
  /**
   * Walks the ladder, then sweeps what carries this child's mark. Succeeds when nothing of it is left; uninterruptible, safe to call twice:
   * a later call waits for the first, whatever ladder it brings.
   */
  readonly stop: (ladder?: Ladder) => Effect.Effect<ExitStatus>
}
