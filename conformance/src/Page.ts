import type { Tier, Verdict } from "./Rule.ts"

const tiers: ReadonlyArray<Tier> = ["mandatory", "capability", "advisory", "informational"]

const signs = { passed: "yes", missed: "**no**", "not asked": "–" }

/** An agent conforms when no mandatory and no capability rule is missed. */
export const conforms = (verdicts: ReadonlyArray<Verdict>): boolean =>
  verdicts.every(({ rule, outcome }) => outcome !== "missed" || rule.tier === "advisory" || rule.tier === "informational")

const count = (verdicts: ReadonlyArray<Verdict>, tier: Tier) => {
  const own = verdicts.filter(({ rule, outcome }) => rule.tier === tier && outcome !== "not asked")
  return `${own.filter(({ outcome }) => outcome === "passed").length} of ${own.length}`
}

/** The results of an agent as a page. */
export const page = (title: string, results: ReadonlyArray<readonly [string, ReadonlyArray<Verdict>]>): string => {
  const lines = [`# ${title}`, "", "Made by `bun --conditions=@acp-kit/source conformance/src/run.ts --page`; do not edit.", ""]
  for (const [name, verdicts] of results) {
    lines.push(`## ${name}: ${conforms(verdicts) ? "conforms" : "does not conform"}`, "")
    lines.push(tiers.map((tier) => `${tier} ${count(verdicts, tier)}`).join(" · "), "")
    lines.push("| Rule | Tier | | What is asked |", "| --- | --- | --- | --- |")
    for (const { rule, outcome, why } of verdicts) {
      const note = outcome === "passed" || why === undefined ? "" : ` (${why.replaceAll("|", "\\|").replaceAll("\n", " ")})`
      lines.push(`| ${rule.id} | ${rule.tier} | ${signs[outcome]} | ${rule.title}${note} |`)
    }
    lines.push("")
  }
  return lines.join("\n")
}
