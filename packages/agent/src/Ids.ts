import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** A new id of 64 random bits: the prefix, a dash, 16 hexadecimal digits. */
export const next = (prefix: string): Effect.Effect<string> =>
  Effect.map(Effect.all([word, word]), ([high, low]) => `${prefix}-${high}${low}`)

const word = Effect.map(Random.nextIntBetween(0, 0xffffffff), (n) => n.toString(16).padStart(8, "0"))

export * as Ids from "./Ids.ts"
