import { SubagentError } from "./SubagentError.ts"

/** `acp.<name>`, as configuration and programs write it (S121). */
export type HarnessReference = `acp.${string}`

/** The harness that is always there (S90). */
export const kit: HarnessReference = "acp.kit"

const namePattern = /^[^\s.]+$/

/** Whether `name` may stand behind `acp.`: non-empty, no whitespace, no dots. */
export const isName = (name: string): boolean => namePattern.test(name)

/** Whether `text` is a well-formed reference; it need not be configured. */
export const isReference = (text: unknown): text is HarnessReference =>
  typeof text === "string" && text.startsWith("acp.") && isName(text.slice("acp.".length))

/** The refusal of anything that is no reference (S122). */
export const malformed = (written: unknown): SubagentError =>
  new SubagentError({
    code: "BAD_HARNESS_REFERENCE",
    message: `ACP harness references must use acp.<name>, got ${typeof written === "string" ? JSON.stringify(written) : typeof written}`,
    retryable: false,
  })
