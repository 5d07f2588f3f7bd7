import type { Json, JsonObject } from "@acp-kit/protocol/Json"

/** The longest error message that leaves, in characters. */
const messageLength = 2000

/** An outbound message as it may leave: an internal error tells nothing but its message, and every error message is one line. */
export const redact = (message: JsonObject): JsonObject => {
  const error = message.error
  if (!isObject(error)) return message
  const { data, ...rest } = error
  const text = oneLine(String(error.message ?? ""))
  const kept = error.code === -32603 || data === undefined ? rest : { ...rest, data }
  return { ...message, error: { ...kept, message: text === "" ? "error" : text } }
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A text on one line: runs of white space and control characters become one space. */
export const oneLine = (text: string): string => {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim()
  return line.length > messageLength ? `${line.slice(0, messageLength - 1)}…` : line
}

export * as Redaction from "./Redaction.ts"
