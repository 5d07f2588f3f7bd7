import type { Version } from "./Agent.ts"
import type { Rule } from "./Rule.ts"
import { rules as initialize } from "./rules/Initialize.ts"
import { rules as options } from "./rules/Options.ts"
import { rules as sessions } from "./rules/Sessions.ts"
import { rules as turns } from "./rules/Turns.ts"
import { rules as wire } from "./rules/Wire.ts"

export const rules: ReadonlyArray<Rule> = [...initialize, ...wire, ...sessions, ...turns, ...options]

export const rulesOf = (version: Version): ReadonlyArray<Rule> => rules.filter((rule) => rule.versions.includes(version))
