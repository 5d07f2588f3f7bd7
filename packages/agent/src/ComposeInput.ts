import type { Json, JsonObject } from "@acp-kit/runlet/Host"

/** The input of a compose call, checked. */
export interface ComposeInput {
  /** The program. */
  readonly script: string
  /** What it is for, in a few words, for people; trimmed. */
  readonly intent?: string
  /** `true`, or the seconds after which the call goes on in the background. */
  readonly background?: boolean | number
}

/** Checks an input of the model; a string says what is wrong with it. */
export const readInput = (input: JsonObject): ComposeInput | string => {
  const { script, intent, background, ...rest } = input
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) return `compose does not take ${unknown}`
  if (typeof script !== "string") return "script must be a string"
  if (intent !== undefined && typeof intent !== "string") return "intent must be a string"
  if (!isBackground(background)) return "background must be a boolean or an integer from 1 to 86400"
  const trimmed = intent?.trim()
  return { script, ...(trimmed ? { intent: trimmed } : {}), ...(background === undefined ? {} : { background }) }
}

/** The intent of a call as a title for people, `undefined` where it has none (S55). */
export const titleOf = (input: JsonObject): string | undefined => {
  const read = readInput(input)
  return typeof read === "string" ? undefined : read.intent
}

const isBackground = (value: Json | undefined): value is boolean | number | undefined =>
  value === undefined || typeof value === "boolean" || (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 86_400)
