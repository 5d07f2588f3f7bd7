import type { Profile } from "./Harness.ts"

/** Whose agent a launch line starts, as rosters mark it (S53). */
export type Vendor = "kit" | "claude" | "codex" | "opencode" | "copilot" | "cursor" | "pi" | "antigravity" | "other"

/** The one-cell mark of each vendor. */
export const vendorMarks: Readonly<Record<Vendor, string>> = {
  kit: "k",
  claude: "✱",
  codex: "◎",
  opencode: "◇",
  copilot: "◈",
  cursor: "▸",
  pi: "π",
  antigravity: "◭",
  other: "·",
}

const tokens: Readonly<Record<string, Vendor>> = {
  kit: "kit",
  claude: "claude",
  codex: "codex",
  opencode: "opencode",
  copilot: "copilot",
  cursor: "cursor",
  pi: "pi",
  antigravity: "antigravity",
  agy: "antigravity",
}

const tokensOf = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/[a-z0-9]+/g) ?? []

/** The first whole token of the command's base name, then of the arguments, that names a vendor; the profile's label never counts. */
export const inferVendor = (profile: Pick<Profile, "command" | "args" | "isKit">): Vendor => {
  if (profile.isKit) return "kit"
  const base = profile.command.split(/[\\/]/).at(-1) ?? ""
  for (const token of [base, ...profile.args].flatMap(tokensOf)) {
    const vendor = tokens[token]
    if (vendor !== undefined) return vendor
  }
  return "other"
}

/** The mark of each row's vendor, by its id; none at all while every row is Kit's own (S53). */
export const marksOf = (rows: ReadonlyArray<{ readonly id: string; readonly vendor?: Vendor }>): ReadonlyMap<string, string> => {
  if (rows.every((row) => row.vendor === "kit")) return new Map()
  return new Map(rows.map((row) => [row.id, vendorMarks[row.vendor ?? "other"]]))
}
