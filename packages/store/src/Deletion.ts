import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Disk } from "./Disk.ts"
import * as Layout from "./Layout.ts"
import type { Lock } from "./Lock.ts"
import * as Nested from "./Nested.ts"
import * as SessionFiles from "./SessionFiles.ts"
import type { SessionId } from "./SessionId.ts"
import type { StoreError } from "./StoreError.ts"
import * as Trash from "./Trash.ts"

type Needs = Disk.Service | Lock.Service

/**
 * Removes a session in two steps that survive a crash (K17), and before it those of its agents. `Locked` where one of them is open anywhere; what went before
 * it is gone, and calling again finishes.
 */
export const session = Effect.fn("Deletion.session")(function* (
  home: string,
  id: SessionId,
): Effect.fn.Return<void, StoreError, Needs> {
  const directory = Layout.sessionPath(home, id)
  yield* Layout.existing("session", id, directory)
  yield* Effect.scoped(Effect.andThen(SessionFiles.hold(directory, id), held(home, id)))
})

/** {@link session} of one whose lock is ours. */
export const held = Effect.fnUntraced(function* (
  home: string,
  id: SessionId,
): Effect.fn.Return<void, StoreError, Needs | Scope.Scope> {
  for (const inner of yield* Nested.ofSession(home, id)) yield* one(home, inner)
  yield* Trash.remove(Layout.sessionsPath(home), id)
})

/** Removes the sessions that an agent kept for itself, if it did. */
export const nested = Effect.fn("Deletion.nested")(function* (
  home: string,
  agent: string,
): Effect.fn.Return<void, StoreError, Needs> {
  for (const inner of yield* Nested.ofAgent(home, agent)) yield* one(home, inner)
})

const one = (home: string, id: SessionId): Effect.Effect<void, StoreError, Needs> =>
  Effect.scoped(Effect.andThen(SessionFiles.hold(Layout.sessionPath(home, id), id), Trash.remove(Layout.sessionsPath(home), id)))

export * as Deletion from "./Deletion.ts"
