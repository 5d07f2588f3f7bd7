import type { Json, JsonObject } from "@acp-kit/protocol/Json"

/** An id as JSON-RPC has them; wide integers are exact. */
export type MessageId = string | number | bigint | null

/** What a message is; `none` of the kinds of JSON-RPC where it breaks their rules. */
export type Shape = "request" | "notification" | "answer" | "none"

/** Fractions and what JSON has no number for are none. */
export const isId = (id: Json | undefined): id is MessageId =>
  typeof id === "string" || typeof id === "bigint" || id === null || Number.isSafeInteger(id)

/** Judges a message from outside by its own fields; parameters are not looked at. */
export const shapeOf = (message: JsonObject): Shape => {
  if (message.jsonrpc !== "2.0") return "none"
  const { id } = message
  if (!("method" in message)) return isId(id) && ("result" in message || "error" in message) ? "answer" : "none"
  if (typeof message.method !== "string") return "none"
  if (!("id" in message)) return "notification"
  return isId(id) ? "request" : "none"
}

/**
 * A notification as it may reach the SDK, which writes to stderr of those whose parameters it cannot read; `undefined` where that would be all
 * that came of it.
 */
export const passable = (notification: JsonObject): JsonObject | undefined => {
  const { method, params } = notification
  if (method !== "session/cancel") return notification
  const sessionId = typeof params === "object" && params !== null && "sessionId" in params ? params.sessionId : undefined
  return typeof sessionId === "string" ? { ...notification, params: { sessionId } } : undefined
}
