import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import * as Hash from "effect/Hash"
import * as TextDiff from "effect/TextDiff"
import { isObject } from "./Arguments.ts"
import type { Updates } from "./Capture.ts"
import { childTerminals, type Terminal } from "./ChildTerminals.ts"

/** What a client of Kit is shown of a child's turn, on the card of the call that had it. */
export interface ChildContent {
  /** Content of the card for a client of v1: file snapshots, `{type: "diff", path, oldText?, newText}`. */
  readonly v1: ReadonlyArray<JsonObject>
  /** Content of the card for a client of v2: file changes and terminals, whose ids are those of `terminals`. */
  readonly v2: ReadonlyArray<JsonObject>
  /** Updates that make the terminals known and replay them, in order, before the card names them; v2 only. */
  readonly terminals: ReadonlyArray<JsonObject>
  /** For the card's update: `kit/outputIncomplete` where something is missing. */
  readonly meta: JsonObject | undefined
}

/** Rich items on one card (S83). */
export const limit = 64

/** Edits a patch is searched for at most; beyond, it says less finely what changed. */
const maxEdits = 1_000

const isRich = (entry: Json): entry is JsonObject => isObject(entry) && (entry.type === "diff" || entry.type === "terminal")

/** The content of each tool call as its last update left it: updates replace, null clears, chunks append (S80). */
const contentOf = (items: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> => {
  const calls = new Map<string, ReadonlyArray<Json>>()
  for (const { sessionUpdate, toolCallId, content } of items) {
    if (typeof toolCallId !== "string") continue
    if (sessionUpdate === "tool_call_content_chunk") {
      if (content !== undefined) calls.set(toolCallId, [...(calls.get(toolCallId) ?? []), content])
    } else if (sessionUpdate === "tool_call" || sessionUpdate === "tool_call_update") {
      if (Array.isArray(content)) calls.set(toolCallId, content)
      else if (content === null) calls.delete(toolCallId)
    }
  }
  return [...calls.values()].flat().filter(isRich)
}

const isSnapshot = (entry: JsonObject): boolean => typeof entry.path === "string" && typeof entry.newText === "string"

/** A v1 file snapshot as a v2 file change (S81). */
const changeOf = ({ path, oldText, newText, ...rest }: JsonObject): JsonObject => {
  const before = typeof oldText === "string" ? oldText : ""
  const file = String(path).replace(/^\//, "")
  const operation = typeof oldText === "string" ? "modify" : "add"
  const patch = TextDiff.unified(TextDiff.lines(before, String(newText), { maxEdits }), {
    fromFile: operation === "add" ? "/dev/null" : `a/${file}`,
    toFile: `b/${file}`,
  })
  const head = `diff --git a/${file} b/${file}\n${operation === "add" ? "new file mode 100644\n" : ""}`
  return {
    ...("_meta" in rest ? { _meta: rest._meta as Json } : {}),
    type: "diff",
    changes: [{ operation, path: String(path) }],
    ...(patch === "" ? {} : { patch: { format: "git_patch", text: head + patch } }),
  }
}

/** The id of a child's terminal on the card of one call; outside of it the child's own ids stay as they are (S82). */
const scopedId = (child: string, call: string, terminal: string): string => {
  const parts = [child, call, terminal].map((part) => (Hash.string(part) >>> 0).toString(16).padStart(8, "0"))
  return `child-${parts.join("")}`
}

/**
 * What the card of a successful `subagent`, `prompt` or `fork` shows of the child's turn (S80 to S83), made of the captured updates alone: they are
 * left as they are, and no captured command is run. A turn that captured nothing has nothing to show; nor has one that failed.
 */
export const of = (value: { readonly id: string; readonly updates?: Json }, call: string): ChildContent => {
  const { items, truncated } = (isObject(value.updates) ? value.updates : { items: [], truncated: false }) as Updates
  const all = contentOf(items)
  const shown = all.slice(0, limit)
  const named = new Set(shown.flatMap((entry) => (typeof entry.terminalId === "string" ? [entry.terminalId] : [])))
  const rename = (terminal: string) => scopedId(value.id, call, terminal)
  const terminals: ReadonlyArray<Terminal> = childTerminals(items, truncated, rename).filter(({ id }) => named.has(id))
  const known = new Set(terminals.map(({ id }) => id))
  const v2 = shown.flatMap((entry): ReadonlyArray<JsonObject> => {
    if (entry.type === "diff") return [isSnapshot(entry) ? changeOf(entry) : entry]
    const { terminalId } = entry
    return typeof terminalId === "string" && known.has(terminalId) ? [{ ...entry, terminalId: rename(terminalId) }] : []
  })
  const incomplete = truncated || all.length > limit
  return {
    v1: shown.filter((entry) => entry.type === "diff" && isSnapshot(entry)),
    v2,
    terminals: terminals.flatMap(({ updates }) => updates),
    meta: incomplete ? { "kit/outputIncomplete": true, "kit/parentToolCallId": call } : undefined,
  }
}

export * as ChildContents from "./ChildContent.ts"
