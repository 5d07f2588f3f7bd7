import type { Reply } from "./Connection.ts"
import { isJsonObject, type Json, type JsonObject } from "./Json.ts"
import { codes } from "./Message.ts"

const cancelled: Json = { outcome: { outcome: "cancelled" } }

/**
 * The answer to `session/request_permission` (S140): the first option of kind `allow_always`, else the first `allow_once`, else
 * cancelled; never a rejection. Option ids are opaque.
 */
export const answerPermission = (params: Json | undefined): Json => {
  const options = isJsonObject(params) && Array.isArray(params.options) ? (params.options as ReadonlyArray<Json>) : []
  for (const kind of ["allow_always", "allow_once"]) {
    for (const option of options) {
      if (isJsonObject(option) && option.kind === kind && typeof option.optionId === "string") {
        return { outcome: { outcome: "selected", optionId: option.optionId } }
      }
    }
  }
  return cancelled
}

/**
 * The answer to any request of an agent: permissions as above (`cancelled` where nothing is permitted any more), elicitation is cancelled
 * (S141), everything else is not found, filesystem and terminal included (S113).
 */
export const answerRequest = (method: string, params: Json | undefined, denied: boolean): Reply => {
  switch (method) {
    case "session/request_permission":
      return { result: denied ? cancelled : answerPermission(params) }
    case "elicitation/create":
      return { result: { action: "cancel" } }
    case "session/update":
      return { result: {} }
    default:
      return { error: { code: codes.methodNotFound, message: "Method not found" } }
  }
}

/** The tool call that a permission request is about: `toolCall` on v1, `subject.toolCall` on v2. */
export const toolCallOf = (params: Json | undefined): JsonObject | undefined => {
  if (!isJsonObject(params)) return undefined
  const call = params.toolCall ?? (isJsonObject(params.subject) ? params.subject.toolCall : undefined)
  return isJsonObject(call) ? call : undefined
}
