import type { SessionEvent } from "@acp-kit/agent/AgentSession"
import { type ChildCard, ChildCards } from "@acp-kit/agent/ChildCards"
import type { Item } from "@acp-kit/agent/Item"
import type { ConfigOption } from "@acp-kit/agent/SessionOptions"
import type { ContentBlock, SessionConfigOption, SessionUpdate } from "@agentclientprotocol/sdk/experimental/v2/unstable"
import { CallCards } from "./CallCards.ts"

/** The updates of one live event, in order. A prompt is echoed and opens the turn, its stop closes it. */
export const live = (event: SessionEvent): ReadonlyArray<SessionUpdate> => {
  switch (event.type) {
    case "delta": {
      const chunk = { messageId: event.id, content: { type: "text", text: event.text } } as const
      return [
        event.kind === "answer"
          ? { sessionUpdate: "agent_message_chunk", ...chunk }
          : { sessionUpdate: "agent_thought_chunk", ...chunk },
      ]
    }
    case "usage":
      return [{ sessionUpdate: "usage_update", used: event.used, size: event.window }]
    case "title":
      return [{ sessionUpdate: "session_info_update", title: event.title }]
    case "notice":
      return [{ sessionUpdate: "notice", severity: event.severity, title: event.title }]
    case "superseded":
      return event.items.flatMap((item) => takeBack(item))
    case "started":
      return [{ sessionUpdate: "state_update", state: "running" }]
    case "stopped":
      return [...failureNotice(event.stop), idle(event.stop.reason, event.background)]
    case "child":
      return child(event)
    case "item":
      return event.item.type === "answer" || event.item.type === "thought" ? [] : replay(event.item)
  }
}

const takeBack = (item: Item): ReadonlyArray<SessionUpdate> => {
  if (item.type === "answer") return [{ sessionUpdate: "agent_message", messageId: item.id, content: [] }]
  return item.type === "thought" ? [{ sessionUpdate: "agent_thought", messageId: item.id, content: [] }] : []
}

const failureNotice = ({ reason, message }: Stop): ReadonlyArray<SessionUpdate> =>
  reason === "error" && message !== undefined ? [{ sessionUpdate: "notice", severity: "error", title: message }] : []

type Stop = Item & { readonly type: "stop" }

/** A turn that failed ends with a reason of our own: the protocol's `error` is not in every revision of version 2. */
const idle = (reason: Stop["reason"], background: ReadonlyArray<string>) =>
  ({
    sessionUpdate: "state_update",
    state: "idle",
    stopReason: reason === "error" ? "_error" : reason,
    ...(background.length === 0 ? {} : { background: background.map((toolCallId) => ({ type: "tool_call", toolCallId })) }),
  }) as SessionUpdate

/** What a session that is not at work is: the snapshot that ends an attachment. */
export const atRest: SessionUpdate = { sessionUpdate: "state_update", state: "idle" }

/** The updates of a child's turn: its terminals are there before the card that names them (S82). */
const child = (card: ChildCard): ReadonlyArray<SessionUpdate> => {
  if (card.state === "started") return [{ sessionUpdate: "tool_call_update", name: card.verb, ...CallCards.childOpening(card) }]
  const shown = card.state === "completed" ? ChildCards.contentOf(card) : undefined
  const end = CallCards.childEnd(card, "cancelled", shown?.v2 ?? [], shown?.meta)
  return [...(shown?.terminals ?? []), end] as unknown as ReadonlyArray<SessionUpdate>
}

/** The updates that tell a recorded item anew, with the ids it had. */
export const replay = (item: Item): ReadonlyArray<SessionUpdate> => {
  switch (item.type) {
    case "prompt":
    case "steer":
      return [{ sessionUpdate: "user_message", messageId: item.id, content: item.content as unknown as Array<ContentBlock> }]
    case "answer":
      return [{ sessionUpdate: "agent_message", messageId: item.id, content: [{ type: "text", text: item.text }] }]
    case "thought":
      return [{ sessionUpdate: "agent_thought", messageId: item.id, content: [{ type: "text", text: item.text }] }]
    case "call":
      return [{ sessionUpdate: "tool_call_update", name: item.name, ...CallCards.opening(item) }, CallCards.working(item)]
    case "result":
      return [CallCards.result(item, "cancelled")]
    case "stop":
    case "selection":
      return []
  }
}

/** The configuration options of a session. */
export const options = (list: ReadonlyArray<ConfigOption>): Array<SessionConfigOption> =>
  list.map(({ id, name, category, current, choices }) => ({
    type: "select",
    configId: id,
    name,
    category,
    currentValue: current,
    options: choices.map((choice) => ({ ...choice })),
  }))

export * as EncodeV2 from "./EncodeV2.ts"
