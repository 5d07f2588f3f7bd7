import type { JsonObject } from "./Json.ts"
import type { ToolCall } from "./TurnResult.ts"

const ended = new Set(["completed", "failed", "cancelled"])

interface Row {
  title: string | undefined
  kind: string | undefined
  status: string
}

/**
 * The tool calls of one turn by id, whatever is seen of them first: `tool_call`, an update, or a permission request (R19). A status
 * never leaves `completed`, `failed` or `cancelled` again.
 */
export class ToolTable {
  private readonly rows = new Map<string, Row>()

  /** Takes in what a tool call, an update or a permission's `toolCall` says; without a `toolCallId` it says nothing. */
  upsert(call: JsonObject): void {
    if (typeof call.toolCallId !== "string") return
    const row = this.rows.get(call.toolCallId) ?? { title: undefined, kind: undefined, status: "pending" }
    this.rows.set(call.toolCallId, row)
    if (typeof call.title === "string") row.title = call.title
    else if (call.title === null) row.title = undefined
    if (typeof call.kind === "string") row.kind = call.kind
    if (typeof call.status === "string" && !ended.has(row.status)) row.status = call.status
  }

  /** Title of the call that runs: the latest in progress, else the latest that waits. */
  running(): string | undefined {
    let waiting: string | undefined
    let working: string | undefined
    for (const row of this.rows.values()) {
      if (row.title === undefined || ended.has(row.status)) continue
      if (row.status === "in_progress") working = row.title
      else waiting = row.title
    }
    return working ?? waiting
  }

  list(): ReadonlyArray<ToolCall> {
    return [...this.rows].map(([id, row]) => ({ id, ...row, open: !ended.has(row.status) }))
  }
}
