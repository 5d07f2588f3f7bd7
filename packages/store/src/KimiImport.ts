import * as Effect from "effect/Effect"
import type { AgentId } from "./AgentId.ts"
import * as AgentLaunchSpec from "./AgentLaunchSpec.ts"
import { Disk } from "./Disk.ts"
import * as Document from "./Document.ts"
import { isObject, type Json, type JsonObject, parse } from "./Json.ts"
import { Invalid, of, ofDisk, type StoreError } from "./StoreError.ts"
import type { Interface } from "./SubagentStore.ts"

const decoder = new TextDecoder()

/** The JSON lines of a file; lines that are none are counted and left out. */
const jsonLines = Effect.fnUntraced(function* (
  path: string,
): Effect.fn.Return<{ readonly values: ReadonlyArray<Json>; readonly bad: number }, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const bytes = (yield* disk.readFile(path).pipe(Effect.mapError(ofDisk))) ?? new Uint8Array(0)
  const values: Array<Json> = []
  let bad = 0
  for (const line of decoder.decode(bytes).split("\n")) {
    if (line.trim().length === 0) continue
    const value = parse(line)
    if (value === undefined) bad++
    else values.push(value)
  }
  return { values, bad }
})

const text = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined)

const contentText = (message: JsonObject): string => {
  if (typeof message.content === "string") return message.content
  if (!Array.isArray(message.content)) return ""
  return message.content.map((part) => (isObject(part) ? (text(part.text) ?? "") : "")).join("")
}

export interface Imported {
  readonly id: AgentId
  /** Lines that could not be read and were left out. */
  readonly skipped: number
}

/**
 * Makes an agent of a directory that Kimi CLI 1.49 wrote (`meta.json`, `context.jsonl`, `wire.jsonl`): the system prompt and the messages become prompt and
 * state, every wire record an event in its order. The agent gets an id of ours and the status `interrupted`; where it came from stands in `ext.imported`.
 * The source is only read.
 */
export const run = Effect.fn("KimiImport.run")(function* (
  subagents: Interface,
  directory: string,
): Effect.fn.Return<Imported, StoreError, Disk.Service> {
  const meta = yield* Document.read(`${directory}/meta.json`)
  if (meta === undefined) return yield* of(new Invalid({ what: "import", why: `${directory} holds no meta.json` }))
  const context = yield* jsonLines(`${directory}/context.jsonl`)
  const wire = yield* jsonLines(`${directory}/wire.jsonl`)
  const lines = context.values.filter(isObject)
  const system = lines.find((line) => line.role === "_system_prompt")
  const usage = lines.findLast((line) => line.role === "_usage")
  const messages = lines.filter((line) => !String(line.role).startsWith("_"))
  const launch = isObject(meta.launch_spec) ? meta.launch_spec : {}
  const model = text(launch.effective_model) ?? text(launch.model_override)
  const description = text(meta.description)
  const spec = AgentLaunchSpec.make({
    name: text(meta.subagent_type) ?? "imported",
    ...(description === undefined ? {} : { description }),
    ...(model === undefined ? {} : { model }),
  })
  const { agent_id: id } = yield* subagents.create(spec, system === undefined ? "" : contentText(system))
  for (const record of wire.values) yield* subagents.append(id as AgentId, { note: "imported", data: record }, "soon")
  yield* subagents.saveContext(id, { messages, ...(usage === undefined ? {} : { usage }) })
  yield* subagents.setExt(id, {
    imported: { from: "kimi-cli", agent_id: text(meta.agent_id) ?? null, status: text(meta.status) ?? null },
  })
  yield* subagents.setStatus(id, "starting", "interrupted", "imported from Kimi CLI")
  return { id: id as AgentId, skipped: context.bad + wire.bad }
})

export * as KimiImport from "./KimiImport.ts"
