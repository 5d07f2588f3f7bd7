import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { StoreError } from "./StoreError.ts"

/** A record as it stands in the file. */
export interface Line {
  readonly seq: number
  readonly bytes: Uint8Array
}

interface Waiter {
  readonly seq: number
  readonly done: Deferred.Deferred<void, StoreError>
}

/** What of a log is not on disk yet, and who waits for it. Each list is in the order of the numbers. */
export class LogQueue {
  /** The last record in the file. */
  written: number
  /** The last record on disk; what an earlier process wrote may not be, so nothing counts at first. */
  synced = -1
  /** Bytes in the file that are not on disk. */
  unsyncedBytes = 0
  /** Bytes that wait in memory for space. */
  heldBytes = 0
  private unsynced: Array<Line> = []
  private held: Array<Line> = []
  private waiters: Array<Waiter> = []

  constructor(lastSeq: number) {
    this.written = lastSeq
  }

  get isBehind(): boolean {
    return this.written > this.synced
  }

  get heldCount(): number {
    return this.held.length
  }

  get pendingCount(): number {
    return this.held.length + this.unsynced.length
  }

  /** The line stands in the file. */
  wrote(line: Line): void {
    this.written = line.seq
    this.unsynced.push(line)
    this.unsyncedBytes += line.bytes.length
  }

  /** The line waits for space. */
  hold(line: Line): void {
    this.held.push(line)
    this.heldBytes += line.bytes.length
  }

  /** The line that waits longest. */
  get firstHeld(): Line | undefined {
    return this.held[0]
  }

  /** The line that waited longest stands in the file now. */
  wroteHeld(): void {
    const line = this.held.shift()
    if (line === undefined) return
    this.heldBytes -= line.bytes.length
    this.wrote(line)
  }

  /** The file was cut back to what is on disk: everything since waits again. */
  rewind(): void {
    this.held = [...this.unsynced, ...this.held]
    this.heldBytes += this.unsyncedBytes
    this.unsynced = []
    this.unsyncedBytes = 0
  }

  /** Everything up to the number is on disk: those who waited for it go on. */
  settle(seq: number): void {
    this.synced = seq
    const rest = this.unsynced.findIndex((line) => line.seq > seq)
    const done = rest < 0 ? this.unsynced : this.unsynced.slice(0, rest)
    for (const line of done) this.unsyncedBytes -= line.bytes.length
    this.unsynced = rest < 0 ? [] : this.unsynced.slice(rest)
    const woken = this.waiters.filter((waiter) => waiter.seq <= seq)
    this.waiters = this.waiters.filter((waiter) => waiter.seq > seq)
    for (const waiter of woken) Deferred.doneUnsafe(waiter.done, Effect.void)
  }

  /** What succeeds when the number is on disk. */
  wait(seq: number): Effect.Effect<void, StoreError> {
    const done = Deferred.makeUnsafe<void, StoreError>()
    this.waiters.push({ seq, done })
    return Deferred.await(done)
  }

  /** Nobody waits any longer. */
  fail(exit: Exit.Exit<never, StoreError>): void {
    const woken = this.waiters
    this.waiters = []
    for (const waiter of woken) Deferred.doneUnsafe(waiter.done, exit)
  }
}
