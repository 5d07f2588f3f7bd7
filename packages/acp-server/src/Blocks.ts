import type { Blocks } from "@acp-kit/agent/Item"
import * as Effect from "effect/Effect"
import { ParamsInvalid } from "./Bridge.ts"

/** What every agent takes, and what `initialize` offers beside it. */
const kinds: ReadonlyArray<unknown> = ["text", "resource_link", "image", "resource"]

/** The content of a prompt as the agent keeps it: the blocks as they came. Nothing of one with a block that is not offered is taken. */
export const blocksOf = (content: ReadonlyArray<object>): Effect.Effect<Blocks, ParamsInvalid> => {
  const blocks = content as Blocks
  const strange = blocks.find(({ type }) => !kinds.includes(type))
  if (strange === undefined) return Effect.succeed(blocks)
  return Effect.fail(new ParamsInvalid({ message: `content of type ${JSON.stringify(strange.type)} is not supported` }))
}
