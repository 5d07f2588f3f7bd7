import { CompactJson } from "@acp-kit/agent/CompactJson"
import type { Item } from "@acp-kit/agent/Item"

/** What a compose call is called until its intent is known. */
export const callTitle = "compose"

/** A result as a person reads it: a string as it is, a failure as its message, the rest as compact JSON. */
export const resultText = ({ status, output }: Item & { readonly type: "result" }): string => {
  if (typeof output === "string") return output
  if (status === "completed" || typeof output !== "object" || output === null || !("message" in output))
    return CompactJson.encode(output)
  return `${String(output.code)}: ${String(output.message)}`
}
