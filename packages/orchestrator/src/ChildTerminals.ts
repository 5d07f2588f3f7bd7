import type { JsonObject } from "@acp-kit/runlet/Host"
import { isObject } from "./Arguments.ts"

/** One terminal that a child ran, and how its output is replayed to a client. */
export interface Terminal {
  /** The child's own id of it. */
  readonly id: string
  /** `terminal_update` and `terminal_output_chunk`, ids renamed, in the order in which the child sent them. */
  readonly updates: ReadonlyArray<JsonObject>
}

/** Letters of a signal's name; a longer one is no signal. */
const signalLength = 128

/** An exit as the child reported it; what it did not say stays unknown. */
const exitOf = (update: JsonObject): JsonObject => {
  const { exitStatus, ...rest } = update
  if (!isObject(exitStatus)) return update
  const { signal, ...exit } = exitStatus
  const kept = typeof signal === "string" && signal.length > signalLength ? exit : exitStatus
  return { ...rest, exitStatus: kept }
}

const hasExit = ({ exitStatus }: JsonObject): boolean =>
  isObject(exitStatus) && (typeof exitStatus.exitCode === "number" || typeof exitStatus.signal === "string")

/**
 * The terminals of a turn (S82). Each begins with an update that makes it known; what lacks its exit, or may lack output because the capture was cut,
 * ends with one that says so.
 */
export const childTerminals = (
  items: ReadonlyArray<JsonObject>,
  truncated: boolean,
  rename: (id: string) => string,
): ReadonlyArray<Terminal> => {
  const terminals = new Map<string, Array<JsonObject>>()
  for (const { _meta: _, ...item } of items) {
    const { sessionUpdate, terminalId } = item
    if (typeof terminalId !== "string") continue
    if (sessionUpdate !== "terminal_update" && sessionUpdate !== "terminal_output_chunk") continue
    const id = rename(terminalId)
    const updates = terminals.get(terminalId) ?? []
    if (updates.length === 0 && sessionUpdate !== "terminal_update")
      updates.push({ sessionUpdate: "terminal_update", terminalId: id })
    updates.push(exitOf({ ...item, terminalId: id }))
    terminals.set(terminalId, updates)
  }
  return [...terminals].map(([id, updates]) => {
    if (!truncated && updates.some(hasExit)) return { id, updates }
    const incomplete = { sessionUpdate: "terminal_update", terminalId: rename(id), _meta: { "kit/outputIncomplete": true } }
    return { id, updates: [...updates, incomplete] }
  })
}
