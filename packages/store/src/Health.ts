import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { uuid } from "./AgentId.ts"
import type { Disk, DiskError } from "./Disk.ts"
import { trashPrefix } from "./Layout.ts"
import { isFull, ofDisk, type StoreError } from "./StoreError.ts"
import { StoreLimits } from "./StoreLimits.ts"

/** How the disk takes what is written. `no_space`: records of the lower levels wait in memory, what must be on disk first fails. */
export type State =
  | { readonly state: "ok" }
  | { readonly state: "no_space"; readonly held: number; readonly error: StoreError }
  | { readonly state: "failed"; readonly error: StoreError }

/** The health of all that one store writes. */
export interface Watch {
  /** Now, and at every change of its state. */
  readonly changes: Stream.Stream<State>
  /** What a log says of itself; `at` tells one log from another. */
  readonly report: (at: string, health: State) => void
  /** The disk given, whose refusals for want of space are noticed, whoever asked for the write. */
  readonly disk: Disk.Interface
}

/** A trouble that begins or goes, in words. */
export interface News {
  readonly severity: "warning" | "error" | "info"
  /** One sentence without a full stop. */
  readonly text: string
}

const newsOf = (health: State): News => {
  switch (health.state) {
    case "ok":
      return { severity: "info", text: "the disk takes everything again; nothing that was accepted was lost" }
    case "no_space":
      return {
        severity: "warning",
        text: `${health.error.message}; until then what must be on disk first is refused, and what need not waits in memory`,
      }
    case "failed":
      return { severity: "error", text: health.error.message }
  }
}

/** What people are to be told of a store's health: each trouble once as it begins, and that it is over; nothing where there is none. */
export const news = (changes: Stream.Stream<State>): Stream.Stream<News> =>
  changes.pipe(
    Stream.dropWhile((health) => health.state === "ok"),
    Stream.map(newsOf),
  )

const rank = { ok: 0, no_space: 1, failed: 2 } as const

/** The most that is written, in bytes, to find out whether there is space again. */
const probeBytes = 1024 * 1024

/**
 * Watches a disk below a directory until the scope closes. A full disk is so from the first refusal until as much as was refused can be written again, which
 * is tried every {@link StoreLimits} `retryMillis`, and every log has written what it held.
 */
export const watch = Effect.fnUntraced(function* (
  disk: Disk.Interface,
  directory: string,
): Effect.fn.Return<Watch, never, Scope.Scope> {
  const limits = yield* StoreLimits
  const scope = yield* Effect.scope
  const services = yield* Effect.context<never>()
  const ref = yield* SubscriptionRef.make<State>({ state: "ok" })
  const states = new Map<string, State>()
  let shown: State["state"] = "ok"
  let refused = 0

  const report = (at: string, health: State): void => {
    if (health.state === "ok") states.delete(at)
    else states.set(at, health)
    const worst = [...states.values()].reduce((a, b) => (rank[b.state] > rank[a.state] ? b : a), { state: "ok" } as State)
    if (worst.state === shown) return
    shown = worst.state
    Effect.runForkWith(services)(SubscriptionRef.set(ref, worst))
  }

  /** Writes as much as was refused to a file that the next sweep takes away, should we not come to it. */
  const probe = Effect.uninterruptible(
    Effect.gen(function* () {
      const path = `${directory}/${trashPrefix}space.${yield* uuid}`
      const file = yield* disk.openExclusive(path)
      const written = disk.write(file, new Uint8Array(Math.min(probeBytes, refused)))
      yield* Effect.ensuring(written, Effect.andThen(disk.close(file), Effect.ignore(disk.unlink(path))))
    }),
  )

  const probing = Effect.sleep(limits.retryMillis).pipe(
    Effect.andThen(probe),
    Effect.eventually,
    Effect.andThen(
      Effect.sync(() => {
        refused = 0
        report(directory, { state: "ok" })
      }),
    ),
  )

  const noticed = <A>(call: Effect.Effect<A, DiskError>, bytes = 0): Effect.Effect<A, DiskError> =>
    Effect.tapError(call, (error) => {
      if (!isFull(error)) return Effect.void
      const begins = !states.has(directory)
      refused = Math.max(refused, bytes)
      report(directory, { state: "no_space", held: 0, error: ofDisk(error) })
      return begins ? Effect.forkIn(probing, scope) : Effect.void
    })

  return {
    changes: SubscriptionRef.changes(ref),
    report,
    disk: {
      ...disk,
      openExclusive: (path) => noticed(disk.openExclusive(path)),
      makeDirectory: (path) => noticed(disk.makeDirectory(path)),
      rename: (from, to) => noticed(disk.rename(from, to)),
      write: (file, bytes) => noticed(disk.write(file, bytes), bytes.length),
      sync: (file) => noticed(disk.sync(file)),
      syncDirectory: (path) => noticed(disk.syncDirectory(path)),
    },
  }
})

export * as Health from "./Health.ts"
