/** Who reads: the least loop, ours, ours with every frame observed, ours with a subscriber that stops reading, the SDK's. */
export type Client = "raw" | "kit" | "observed" | "stopped" | "sdk"

/** What one run of `consumer.ts` says: milliseconds, characters, MiB. */
export interface Reading {
  readonly wall: number
  readonly cpu: number
  readonly length: number
  /** Of resident memory, at most, over what it was before the prompt; what was not yet collected counts. */
  readonly growth: number
  /** Of the heap, after everything that can be collected was, the answer held. */
  readonly retained: number
}
