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
