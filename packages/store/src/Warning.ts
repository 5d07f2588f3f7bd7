/** Something was found and dealt with, or left for `repair`; nothing is hidden and nothing was lost silently. */
export interface Warning {
  readonly kind:
    | "torn_tail_cut"
    | "damage_skipped"
    | "missing_file"
    | "hand_edited"
    | "wide_mode"
    | "interrupted"
    | "swept"
    | "repaired"
  readonly path: string
  readonly message: string
}

/** What a crash leaves and every opening mends without a word; the rest is for people to know. */
const ordinary: ReadonlySet<Warning["kind"]> = new Set(["torn_tail_cut", "interrupted", "swept", "repaired"])

/** The warnings that people should see: damage, files that were missing or changed by hand, modes that let others in. */
export const remarkable = (warnings: ReadonlyArray<Warning>): ReadonlyArray<Warning> =>
  warnings.filter(({ kind }) => !ordinary.has(kind))
