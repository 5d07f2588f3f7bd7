import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Deletion from "./Deletion.ts"
import { Disk } from "./Disk.ts"
import * as Layout from "./Layout.ts"
import type { Lock } from "./Lock.ts"
import * as Nested from "./Nested.ts"
import type { SessionSummary } from "./Session.ts"
import * as SessionFiles from "./SessionFiles.ts"
import type { SessionId } from "./SessionId.ts"
import * as SessionReading from "./SessionReading.ts"
import type { Interface } from "./SessionStore.ts"
import { Invalid, of, type StoreError } from "./StoreError.ts"
import * as Tree from "./Tree.ts"

/** What may go. Nothing that is open anywhere goes, and nothing that cannot be read, whatever the policy says. */
export interface Policy {
  /**
   * Sessions whose last change is older than so many days, and agents that ended longer ago in sessions that stay. A session that a nested Kit keeps for an agent
   * goes with the agent, whatever its age.
   */
  readonly olderThanDays?: number
  /** The oldest sessions, until all of them together are no larger. */
  readonly maxBytes?: number
  /** The youngest sessions that stay in any case, nested ones not counted; 1 unless given. */
  readonly keep?: number
}

export interface Collected {
  readonly kind: "session" | "subagent"
  readonly session: string
  readonly id: string
  readonly bytes: number
  readonly why: string
  /** Why it could not be removed, and stays. */
  readonly problem?: StoreError
}

/** Is told how many sessions were looked at, and of how many. */
export type OnLooked = (sessions: number, of: number) => void

/** Something that may go, and when it was last changed, in Unix milliseconds. */
interface Candidate extends Collected {
  readonly updated: number
}

const day = 86_400_000

const candidates = Effect.fn("Collection.candidates")(function* (
  home: string,
  store: Interface,
  policy: Policy,
  onLooked: OnLooked,
): Effect.fn.Return<ReadonlyArray<Candidate>, StoreError, Disk.Service> {
  const { olderThanDays, maxBytes, keep = 1 } = policy
  if (olderThanDays === undefined && maxBytes === undefined) {
    return yield* of(new Invalid({ what: "policy", why: "it names neither an age nor a size" }))
  }
  const now = yield* Clock.currentTimeMillis
  const limit = olderThanDays === undefined ? Number.NEGATIVE_INFINITY : now - olderThanDays * day
  const rows = yield* store.list({ subagents: true })
  const found: Array<Candidate> = []
  const sizes = new Map<string, number>()
  const agents = new Set<string>()
  for (const [index, { id }] of rows.entries()) {
    const directory = Layout.sessionPath(home, id as SessionId)
    sizes.set(id, yield* sizeOf(directory))
    for (const agent of yield* agentsIn(directory)) agents.add(agent)
    onLooked(index + 1, rows.length)
    yield* Effect.yieldNow
  }
  const sizeWith = (ids: ReadonlyArray<string>): number => ids.reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0)
  let total = sizeWith([...sizes.keys()])
  const going = new Set<string>()
  for (const row of candidatesOf(rows, agents, keep)) {
    const isOld = row.updated < limit
    if (!isOld && !(maxBytes !== undefined && total > maxBytes)) continue
    if (!(yield* mayGo(store, row))) continue
    const all = [row.id, ...(yield* nestedIn(Nested.ofSession(home, row.id as SessionId)))]
    const bytes = sizeWith(all)
    const why = isOld ? `unchanged for more than ${olderThanDays} days` : `all sessions are larger than ${maxBytes} bytes`
    found.push({ kind: "session", session: row.id, id: row.id, bytes, why, updated: row.updated })
    for (const id of all) going.add(id)
    total -= bytes
  }
  if (olderThanDays === undefined) return found
  for (const row of rows) {
    if (going.has(row.id) || !(yield* mayGo(store, row))) continue
    for (const one of yield* endedAgents(home, store, row.id, limit, olderThanDays)) {
      found.push({ ...one, bytes: one.bytes + sizeWith(yield* nestedIn(Nested.ofAgent(home, one.id))) })
    }
  }
  return found
})

/**
 * Those of which a policy decides, oldest first: the sessions that people began but for the youngest, and nested ones whose agent is nowhere any more. Any other
 * nested session goes with its agent, and with nothing else.
 */
const candidatesOf = (
  rows: ReadonlyArray<SessionSummary>,
  agents: ReadonlySet<string>,
  keep: number,
): ReadonlyArray<SessionSummary> => {
  const owned = ({ id, info }: SessionSummary): boolean => agents.has(id) && info?.origin !== "top_level"
  const orphaned = rows.filter((row) => row.info?.origin === "subagent" && !owned(row))
  const own = rows.filter((row) => row.info?.origin !== "subagent" && !owned(row))
  return [...orphaned, ...own.slice(keep)].sort((a, b) => a.updated - b.updated)
}

const agentsIn = (directory: string): Effect.Effect<ReadonlyArray<string>, never, Disk.Service> =>
  Disk.Service.pipe(
    Effect.flatMap((disk) => disk.list(`${directory}/${Layout.subagentsName}`)),
    Effect.match({ onFailure: () => [], onSuccess: (names) => names ?? [] }),
  )

const nestedIn = (
  ids: Effect.Effect<ReadonlyArray<SessionId>, StoreError, Disk.Service>,
): Effect.Effect<ReadonlyArray<SessionId>, never, Disk.Service> => Effect.orElseSucceed(ids, () => [])

const sizeOf = (directory: string): Effect.Effect<number, never, Disk.Service> =>
  Effect.orElseSucceed(Tree.size(directory), () => 0)

/** A session that somebody has open, or that we cannot read, stays; so does one that does not say when it was changed. */
const mayGo = (store: Interface, row: SessionSummary): Effect.Effect<boolean> =>
  row.info === undefined || row.problem !== undefined || row.updated <= 0
    ? Effect.succeed(false)
    : store.holder(row.id).pipe(
        Effect.map((holder) => holder === undefined),
        Effect.orElseSucceed(() => false),
      )

const isOver = (status: string): boolean => status === "closed" || status === "failed"

const endedAgents = Effect.fnUntraced(function* (
  home: string,
  store: Interface,
  session: string,
  limit: number,
  days: number,
): Effect.fn.Return<ReadonlyArray<Candidate>, never, Disk.Service> {
  const agents = yield* Effect.flatMap(store.openReader(session), (reader) => reader.subagents.list()).pipe(
    Effect.orElseSucceed(() => []),
  )
  const found: Array<Candidate> = []
  for (const { id, meta, problem } of agents) {
    if (meta === undefined || problem !== undefined || !isOver(meta.status)) continue
    const updated = Date.parse(meta.updated_at)
    if (!(updated < limit)) continue
    const bytes = yield* sizeOf(`${Layout.sessionPath(home, session as SessionId)}/${Layout.subagentsName}/${id}`)
    found.push({ kind: "subagent", session, id, bytes, why: `${meta.status} for more than ${days} days`, updated })
  }
  return found
})

const collected = ({ kind, session, id, bytes, why }: Candidate): Collected => ({ kind, session, id, bytes, why })

/** What a policy would remove now, sessions first, oldest first; nothing is removed. */
export const plan = (
  home: string,
  store: Interface,
  policy: Policy,
  onLooked: OnLooked,
): Effect.Effect<ReadonlyArray<Collected>, StoreError, Disk.Service> =>
  Effect.map(candidates(home, store, policy, onLooked), (found) => found.map(collected))

/**
 * Removes what {@link plan} names, each in two steps and under its lock. What is open by now, or was changed since, is left out of the answer; what cannot be
 * removed keeps nothing else from going.
 */
export const run = Effect.fn("Collection.run")(function* (
  home: string,
  store: Interface,
  policy: Policy,
  onLooked: OnLooked,
): Effect.fn.Return<ReadonlyArray<Collected>, StoreError, Disk.Service | Lock.Service> {
  const answer: Array<Collected> = []
  for (const one of yield* candidates(home, store, policy, onLooked)) {
    const removal = one.kind === "session" ? removeSession(home, one) : removeAgent(store, one)
    const outcome = yield* Effect.scoped(removal).pipe(
      Effect.catchIf(
        (error) => error.code === "LOCKED" || error.code === "NOT_FOUND",
        () => Effect.succeed(false),
      ),
      Effect.match({ onFailure: (problem) => ({ problem }), onSuccess: (gone) => (gone ? {} : undefined) }),
    )
    if (outcome !== undefined) answer.push({ ...collected(one), ...outcome })
  }
  return answer
})

const removeSession = Effect.fnUntraced(function* (
  home: string,
  { id, updated }: Candidate,
): Effect.fn.Return<boolean, StoreError, Disk.Service | Lock.Service | Scope.Scope> {
  const directory = Layout.sessionPath(home, id as SessionId)
  yield* Layout.existing("session", id, directory)
  yield* SessionFiles.hold(directory, id)
  const now = yield* SessionReading.summary(home, id as SessionId)
  if (now.updated !== updated) return false
  yield* Deletion.held(home, id as SessionId)
  return true
})

const removeAgent = Effect.fnUntraced(function* (
  store: Interface,
  { session, id, updated }: Candidate,
): Effect.fn.Return<boolean, StoreError, Scope.Scope> {
  const { subagents } = yield* store.openWriter(session)
  const { meta } = yield* subagents.load(id)
  if (!isOver(meta.status) || Date.parse(meta.updated_at) !== updated) return false
  yield* subagents.delete(id)
  return true
})

export * as Collection from "./Collection.ts"
