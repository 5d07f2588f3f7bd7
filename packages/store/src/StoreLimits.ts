import * as Context from "effect/Context"

/** Every limit of the store, in one place; tests shorten them. */
export interface Limits {
  /** A log's file is sealed and a new one begun at this size, in bytes. */
  readonly rotateBytes: number
  /** Records accepted while the disk is full wait in memory, up to this many bytes per log. */
  readonly heldBytes: number
  /** Bytes written but not yet on disk, per log; writers wait above it. */
  readonly unsyncedBytes: number
  /** A sync begins, and nobody waits for it, when so many bytes are not on disk; it bounds what records of level `kernel` keep in memory. */
  readonly lazyBytes: number
  /** A record of level `soon` is on disk after at most this many milliseconds. */
  readonly soonMillis: number
  /** How often a full disk is tried again, in milliseconds. */
  readonly retryMillis: number
  /** The longest record, in bytes of its JSON text. */
  readonly recordBytes: number
  /** A context up to this size, in bytes, is written to `context.json` at every save. */
  readonly smallContextBytes: number
  /**
   * `context.json` follows when the changes logged since exceed this factor of its size. At 4, a conversation of any length is written about three times in
   * all: once in the log, at most a quarter more than once in snapshots on the way, and once when the session is closed.
   */
  readonly snapshotGrowth: number
  /** Sealed segments kept per log; older ones are dropped. Unlimited on disk, bounded for the in-memory twin. */
  readonly keepSegments: number
  /** How long, in milliseconds, opening waits for a lock whose holder is not known to live. */
  readonly lockMillis: number
}

export const defaults: Limits = {
  rotateBytes: 64 * 1024 * 1024,
  heldBytes: 8 * 1024 * 1024,
  unsyncedBytes: 8 * 1024 * 1024,
  lazyBytes: 256 * 1024,
  soonMillis: 100,
  retryMillis: 1000,
  recordBytes: 64 * 1024 * 1024,
  smallContextBytes: 256 * 1024,
  snapshotGrowth: 4,
  keepSegments: Number.MAX_SAFE_INTEGER,
  lockMillis: 20,
}

export const StoreLimits: Context.Reference<Limits> = Context.Reference<Limits>("@acp-kit/store/StoreLimits", {
  defaultValue: () => defaults,
})
