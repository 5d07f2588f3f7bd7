import type { SessionEvent } from "@acp-kit/agent/AgentSession"
import { titleOf } from "@acp-kit/agent/ComposeInput"
import type { Item } from "@acp-kit/agent/Item"
import type { ConfigOption } from "@acp-kit/agent/SessionOptions"
import type { ContentBlock, SessionConfigOption, SessionUpdate, StopReason } from "@agentclientprotocol/sdk/unstable"
import { callTitle, resultText } from "./CallText.ts"

/** What a client has asked for that decides what it is sent. */
export interface Features {
  /** It takes `notice` updates. */
  readonly notices: boolean
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
    case "item":
      return event.item.type === "call" || event.item.type === "result" ? replay(event.item) : []
  }
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
      return [
        {
          sessionUpdate: "tool_call",
          toolCallId: item.id,
          title: callTitle,
          kind: "execute",
          status: "pending",
          rawInput: item.input,
        },
        {
          sessionUpdate: "tool_call_update",
          toolCallId: item.id,
          title: titleOf(item.input) ?? callTitle,
          status: "in_progress",
        },
      ]
    case "result":
      return [
        {
          sessionUpdate: "tool_call_update",
          toolCallId: item.id,
          status: statuses[item.status],
          content: [{ type: "content", content: { type: "text", text: resultText(item) } }],
          rawOutput: item.output,
        },
      ]
    case "stop":
    case "selection":
      return []
  }
}

const statuses = { completed: "completed", failed: "failed", interrupted: "failed", detached: "in_progress" } as const

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
