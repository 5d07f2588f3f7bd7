/**
 * How safe a write is when its call succeeds.
 *
 * - `kernel`: survives the death of the process, not of the machine.
 * - `soon`: as `kernel` now, on disk with the next batch, at most 100 ms later.
 * - `disk`: on disk. For every fact that must hold before the effect it announces.
 */
export type Level = "kernel" | "soon" | "disk"

/** What an accepted record has: `held` means that the disk is full and the record waits in memory (at most 8 MiB) until space returns. */
export type Where = "held" | "kernel" | "disk"

/** The receipt of an accepted record. */
export interface Receipt {
  /** Its number in the log; the next one is exactly one higher. */
  readonly seq: number
  readonly where: Where
}
