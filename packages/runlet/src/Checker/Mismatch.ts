import { rank } from "../Convert.ts"
import { notation, type Type } from "../Types.ts"

/** Why values of one type can never become another, for people: the first property that is at fault, else both types. */
export const mismatch = (from: Type, to: Type): string => {
  if (from.kind === "object" && to.kind === "object") {
    const missing = [...to.required].filter((key) => !from.properties.has(key) && !from.open)
    if (missing.length > 0) return `missing ${missing.map((key) => `\`${key}\``).join(", ")}`
    for (const [key, type] of from.properties) {
      const target = to.properties.get(key)
      if (target === undefined) {
        if (!to.open)
          return `unknown property \`${key}\`; known are ${[...to.properties.keys()].map((known) => `\`${known}\``).join(", ") || "none"}`
      } else if (rank(type, target) === undefined && !(type.kind === "null" && !to.required.has(key)))
        return `property \`${key}\`: ${mismatch(type, target)}`
    }
  }
  if (from.kind === "list" && to.kind === "list") return `items: ${mismatch(from.items, to.items)}`
  return `expected ${notation(to)}, got ${notation(from)}`
}
