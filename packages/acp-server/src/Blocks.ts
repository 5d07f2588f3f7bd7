import type { Blocks } from "@acp-kit/agent/Item"

/** The content of a prompt as the agent keeps it: the blocks as they came. */
export const blocksOf = (content: ReadonlyArray<object>): Blocks => content as unknown as Blocks
