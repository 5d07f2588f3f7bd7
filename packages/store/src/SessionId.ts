import * as Effect from "effect/Effect"
import { uuid } from "./AgentId.ts"

/** 1 to 128 of ASCII letters, digits, `.`, `-` and `_`; the name of the session's directory. */
export type SessionId = string & { readonly SessionId: unique symbol }

const pattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/

const reserved = /^(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.|$)/i

/** Why a string is no session id, or `undefined` where it is one. */
export const problem = (text: string): string | undefined => {
  if (!pattern.test(text))
    return "an id is 1 to 128 ASCII letters, digits, dots, hyphens or underscores and does not begin with a dot"
  if (text.endsWith(".")) return "an id does not end with a dot"
  if (reserved.test(text)) return "the name is reserved on some systems"
  return undefined
}

/** Whether a string can name a session. */
export const is = (text: string): text is SessionId => problem(text) === undefined

/** A new session id: a UUIDv7 in lower case, of the Clock and Random services. */
export const make: Effect.Effect<SessionId> = Effect.map(uuid, (text) => text as SessionId)
