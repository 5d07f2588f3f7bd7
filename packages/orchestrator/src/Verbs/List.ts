import type { Json } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import { Arguments } from "../Arguments.ts"
import { rowOf } from "../Child.ts"
import { shown } from "../Handles.ts"
import type { Parent } from "../Parent.ts"
import type { SubagentError } from "../SubagentError.ts"

/** `subagents({})` (S23): the live direct children, in the order of their admission. */
export const subagents = Effect.fn("Subagents.subagents")(function* (
  parent: Parent,
  input: Json,
): Effect.fn.Return<ReadonlyArray<Json>, SubagentError> {
  yield* Effect.fromResult(Arguments.read("subagents", input, []))
  return parent.children.all.flatMap((child) => {
    const status = shown[child.state]
    if (status === undefined) return []
    const { id, name, generation, task } = rowOf(child, status)
    return [{ id, name, status, generation, task }]
  })
})
