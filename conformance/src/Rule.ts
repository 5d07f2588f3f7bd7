import type { Version } from "./Agent.ts"
import type { Lab } from "./Lab.ts"

/** Mandatory and capability rules decide whether an agent conforms; the others are told. */
export type Tier = "mandatory" | "capability" | "advisory" | "informational"

/** One thing that the protocol asks of an agent. */
export interface Rule {
  readonly id: string
  readonly tier: Tier
  readonly versions: ReadonlyArray<Version>
  readonly title: string
  /** Returns where the agent does it; throws {@link Missed} where it does not and {@link NotAsked} where the rule says nothing about it. */
  readonly check: (lab: Lab) => Promise<void>
}

/** The agent does not do what the rule asks. */
export class Missed extends Error {}

/** The rule does not apply: the agent lacks the capability, or the suite has no prompt that would show it. */
export class NotAsked extends Error {}

export const rule = (id: string, tier: Tier, versions: ReadonlyArray<Version>, title: string, check: Rule["check"]): Rule => ({
  id,
  tier,
  versions,
  title,
  check,
})

/** Fails the rule unless the condition holds. */
export function expect(condition: unknown, why: string): asserts condition {
  if (!condition) throw new Missed(why)
}

/** Leaves the rule out unless the condition holds. */
export function given(condition: unknown, why: string): asserts condition {
  if (!condition) throw new NotAsked(why)
}

/** What a rule came to. */
export interface Verdict {
  readonly rule: Rule
  readonly outcome: "passed" | "missed" | "not asked"
  readonly why?: string
}

export const judge = async (rule: Rule, lab: Lab): Promise<Verdict> => {
  try {
    await rule.check(lab)
    return { rule, outcome: "passed" }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    return { rule, outcome: cause instanceof NotAsked ? "not asked" : "missed", why }
  }
}
