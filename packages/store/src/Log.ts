import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { Disk, type DiskError, type File } from "./Disk.ts"
import type { Level, Receipt } from "./Durability.ts"
import { encode, encodeValue } from "./Frame.ts"
import type { Health } from "./Health.ts"
import type { JsonObject } from "./Json.ts"
import { activePath, sealedPath, segments, stagedPath } from "./LogFiles.ts"
import { type Line, LogQueue } from "./LogQueue.ts"
import * as LogRecovery from "./LogRecovery.ts"
import { Invalid, isFull, LostOwnership, of, ofDisk, type StoreError } from "./StoreError.ts"
import { StoreLimits } from "./StoreLimits.ts"
import type { Warning } from "./Warning.ts"

/** The end of what was written. */
export interface Position {
  readonly segment: number
  /** Byte offset in the active file. */
  readonly offset: number
  readonly seq: number
}

/** A log that this process alone appends to. */
export interface Log {
  /**
   * Appends one record whose body is JSON text of one line. When it fails nothing of the record remains, with one exception: after a failed sync (`Io`) it is
   * kept in memory and written once the disk takes it. An interruption while it waits for the disk leaves the record written.
   */
  readonly append: (kind: string, version: number, body: string, level: Level) => Effect.Effect<Receipt, StoreError>
  /** Everything accepted so far is on disk. */
  readonly flush: Effect.Effect<void, StoreError>
  readonly position: Effect.Effect<Position>
  readonly health: Effect.Effect<Health.State>
  readonly warnings: ReadonlyArray<Warning>
}

export interface LogOptions extends Omit<LogRecovery.OpenOptions, "now"> {
  /** Told when the log is open, and at every change. */
  readonly onHealth?: (health: Health.State) => void
}

/** Opens the log, mends its end, and appends until the scope closes, which writes and syncs what is left. */
export const open = Effect.fn("Log.open")(function* (
  options: LogOptions,
): Effect.fn.Return<Log, StoreError, Disk.Service | Scope.Scope> {
  const disk = yield* Disk.Service
  const limits = yield* StoreLimits
  const scope = yield* Effect.scope
  const path = activePath(options.name)
  const now = yield* Clock.currentTimeMillis
  const opened = yield* Effect.acquireRelease(LogRecovery.open({ ...options, now }), () => close)

  let file: File = opened.file
  let segment = opened.segment
  let end = opened.end
  let syncedEnd = opened.end
  let nextSeq = opened.lastSeq + 1
  const queue = new LogQueue(opened.lastSeq)
  let broken: DiskError | undefined
  let lost: StoreError | undefined
  let flushing: Deferred.Deferred<void> | undefined
  let flushWanted = false
  let rotateWanted = opened.sealed || opened.gaps.length > 0
  let unnamed = false
  let timer = false
  let retrying = false
  let health: Health.State = { state: "ok" }
  const mutex = Semaphore.makeUnsafe(1)
  const exclusively = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> => mutex.withPermit(Effect.uninterruptible(effect))

  const setHealth = (next: Health.State): void => {
    const changed = next.state !== health.state
    health = next
    if (changed) options.onHealth?.(next)
  }

  const describe = (error: DiskError | undefined): void => {
    if (error === undefined) setHealth({ state: "ok" })
    else if (isFull(error)) setHealth({ state: "no_space", held: queue.heldCount, error: ofDisk(error) })
    else setHealth({ state: "failed", error: ofDisk(error) })
  }

  /** Writes bytes behind `end`, or leaves the file as it was. */
  const put = (bytes: Uint8Array): Effect.Effect<void, DiskError | StoreError> =>
    Effect.gen(function* () {
      const size = yield* disk.size(file)
      if (size !== end) {
        lost = of(new LostOwnership({ path, why: `it has ${size} bytes where ${end} were written` }))
        setHealth({ state: "failed", error: lost })
        return yield* lost
      }
      yield* disk.write(file, bytes).pipe(
        Effect.tapError((error) =>
          disk.truncate(file, end).pipe(
            Effect.catch(() => {
              broken = error
              return Effect.void
            }),
          ),
        ),
      )
      end += bytes.length
    })

  /** Writes what waits in memory, oldest first. */
  const drain: Effect.Effect<void, DiskError | StoreError> = Effect.gen(function* () {
    for (let line = queue.firstHeld; line !== undefined; line = queue.firstHeld) {
      yield* put(line.bytes)
      queue.wroteHeld()
    }
    describe(undefined)
  })

  /** After a failed sync or a failed repair of the end: a new descriptor, back to what is surely on disk, and everything since again from memory. */
  const reopen: Effect.Effect<void, DiskError | StoreError> = Effect.gen(function* () {
    yield* disk.close(file)
    file = yield* disk.openAppend(path)
    const size = yield* disk.size(file)
    if (size < syncedEnd) {
      lost = of(new LostOwnership({ path, why: `it has ${size} bytes where ${syncedEnd} are on disk` }))
      return yield* lost
    }
    yield* disk.truncate(file, syncedEnd)
    end = syncedEnd
    queue.rewind()
    broken = undefined
    yield* drain
    yield* named
    yield* disk.sync(file)
    settle(queue.written, end)
  }).pipe(
    Effect.tapError((error) =>
      Effect.sync(() => {
        if (error._tag === "DiskError") broken = error
      }),
    ),
  )

  const settle = (seq: number, to: number): void => {
    syncedEnd = to
    queue.settle(seq)
  }

  const asStore = (error: DiskError | StoreError): StoreError => {
    if (error._tag === "StoreError") return error
    describe(error)
    return ofDisk(error)
  }

  /** After a rotation the new names must be on disk before anything in the new file counts as such. */
  const named: Effect.Effect<void, DiskError> = Effect.suspend(() =>
    unnamed
      ? Effect.tap(disk.syncDirectory(options.name.directory), () =>
          Effect.sync(() => {
            unnamed = false
          }),
        )
      : Effect.void,
  )

  /** One sync for whatever was written before it; its failure is answered by {@link reopen}. */
  const syncOnce: Effect.Effect<void> = Effect.gen(function* () {
    const seq = queue.written
    const to = end
    const failed = yield* Effect.match(Effect.andThen(named, disk.sync(file)), { onFailure: () => true, onSuccess: () => false })
    if (!failed) return settle(seq, to)
    yield* exclusively(
      Effect.catch(reopen, (error) => {
        queue.fail(Exit.fail(asStore(error)))
        return retry
      }),
    )
  })

  /** A record of the log's own. */
  const putOwn = (kind: "head" | "note" | "seal", body: JsonObject): Effect.Effect<void, DiskError | StoreError> =>
    Effect.gen(function* () {
      const bytes = encodeValue(nextSeq, yield* Clock.currentTimeMillis, kind, 1, body)
      yield* put(bytes)
      queue.wrote({ seq: nextSeq++, bytes })
    })

  /** Seals the active file and begins the next. The next file is whole before the names change. */
  const rotate: Effect.Effect<void, DiskError | StoreError> = Effect.gen(function* () {
    rotateWanted = false
    if (queue.heldCount > 0 || broken !== undefined || lost !== undefined) return
    if (!opened.sealed || segment !== opened.segment) yield* putOwn("seal", { segment, bytes: end })
    yield* disk.sync(file)
    settle(queue.written, end)
    const time = yield* Clock.currentTimeMillis
    const head = encodeValue(
      nextSeq,
      time,
      "head",
      1,
      LogRecovery.headBody(options.identity, segment + 1, { segment, seq: nextSeq - 1 }),
    )
    const staged = stagedPath(options.name)
    const sealed = sealedPath(options.name, segment)
    yield* disk.unlink(staged)
    const next = yield* disk.openExclusive(staged)
    yield* Effect.andThen(disk.write(next, head), disk.sync(next)).pipe(
      Effect.andThen(disk.rename(path, sealed)),
      Effect.andThen(Effect.tapError(disk.rename(staged, path), () => Effect.ignore(disk.rename(sealed, path)))),
      Effect.onError(() => disk.close(next)),
    )
    yield* disk.close(file)
    file = { path, handle: next.handle }
    segment += 1
    end = head.length
    unnamed = true
    queue.written = nextSeq++
    settle(queue.written, end)
    yield* named
    yield* dropOldest
  })

  const dropOldest = Effect.gen(function* () {
    if (segment <= limits.keepSegments) return
    const all = yield* segments(options.name).pipe(Effect.provideService(Disk.Service, disk))
    for (const old of all) {
      if (old.number !== undefined && old.number <= segment - 1 - limits.keepSegments) yield* disk.unlink(old.path)
    }
  })

  /** Syncs and rotates as long as there is something to do. `flushing` falls in the same step in which that ends. */
  const flusher = (done: Deferred.Deferred<void>): Effect.Effect<void> =>
    Effect.gen(function* () {
      while (lost === undefined && (flushWanted || rotateWanted)) {
        flushWanted = false
        if (queue.isBehind) yield* syncOnce
        if (rotateWanted) yield* exclusively(Effect.catch(rotate, (error) => Effect.sync(() => void asStore(error))))
      }
      flushing = undefined
      if (lost !== undefined) queue.fail(Exit.fail(lost))
      Deferred.doneUnsafe(done, Effect.void)
    })

  /** A defect in the flusher is everybody's who waits for it. */
  const abandon =
    (done: Deferred.Deferred<void>) =>
    (cause: Cause.Cause<never>): Effect.Effect<void> =>
      Effect.sync(() => {
        flushing = undefined
        queue.fail(Exit.failCause(cause))
        Deferred.doneUnsafe(done, Effect.void)
      })

  /** Starts the flusher unless it runs. It belongs to no scope, as a scope that closes still waits for what it syncs; closing the log waits for it. */
  const kick: Effect.Effect<void> = Effect.suspend(() => {
    flushWanted = true
    if (flushing !== undefined) return Effect.void
    flushing = Deferred.makeUnsafe()
    return Effect.asVoid(Effect.forkDetach(Effect.uninterruptible(Effect.onError(flusher(flushing), abandon(flushing)))))
  })

  const later: Effect.Effect<void> = Effect.suspend(() => {
    if (timer) return Effect.void
    timer = true
    return Effect.sleep(limits.soonMillis).pipe(
      Effect.andThen(
        Effect.suspend(() => {
          timer = false
          return queue.isBehind ? kick : Effect.void
        }),
      ),
      Effect.forkIn(scope),
      Effect.asVoid,
    )
  })

  /** Tries a full disk again until it has taken everything. */
  const retry: Effect.Effect<void> = Effect.suspend(() => {
    if (retrying) return Effect.void
    retrying = true
    return Effect.sleep(limits.retryMillis).pipe(
      Effect.andThen(exclusively(Effect.ignore(recover))),
      Effect.repeat({ while: () => (queue.heldCount > 0 || broken !== undefined) && lost === undefined }),
      Effect.ensuring(
        Effect.sync(() => {
          retrying = false
        }),
      ),
      Effect.forkIn(scope),
      Effect.asVoid,
    )
  })

  const recover: Effect.Effect<void, DiskError | StoreError> = Effect.suspend(() => {
    if (lost !== undefined) return Effect.fail(lost)
    return broken !== undefined ? reopen : queue.heldCount > 0 ? drain : Effect.void
  })

  const awaitDisk = (seq: number): Effect.Effect<void, StoreError> =>
    Effect.suspend(() => {
      if (lost !== undefined) return Effect.fail(lost)
      return seq <= queue.synced ? Effect.void : Effect.andThen(kick, queue.wait(seq))
    })

  const accept = (kind: string, version: number, body: string, level: Level): Effect.Effect<Receipt, StoreError> =>
    Effect.gen(function* () {
      const time = yield* Clock.currentTimeMillis
      const line: Line = { seq: nextSeq, bytes: encode(nextSeq, time, kind, version, body) }
      const failed = yield* recover.pipe(
        Effect.andThen(put(line.bytes)),
        Effect.match({ onFailure: (error) => error, onSuccess: () => undefined }),
      )
      if (failed === undefined) {
        nextSeq++
        queue.wrote(line)
        if (end >= limits.rotateBytes) rotateWanted = true
        return { seq: line.seq, where: level === "disk" ? "disk" : "kernel" }
      }
      const error = asStore(failed)
      const waits =
        failed._tag === "DiskError" &&
        isFull(failed) &&
        level !== "disk" &&
        queue.heldBytes + line.bytes.length <= limits.heldBytes
      if (!waits) return yield* error
      nextSeq++
      queue.hold(line)
      describe(failed)
      yield* retry
      return { seq: line.seq, where: "held" }
    })

  const append = Effect.fnUntraced(function* (
    kind: string,
    version: number,
    body: string,
    level: Level,
  ): Effect.fn.Return<Receipt, StoreError> {
    if (body.length > limits.recordBytes) {
      return yield* of(
        new Invalid({ what: "record", why: `${body.length} bytes are more than the limit of ${limits.recordBytes}` }),
      )
    }
    if (queue.unsyncedBytes > limits.unsyncedBytes) yield* Effect.ignore(awaitDisk(queue.written))
    const receipt = yield* exclusively(accept(kind, version, body, level))
    if (level === "disk") yield* awaitDisk(receipt.seq)
    else if (rotateWanted || queue.unsyncedBytes > limits.lazyBytes) yield* kick
    else if (level === "soon" && receipt.where === "kernel") yield* later
    return receipt
  })

  const flush: Effect.Effect<void, StoreError> = Effect.gen(function* () {
    yield* exclusively(Effect.mapError(recover, asStore))
    yield* awaitDisk(queue.written)
  })

  const flushed: Effect.Effect<void> = Effect.suspend(() =>
    flushing === undefined ? Effect.void : Effect.andThen(Deferred.await(flushing), flushed),
  )

  const close: Effect.Effect<void> = Effect.andThen(
    flushed,
    exclusively(
      recover.pipe(
        Effect.andThen(Effect.suspend(() => (queue.isBehind ? disk.sync(file) : Effect.void))),
        Effect.catch((error) => Effect.logError(`${path}: ${queue.pendingCount} records may not be on disk: ${error.message}`)),
        Effect.andThen(
          Effect.suspend(() => {
            lost ??= of(new LostOwnership({ path, why: "it was closed here" }))
            return disk.close(file)
          }),
        ),
      ),
    ),
  )

  const begin: Effect.Effect<void, DiskError | StoreError> = Effect.gen(function* () {
    if (opened.end === 0) yield* putOwn("head", LogRecovery.headBody(options.identity, segment))
    if (rotateWanted) yield* rotate
    if (opened.cut > 0) yield* putOwn("note", { event: "torn_tail_cut", bytes: opened.cut })
  })
  yield* exclusively(Effect.mapError(begin, asStore))
  options.onHealth?.(health)
  return {
    append,
    flush,
    position: Effect.sync(() => ({ segment, offset: end, seq: nextSeq - 1 })),
    health: Effect.sync(() => health),
    warnings: opened.warnings,
  }
})

export * as Log from "./Log.ts"
