import { rank } from "../Convert.ts"
import * as Types from "../Types.ts"
import { sameType, type Type, typeKind, union, variants } from "../Types.ts"

/** The one type that an accumulator keeps, or why there is none. */
export const unify = (seed: Type, body: Type): Type | { readonly problem: string } => {
  if (sameType(seed, body)) return seed
  if (body.kind === "any") return Types.any
  if ((seed.kind === "null") !== (body.kind === "null")) return union(seed, body)
  if (seed.kind === "object" && body.kind === "object" && sameKeys(seed, body)) {
    const properties = new Map<string, Type>()
    for (const [key, type] of seed.properties) {
      const unified = unify(type, body.properties.get(key)!)
      if ("problem" in unified) return { problem: `property \`${key}\`: ${unified.problem}` }
      properties.set(key, unified)
    }
    return Types.object(properties, seed.required, seed.open || body.open)
  }
  const widening = rank(seed, body)
  const structural = widening !== undefined && widening <= 2
  if (body.kind === "union" && structural) return body
  if (!(body.kind === "map" && seed.kind === "object") && rank(body, seed) !== undefined) return seed
  if (structural) return body
  return { problem: `the initial value is ${typeKind(seed)} but the body returns ${typeKind(body)}` }
}

const sameKeys = (left: Types.ObjectType, right: Types.ObjectType) =>
  left.properties.size === right.properties.size && [...left.properties.keys()].every((key) => right.properties.has(key))

/** Whether values of the body must be converted at every step to stay within the accumulator's type. */
export const needsConversion = (body: Type, accumulator: Type): boolean =>
  accumulator.kind !== "any" && body.kind !== "any" && variants(body).some((variant) => rank(variant, accumulator) === 3)
