import { type ChildContent, ChildContents } from "@acp-kit/orchestrator/ChildContent"
import type { HandleValue, Interface as Subagents } from "@acp-kit/orchestrator/Subagents"
import { SubagentTools } from "@acp-kit/orchestrator/SubagentTools"
import type { Json, JsonObject, Tool, ToolFailure } from "@acp-kit/runlet/Host"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"

/**
 * What a viewer is told of a call of `subagent`, `prompt` or `fork`: that it began, then how it ended. `id` is the card's, unique in the session: that
 * of the compose call, `:compose:`, and the call's own within the program.
 */
export type ChildCard = { readonly type: "child"; readonly id: string; readonly verb: string } & (
  | { readonly state: "started"; readonly title: string; readonly input: Json }
  | { readonly state: "completed"; readonly title: string; readonly value: HandleValue }
  | { readonly state: "failed"; readonly code: string; readonly message: string }
  | { readonly state: "cancelled" }
)

const turns = new Set(["subagent", "prompt", "fork"])

/** Characters of a name in a title; names of children are shorter, a program may write anything. */
const nameLength = 64

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const titleOf = (verb: string, name: Json | undefined): string =>
  typeof name === "string" && name !== "" ? `${verb} ${name.slice(0, nameLength)}` : verb

/** The name that a call gives to its child, else that of the child it is about. */
const nameIn = (input: Json): Json | undefined =>
  isObject(input) ? (input.name ?? (isObject(input.subagent) ? input.subagent.name : undefined)) : undefined

const endOf = (verb: string, exit: Exit.Exit<Json, ToolFailure>, value: HandleValue | undefined) => {
  if (value !== undefined) return { state: "completed", title: titleOf(verb, value.name), value } as const
  const failure = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.findErrorOption(exit.cause)) : undefined
  if (failure === undefined || failure.code === "CANCELLED") return { state: "cancelled" } as const
  return { state: "failed", code: failure.code, message: failure.message } as const
}

/** The verbs as tools of the program of one compose call; `tell` is told of the turns that children have, in order and awaited (S80). */
export const tools = (
  subagents: Subagents,
  compose: string,
  tell: (card: ChildCard) => Effect.Effect<void>,
): ReadonlyArray<Tool> => {
  const values = new Map<string, HandleValue>()
  const onTurn = ({ call, value }: SubagentTools.TurnOfCall) => Effect.sync(() => void values.set(call, value))
  const carded = (tool: Tool): Tool => ({
    ...tool,
    handler: (args, context) => {
      const { dispatchId } = context
      const input = args[0] ?? null
      const card = { type: "child", id: `${compose}:compose:${dispatchId}`, verb: tool.name } as const
      return tell({ ...card, state: "started", title: titleOf(tool.name, nameIn(input)), input }).pipe(
        Effect.andThen(tool.handler(args, context)),
        Effect.onExit((exit) => {
          const value = values.get(dispatchId)
          values.delete(dispatchId)
          return tell({ ...card, ...endOf(tool.name, exit, value) })
        }),
      )
    },
  })
  return SubagentTools.make(subagents, { onTurn }).map((tool) => (turns.has(tool.name) ? carded(tool) : tool))
}

/** What the card of a completed call shows of the child's work. */
export const contentOf = ({ id, value }: ChildCard & { readonly state: "completed" }): ChildContent => ChildContents.of(value, id)

export * as ChildCards from "./ChildCards.ts"
