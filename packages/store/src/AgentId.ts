import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** `s-` and a UUIDv7 in lower case (K02): the handle's id, the directory's name, and an `acp.kit` child's session id. */
export type AgentId = string & { readonly AgentId: unique symbol }

const pattern = /^s-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Whether a string is an agent id; any other is simply unknown (K02). */
export const is = (text: string): text is AgentId => pattern.test(text)

/** A UUIDv7 in lower case: 48 bits of the clock, 74 random bits. */
export const uuid: Effect.Effect<string> = Effect.gen(function* () {
  const now = yield* Clock.currentTimeMillis
  const bytes = new Uint8Array(16)
  for (let i = 0; i < 6; i++) bytes[i] = Math.floor(now / 2 ** (8 * (5 - i))) % 256
  for (let i = 6; i < 16; i++) bytes[i] = yield* Random.nextIntBetween(0, 256, { halfOpen: true })
  bytes[6] = 0x70 | ((bytes[6] as number) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f)
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
})

/** A new agent id, of the Clock and Random services. */
export const make: Effect.Effect<AgentId> = Effect.map(uuid, (text) => `s-${text}` as AgentId)
