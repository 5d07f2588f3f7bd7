import type { JsonObject } from "./Json.ts"
import type { ToolCall } from "./TurnResult.ts"

/** What the table may hold of one turn, in characters; a row counts 64 more. Beyond it nothing is added, statuses still change. */
const roomy = 4 * 1024 * 1024
const rowCharacters = 64

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
  private held = 0

  /** Takes in what a tool call, an update or a permission's `toolCall` says; without a `toolCallId` it says nothing. */
  upsert(call: JsonObject): void {
    const row = typeof call.toolCallId === "string" ? this.row(call.toolCallId) : undefined
    if (row === undefined) return
    if (typeof call.title === "string" && this.fits(call.title, row.title)) row.title = call.title
    else if (call.title === null && this.fits("", row.title)) row.title = undefined
    if (typeof call.kind === "string" && this.fits(call.kind, row.kind)) row.kind = call.kind
    if (typeof call.status === "string" && !ended.has(row.status) && this.fits(call.status, row.status)) row.status = call.status
  }

  private row(id: string): Row | undefined {
    const known = this.rows.get(id)
    if (known !== undefined) return known
    if (!this.fits(id, undefined, rowCharacters)) return undefined
    const row: Row = { title: undefined, kind: undefined, status: "pending" }
    this.rows.set(id, row)
    return row
  }

  private fits(text: string, before: string | undefined, more = 0): boolean {
    const after = this.held + text.length + more - (before?.length ?? 0)
    if (after > roomy && after > this.held) return false
    this.held = after
    return true
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
