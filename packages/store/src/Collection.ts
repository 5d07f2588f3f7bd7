import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Disk } from "./Disk.ts"
import * as Layout from "./Layout.ts"
import type { SessionId } from "./SessionId.ts"
import type { Interface, SessionSummary } from "./SessionStore.ts"
import { Invalid, of, type StoreError } from "./StoreError.ts"
import * as Tree from "./Tree.ts"

/** What may go. Nothing that is open anywhere goes, whatever the policy says. */
export interface Policy {
  /** Sessions whose last change is older than so many days, and agents that ended longer ago in sessions that stay. */
  readonly olderThanDays?: number
  /** The oldest sessions, until all of them together are no larger. */
  readonly maxBytes?: number
  /** The youngest sessions that stay in any case; 1 unless given. */
  readonly keep?: number
}

export interface Collected {
  readonly kind: "session" | "subagent"
  readonly session: string
  readonly id: string
  readonly bytes: number
  readonly why: string
}

const day = 86_400_000

/** What a policy would remove now, oldest first; nothing is removed. */
export const plan = Effect.fn("Collection.plan")(function* (
  home: string,
  store: Interface,
  policy: Policy,
): Effect.fn.Return<ReadonlyArray<Collected>, StoreError, Disk.Service> {
  const { olderThanDays, maxBytes, keep = 1 } = policy
  if (olderThanDays === undefined && maxBytes === undefined) {
    return yield* of(new Invalid({ what: "policy", why: "it names neither an age nor a size" }))
  }
  const now = yield* Clock.currentTimeMillis
  const limit = olderThanDays === undefined ? Number.NEGATIVE_INFINITY : now - olderThanDays * day
  const rows = yield* store.list({ subagents: true })
  const found: Array<Collected> = []
  const sizes = new Map<string, number>()
  for (const row of rows) sizes.set(row.id, yield* Tree.size(Layout.sessionPath(home, row.id as SessionId)))
  let total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
  for (const row of rows.slice(keep).reverse()) {
    if (!(yield* mayGo(store, row))) continue
    const bytes = sizes.get(row.id) ?? 0
    const isOld = row.updated < limit
    if (!isOld && !(maxBytes !== undefined && total > maxBytes)) continue
    const why = isOld ? `unchanged for more than ${olderThanDays} days` : `all sessions are larger than ${maxBytes} bytes`
    found.push({ kind: "session", session: row.id, id: row.id, bytes, why })
    total -= bytes
  }
  const going = new Set(found.map((one) => one.session))
  if (olderThanDays !== undefined) {
    for (const row of rows) {
      if (going.has(row.id) || !(yield* mayGo(store, row))) continue
      found.push(...(yield* endedAgents(home, store, row.id, limit, olderThanDays)))
    }
  }
  return found
})

/** A session that somebody has open, or that we cannot read, stays. */
const mayGo = (store: Interface, row: SessionSummary): Effect.Effect<boolean, StoreError> =>
  row.info === undefined || row.problem !== undefined
    ? Effect.succeed(false)
    : Effect.map(store.holder(row.id), (holder) => holder === undefined)

const endedAgents = Effect.fnUntraced(function* (
  home: string,
  store: Interface,
  session: string,
  limit: number,
  days: number,
): Effect.fn.Return<ReadonlyArray<Collected>, StoreError, Disk.Service> {
  const reader = yield* store.openReader(session)
  const found: Array<Collected> = []
  for (const { id, meta } of yield* reader.subagents.list()) {
    if (meta === undefined || (meta.status !== "closed" && meta.status !== "failed") || Date.parse(meta.updated_at) >= limit)
      continue
    const bytes = yield* Tree.size(`${Layout.sessionPath(home, session as SessionId)}/${Layout.subagentsName}/${id}`)
    found.push({ kind: "subagent", session, id, bytes, why: `${meta.status} for more than ${days} days` })
  }
  return found
})

/** Removes what {@link plan} names, each in two steps and under its lock; what is open by now is left out of the answer. */
export const run = Effect.fn("Collection.run")(function* (
  home: string,
  store: Interface,
  policy: Policy,
): Effect.fn.Return<ReadonlyArray<Collected>, StoreError, Disk.Service> {
  const gone: Array<Collected> = []
  for (const one of yield* plan(home, store, policy)) {
    const removal: Effect.Effect<void, StoreError, Scope.Scope> =
      one.kind === "session"
        ? store.delete(one.id)
        : Effect.flatMap(store.openWriter(one.session), ({ subagents }) => subagents.delete(one.id))
    const removed = yield* Effect.scoped(removal).pipe(
      Effect.as(true),
      Effect.catchIf(
        (error) => error.code === "LOCKED" || error.code === "NOT_FOUND",
        () => Effect.succeed(false),
      ),
    )
    if (removed) gone.push(one)
  }
  return gone
})

export * as Collection from "./Collection.ts"
