import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { is as isAgentId } from "./AgentId.ts"
import { Disk } from "./Disk.ts"
import * as Layout from "./Layout.ts"
import type { Lock } from "./Lock.ts"
import * as SessionFiles from "./SessionFiles.ts"
import type { SessionId } from "./SessionId.ts"
import * as SessionReading from "./SessionReading.ts"
import { ofDisk, type StoreError } from "./StoreError.ts"
import * as Trash from "./Trash.ts"

type Needs = Disk.Service | Lock.Service

/**
 * Removes a session in two steps that survive a crash (K17), and before it the sessions of its agents: a nested Kit keeps its conversation under the agent's
 * id, and that goes with the agent. `Locked` where one of them is open anywhere; what went before it is gone, and calling again finishes.
 */
export const session = Effect.fn("Deletion.session")(function* (
  home: string,
  id: SessionId,
): Effect.fn.Return<void, StoreError, Needs> {
  yield* Layout.existing("session", id, Layout.sessionPath(home, id))
  yield* Effect.scoped(held(home, id, new Set()))
})

/** Removes the session that an agent kept for itself, if it did. */
export const nested = Effect.fn("Deletion.nested")(function* (
  home: string,
  agent: string,
): Effect.fn.Return<void, StoreError, Needs> {
  yield* ofAgent(home, agent, new Set())
})

/** Takes the lock for the scope and removes the session. */
const held: (home: string, id: SessionId, seen: Set<string>) => Effect.Effect<void, StoreError, Needs | Scope.Scope> =
  Effect.fnUntraced(function* (home, id, seen) {
    const directory = Layout.sessionPath(home, id)
    seen.add(id)
    yield* SessionFiles.hold(directory, id)
    yield* agentsOf(home, id, seen)
    yield* Trash.remove(Layout.sessionsPath(home), id)
  })

/** Removes what the agents of a session keep for themselves; the session's lock is ours. */
export const agentsOf = Effect.fnUntraced(function* (
  home: string,
  id: SessionId,
  seen: Set<string> = new Set([id]),
): Effect.fn.Return<void, StoreError, Needs> {
  const disk = yield* Disk.Service
  const parent = `${Layout.sessionPath(home, id)}/${Layout.subagentsName}`
  if ((yield* disk.stat(parent).pipe(Effect.mapError(ofDisk)))?.kind !== "directory") return
  for (const name of (yield* disk.list(parent).pipe(Effect.mapError(ofDisk))) ?? []) yield* ofAgent(home, name, seen)
})

const ofAgent = Effect.fnUntraced(function* (
  home: string,
  agent: string,
  seen: Set<string>,
): Effect.fn.Return<void, StoreError, Needs> {
  if (!isAgentId(agent) || seen.has(agent)) return
  const id = agent as string as SessionId
  const { info } = yield* SessionReading.summary(home, id)
  if (info?.origin === "subagent") yield* Effect.scoped(held(home, id, seen))
})

export * as Deletion from "./Deletion.ts"
