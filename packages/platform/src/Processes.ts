import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { type Child, type Command, defaultLadder, type SpawnFailed } from "./Child.ts"
import { make } from "./ChildProcess.ts"
import { freshMark } from "./Mark.ts"
import { endMarked } from "./Sweep.ts"

export {
  type Child,
  type Command,
  defaultLadder,
  type ExitStatus,
  type Ladder,
  PipeClosed,
  SpawnFailed,
} from "./Child.ts"

export interface Interface {
  /** Starts the process in a group of its own, never through a shell; closing the scope stops it and all it started. */
  readonly spawn: (command: Command) => Effect.Effect<Child, SpawnFailed, Scope.Scope>
  /**
   * Ends whatever still carries a mark, of this program or of one that is gone: TERM, two seconds, KILL. Never the caller itself.
   * Succeeds with the number of processes found, when none is left.
   */
  readonly reapMarked: (mark: string) => Effect.Effect<number>
}

export class Service extends Context.Service<Service, Interface>()("@acp-kit/platform/Processes") {}

/** Real processes, on Bun, Deno and Node. */
export const layer: Layer.Layer<Service> = Layer.effect(
  Service,
  Effect.gen(function* () {
    const family = yield* freshMark
    let count = 0
    return {
      spawn: Effect.fn("Processes.spawn")((command) =>
        Effect.acquireRelease(
          Effect.suspend(() => make(command, `${family}.${++count}`)),
          (child) => child.release,
        ),
      ),
      reapMarked: Effect.fn("Processes.reapMarked")((mark) => endMarked(mark, defaultLadder.term)),
    }
  }),
)

export * as Processes from "./Processes.ts"
