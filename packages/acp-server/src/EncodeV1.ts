import type { SessionEvent } from "@acp-kit/agent/AgentSession"
import { type ChildCard, ChildCards } from "@acp-kit/agent/ChildCards"
import type { Item } from "@acp-kit/agent/Item"
import type { ConfigOption } from "@acp-kit/agent/SessionOptions"
import type { ContentBlock, SessionConfigOption, SessionUpdate, StopReason } from "@agentclientprotocol/sdk/unstable"
import { CallCards } from "./CallCards.ts"

/** What a client has asked for that decides what it is sent. */
export interface Features {
  /** It takes `notice` updates. */
  readonly notices: boolean
  /** Its capabilities name `kit/turn/state` in their `_meta`: it is told of turns that no prompt began. */
  readonly turnState: boolean
}

/** The updates of one live event, in order. What was streamed is not repeated when it is recorded. */
export const live = (event: SessionEvent, features: Features): ReadonlyArray<SessionUpdate> => {
  switch (event.type) {
    case "delta": {
      const sessionUpdate = event.kind === "answer" ? "agent_message_chunk" : "agent_thought_chunk"
      return [{ sessionUpdate, messageId: event.id, content: { type: "text", text: event.text } }]
    }
    case "usage":
      return [{ sessionUpdate: "usage_update", used: event.used, size: event.window }]
    case "title":
      return [{ sessionUpdate: "session_info_update", title: event.title }]
    case "superseded":
      return features.notices
        ? [{ sessionUpdate: "notice", severity: "warning", title: "Response interrupted; replacement follows" }]
        : []
    case "notice":
      return features.notices ? [{ sessionUpdate: "notice", severity: event.severity, title: event.title }] : []
    case "started":
    case "stopped":
      return []
    case "child":
      return child(event)
    case "item":
      return event.item.type === "call" || event.item.type === "result" ? replay(event.item) : []
  }
}

/** The updates of a child's turn; a client of this version gets file snapshots and no terminals (S81). */
const child = (card: ChildCard): ReadonlyArray<SessionUpdate> => {
  if (card.state === "started") return [{ sessionUpdate: "tool_call", ...CallCards.childOpening(card) }]
  const shown = card.state === "completed" ? ChildCards.contentOf(card) : undefined
  return [CallCards.childEnd(card, "failed", shown?.v1 ?? [], shown?.meta) as unknown as SessionUpdate]
}

/**
 * The parameters of `kit/turn/state`, which tells of a turn that no prompt began; `undefined` where the event is none of its beginning or end. Such a
 * turn is named after the call whose end woke the session.
 */
export const turnState = (sessionId: string, event: SessionEvent) => {
  if ((event.type !== "started" && event.type !== "stopped") || event.woken === undefined) return undefined
  const error = event.type === "stopped" && event.stop.reason === "error" ? (event.stop.message ?? "internal error") : null
  return { session_id: sessionId, turn_id: event.woken, active: event.type === "started", error }
}

/** The updates that tell a recorded item anew. */
export const replay = (item: Item): ReadonlyArray<SessionUpdate> => {
  switch (item.type) {
    case "prompt":
    case "steer":
      return item.content.map((content) => ({
        sessionUpdate: "user_message_chunk",
        messageId: item.id,
        content: content as unknown as ContentBlock,
      }))
    case "answer":
      return [{ sessionUpdate: "agent_message_chunk", messageId: item.id, content: { type: "text", text: item.text } }]
    case "thought":
      return [{ sessionUpdate: "agent_thought_chunk", messageId: item.id, content: { type: "text", text: item.text } }]
    case "call":
      return [{ sessionUpdate: "tool_call", ...CallCards.opening(item) }, CallCards.working(item)]
    case "result":
      return [CallCards.result(item, "failed")]
    case "stop":
    case "selection":
      return []
  }
}

/** The reason of a prompt's answer; a turn that failed has an error instead. */
export const stopReason = (reason: Exclude<(Item & { type: "stop" })["reason"], "error">): StopReason => reason

/** The configuration options of a session. */
export const options = (list: ReadonlyArray<ConfigOption>): Array<SessionConfigOption> =>
  list.map(({ id, name, category, current, choices }) => ({
    type: "select",
    id,
    name,
    category,
    currentValue: current,
    options: choices.map((choice) => ({ ...choice })),
  }))

export * as EncodeV1 from "./EncodeV1.ts"
