import { admitContent } from "@acp-kit/protocol/Content"
import type { Json } from "@acp-kit/runlet/Host"
import * as Result from "effect/Result"
import { invalid, isObject } from "./Arguments.ts"
import { SubagentError } from "./SubagentError.ts"

const unsupported = (message: string): SubagentError =>
  new SubagentError({ code: "UNSUPPORTED_CONTENT", message, retryable: false })

/** Whether a Kit File reference stands anywhere in a value. */
const holdsFile = (root: Json): boolean => {
  const values: Array<Json> = [root]
  for (let value = values.pop(); value !== undefined; value = values.pop()) {
    if (typeof value !== "object" || value === null) continue
    if (isObject(value) && value.$kit === "file") return true
    for (const part of Object.values(value)) values.push(part)
  }
  return false
}

/**
 * A `prompt` argument as content blocks (S01): a string is one text block, an array is taken as it is. What no child could take is refused here, before
 * anything starts, and so is what needs a message of more than `lineBytes`; what this child cannot take, once it is known (S05). A Kit File reference is never expanded nor sent (S08).
 */
export const read = (prompt: Json | undefined, lineBytes: number): Result.Result<ReadonlyArray<Json>, SubagentError> => {
  if (typeof prompt !== "string" && prompt !== undefined && holdsFile(prompt)) {
    return Result.fail(
      unsupported("a Kit File reference is not passed on to a child; give it a resource_link or a content block instead"),
    )
  }
  const blocks = typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt
  if (!Array.isArray(blocks)) return Result.fail(invalid("prompt must be a string or a non-empty array of ACP content blocks"))
  return Result.mapError(admitContent(blocks, { image: true, embeddedContext: true }, lineBytes), ({ reason, message }) =>
    reason === "empty" ? invalid(message) : unsupported(message),
  )
}

export * as PromptContent from "./PromptContent.ts"
