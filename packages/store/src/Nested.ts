import * as Effect from "effect/Effect"
import { is as isAgentId } from "./AgentId.ts"
import { Disk } from "./Disk.ts"
import * as Layout from "./Layout.ts"
import type { SessionId } from "./SessionId.ts"
import * as SessionReading from "./SessionReading.ts"
import { ofDisk, type StoreError } from "./StoreError.ts"

/**
 * The sessions that belong to agents: a nested Kit keeps its conversation in a session of the same home, under the agent's id, and has agents of its own.
 * Each is named once, inner ones first; a session that a person began is none of them, whatever it is called.
 */
export const ofAgent = (home: string, agent: string): Effect.Effect<ReadonlyArray<SessionId>, StoreError, Disk.Service> =>
  Effect.gen(function* () {
    const found = new Set<SessionId>()
    yield* visit(home, agent, new Set(), found)
    return [...found]
  })

/** Those of all agents of a session. */
export const ofSession = (home: string, id: SessionId): Effect.Effect<ReadonlyArray<SessionId>, StoreError, Disk.Service> =>
  Effect.gen(function* () {
    const found = new Set<SessionId>()
    yield* visitAgents(home, id, new Set([id]), found)
    return [...found]
  })

type Visit<A extends ReadonlyArray<unknown>> = (...args: A) => Effect.Effect<void, StoreError, Disk.Service>

const visitAgents: Visit<[home: string, id: SessionId, seen: Set<string>, found: Set<SessionId>]> = Effect.fnUntraced(
  function* (home, id, seen, found) {
    const disk = yield* Disk.Service
    const parent = `${Layout.sessionPath(home, id)}/${Layout.subagentsName}`
    if ((yield* disk.stat(parent).pipe(Effect.mapError(ofDisk)))?.kind !== "directory") return
    for (const name of (yield* disk.list(parent).pipe(Effect.mapError(ofDisk))) ?? []) yield* visit(home, name, seen, found)
  },
)

const visit: Visit<[home: string, agent: string, seen: Set<string>, found: Set<SessionId>]> = Effect.fnUntraced(
  function* (home, agent, seen, found) {
    if (!isAgentId(agent) || seen.has(agent)) return
    seen.add(agent)
    const id = agent as string as SessionId
    const { info } = yield* SessionReading.summary(home, id)
    if (info?.origin !== "subagent") return
    yield* visitAgents(home, id, seen, found)
    found.add(id)
  },
)

export * as Nested from "./Nested.ts"
