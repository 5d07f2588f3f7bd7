import type { ChildCard } from "@acp-kit/agent/ChildCards"
import { CompactJson } from "@acp-kit/agent/CompactJson"
import { titleOf } from "@acp-kit/agent/ComposeInput"
import type { Item } from "@acp-kit/agent/Item"
import type { JsonObject } from "@acp-kit/protocol/Json"

type Call = Item & { readonly type: "call" }
type Result = Item & { readonly type: "result" }
type Started = ChildCard & { readonly state: "started" }
type Ended = Exclude<ChildCard, { readonly state: "started" }>

/** What a compose call is called until its intent is known. */
const callTitle = "compose"

/** A result as a person reads it: a string as it is, a failure as its message, the rest as compact JSON. */
const resultText = ({ status, output }: Result): string => {
  if (typeof output === "string") return output
  if (status === "completed" || typeof output !== "object" || output === null || !("message" in output))
    return CompactJson.encode(output)
  return `${String(output.code)}: ${String(output.message)}`
}

const text = (text: string) => ({ type: "content" as const, content: { type: "text" as const, text } })

/** The fields with which the card of a call appears. */
export const opening = ({ id, input }: Call) =>
  ({ toolCallId: id, title: callTitle, kind: "execute", status: "pending", rawInput: input }) as const

/** The update that follows: the call is at work, under the title of its intent. */
export const working = ({ id, input }: Call) =>
  ({
    sessionUpdate: "tool_call_update",
    toolCallId: id,
    title: titleOf(input) ?? callTitle,
    status: "in_progress",
  }) as const

/** The update of a call's result; `cancelled` is what a call is called that was cut off. */
export const result = <Cancelled extends string>(item: Result, cancelled: Cancelled) => {
  const statuses = {
    completed: "completed",
    failed: "failed",
    cancelled,
    interrupted: cancelled,
    detached: "in_progress",
  } as const
  return {
    sessionUpdate: "tool_call_update" as const,
    toolCallId: item.id,
    status: statuses[item.status],
    content: [text(resultText(item))],
    rawOutput: item.output,
  }
}

/** The fields with which the card of a child's turn appears (S80). */
export const childOpening = ({ id, title, input }: Started) =>
  ({ toolCallId: id, title, kind: "other", status: "in_progress", rawInput: input }) as const

/** The update of a child's turn that ended; `rich` and `meta` are what is shown beside the text of one that was completed. */
export const childEnd = (
  card: Ended,
  cancelled: string,
  rich: ReadonlyArray<JsonObject>,
  meta: JsonObject | undefined,
): JsonObject => {
  const update = { sessionUpdate: "tool_call_update", toolCallId: card.id }
  if (card.state === "cancelled") return { ...update, status: cancelled, content: [text("CANCELLED: nested agent cancelled")] }
  if (card.state === "failed") return { ...update, status: "failed", content: [text(`${card.code}: ${card.message}`)] }
  const { title, value } = card
  const said = typeof value.output === "string" ? value.output : CompactJson.encode(value.output)
  return {
    ...update,
    title,
    status: "completed",
    content: [...(said === "" ? [] : [text(said)]), ...rich],
    rawOutput: { ...value },
    ...(meta === undefined ? {} : { _meta: meta }),
  }
}

export * as CallCards from "./CallCards.ts"
