import type { JsonObject } from "@acp-kit/protocol/Json"

const key = "kit.subagent.parent_id"

/** The id that a parent Kit has for the branch it asks for, from the `_meta` of `session/fork`; `undefined` where there is none. */
export const branchIdOf = (meta: { readonly [key: string]: unknown } | null | undefined): string | undefined => {
  const id = meta?.[key]
  return typeof id === "string" ? id : undefined
}

/** What the answer to `session/fork` says of where the branch comes from. */
export const lineageOf = (source: string): JsonObject => ({ "kit/forkedFrom": source })
