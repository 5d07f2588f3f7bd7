/** Who reads: the least loop, ours, ours with every frame observed, ours with a subscriber that stops reading, the SDK's. */
export type Client = "raw" | "kit" | "observed" | "stopped" | "sdk"

/** What one run of `consumer.ts` says: milliseconds, characters, MiB. */
export interface Reading {
  readonly wall: number
  readonly cpu: number
  readonly length: number
  readonly growth: number
}
