import { CapturedUpdates, withoutRepeatedOutput } from "./CapturedUpdates.ts"
import { isJsonObject, type Json, type JsonObject } from "./Json.ts"
import type { Limits } from "./Limits.ts"
import { MessageText } from "./MessageText.ts"
import { ToolTable } from "./ToolTable.ts"

/** Kinds that are captured but do not make a turn rich (decision 8). */
const plain = new Set(["usage_update", "session_info_update", "available_commands_update"])

const captured = new Set([
  ...plain,
  "tool_call",
  "tool_call_update",
  "tool_call_content_chunk",
  "terminal_update",
  "terminal_output_chunk",
  "plan",
  "plan_update",
  "plan_removed",
  "notice",
  "compaction_update",
  "compaction_summary_chunk",
])

/** Kinds that are known and no part of what a turn returns (S73). */
const passedOver = new Set([
  "agent_thought",
  "agent_thought_chunk",
  "user_message",
  "user_message_chunk",
  "current_mode_update",
  "config_option_update",
  "state_update",
  "subagent_update",
  "session_message",
  "session_message_chunk",
])

const blocksOf = (content: Json | undefined): ReadonlyArray<Json> =>
  Array.isArray(content) ? content : isJsonObject(content) ? [content] : []

const textOf = (block: Json): string | undefined =>
  isJsonObject(block) && block.type === "text" && typeof block.text === "string" ? block.text : undefined

/** What the updates of one turn add up to. */
export class TurnFold {
  readonly tools = new ToolTable()
  readonly captured: CapturedUpdates
  /** Kinds that nobody here knows, kept within the same bounds. */
  readonly unknown: CapturedUpdates
  readonly text: MessageText
  private richLeftOut = false

  constructor(bounds: Pick<Limits, "items" | "itemBytes" | "answerBytes">) {
    this.text = new MessageText(bounds.answerBytes)
    this.captured = new CapturedUpdates(bounds.items, bounds.itemBytes)
    this.unknown = new CapturedUpdates(bounds.items, bounds.itemBytes)
  }

  /** Something that makes a turn rich is captured and was not taken back, or was left out (decision 8). */
  get rich(): boolean {
    return this.richLeftOut || this.captured.items().some((update) => !plain.has(String(update.sessionUpdate)))
  }

  /** Folds one update; `kind` is its `sessionUpdate`. */
  add(kind: string, update: JsonObject): void {
    switch (kind) {
      case "agent_message_chunk":
        this.chunk(update)
        return
      case "agent_message":
        this.whole(update)
        return
      case "tool_call":
      case "tool_call_update":
        this.tools.upsert(update)
        this.capture(kind, withoutRepeatedOutput(update))
        return
      default:
        if (captured.has(kind)) this.capture(kind, update)
        else if (!passedOver.has(kind)) this.unknown.add(update)
    }
  }

  private capture(kind: string, update: JsonObject, messageId?: string): void {
    if (!this.captured.add(update, messageId) && !plain.has(kind)) this.richLeftOut = true
  }

  private chunk(update: JsonObject): void {
    const id = typeof update.messageId === "string" ? update.messageId : undefined
    const content = update.content
    if (isJsonObject(content) && content.type === "text" && typeof content.text === "string") {
      this.text.append(id, content.text)
      return
    }
    this.text.append(id, "")
    for (const block of blocksOf(content)) {
      const text = textOf(block)
      if (text !== undefined) this.text.append(id, text)
      else this.capture("agent_message_chunk", update, id)
    }
  }

  private whole(update: JsonObject): void {
    const id = typeof update.messageId === "string" ? update.messageId : undefined
    if (update.content === undefined) {
      this.text.append(id, "")
      return
    }
    if (id !== undefined) this.captured.release(id)
    const blocks = blocksOf(update.content)
    this.text.replace(id, blocks.map((block) => textOf(block) ?? "").join(""))
    for (const block of blocks) {
      if (textOf(block) !== undefined) continue
      this.capture(
        "agent_message_chunk",
        { sessionUpdate: "agent_message_chunk", ...(id === undefined ? {} : { messageId: id }), content: block },
        id,
      )
    }
  }
}
