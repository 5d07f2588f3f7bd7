import { parseJson } from "@acp-kit/protocol/Json"
import type { Json } from "@acp-kit/runlet/Host"
import { is as isAgentId } from "@acp-kit/store/AgentId"
import type { ChildRecord } from "@acp-kit/store/ChildRecord"
import { isObject } from "./Arguments.ts"
import type { Updates } from "./Capture.ts"
import { type Child, make } from "./Child.ts"
import type { Harnesses } from "./Harness.ts"
import { isReference } from "./HarnessReference.ts"
import { Task } from "./Task.ts"
import { inferVendor } from "./Vendor.ts"

const text = (value: Json | undefined): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

const updatesOf = (value: Json | undefined): Updates | undefined =>
  isObject(value) && Array.isArray(value.items) && value.items.every(isObject) && typeof value.truncated === "boolean"
    ? { items: value.items, truncated: value.truncated }
    : undefined

/**
 * The child of a durable record: a handle between turns and without a process, where the record is of a completed turn; else `undefined` (decision 21).
 * `rename` gives it its name again, another one where that is taken (S41).
 */
export const childOf = (record: ChildRecord, harnesses: Harnesses, rename: (name: string) => string): Child | undefined => {
  const { id, harness, lifecycle } = record
  if (lifecycle !== "Idle" || !isAgentId(id) || !isReference(harness)) return undefined
  const { model, agent, snapshot, created_at_unix_ms } = record
  const created = typeof created_at_unix_ms === "number" ? created_at_unix_ms : 0
  const identity = { id, name: rename(record.name), harness, cwd: record.cwd, created }
  const profile = harnesses.profiles.find((candidate) => candidate.reference === harness)
  const named = {
    ...(profile === undefined ? {} : { vendor: inferVendor(profile) }),
    ...(text(model) === undefined ? {} : { model: text(model)! }),
    ...(text(agent) === undefined ? {} : { agent: text(agent)! }),
  }
  const child = make({ ...identity, ...named }, "detached", text(record.task) ?? Task.summary("", 1))
  child.generation = record.handle_generation
  child.sessionId = record.acp_session_id
  child.output = record.output ?? null
  child.updates = updatesOf(record.updates)
  child.status = "idle"
  child.snapshot = text(snapshot) !== undefined && parseJson(text(snapshot)!) !== undefined ? text(snapshot) : undefined
  return child
}

export * as Restore from "./Restore.ts"
