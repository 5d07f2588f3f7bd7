import * as Effect from "effect/Effect"
import type { AgentId } from "./AgentId.ts"
import * as AgentLaunchSpec from "./AgentLaunchSpec.ts"
import { Disk } from "./Disk.ts"
import * as Document from "./Document.ts"
import { isObject, type Json, type JsonObject, parse } from "./Json.ts"
import * as Layout from "./Layout.ts"
import * as Manifest from "./Manifest.ts"
import { Invalid, of, ofDisk, type StoreError } from "./StoreError.ts"
import type { Interface } from "./SubagentStore.ts"

const chunkBytes = 1024 * 1024
/** A longer line is none that Kimi CLI wrote; it is counted as one that cannot be read. */
const lineBytes = 64 * 1024 * 1024

/** Gives every JSON value of a file of lines to `take`, in order; how many lines were none. */
const eachLine = Effect.fnUntraced(function* <E>(
  path: string,
  take: (value: Json) => Effect.Effect<unknown, E>,
): Effect.fn.Return<number, E | StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  if ((yield* disk.stat(path).pipe(Effect.mapError(ofDisk))) === undefined) return 0
  const decoder = new TextDecoder()
  let rest = ""
  let bad = 0
  const line = (text: string) => {
    if (text.trim().length === 0) return Effect.void
    const value = text.length > lineBytes ? undefined : parse(text)
    if (value !== undefined) return take(value)
    bad++
    return Effect.void
  }
  yield* Effect.acquireUseRelease(
    Effect.mapError(disk.openRead(path), ofDisk),
    Effect.fnUntraced(function* (file) {
      for (let offset = 0; ; ) {
        const bytes = yield* disk.read(file, offset, chunkBytes).pipe(Effect.mapError(ofDisk))
        offset += bytes.length
        const lines = (rest + decoder.decode(bytes, { stream: bytes.length > 0 })).split("\n")
        rest = lines.pop() ?? ""
        for (const text of lines) yield* line(text)
        if (bytes.length === 0) return yield* line(rest)
        if (rest.length > lineBytes) rest = rest.slice(0, lineBytes + 1)
      }
    }),
    disk.close,
  )
  return bad
})

const text = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined)

const contentText = (message: JsonObject): string => {
  if (typeof message.content === "string") return message.content
  if (!Array.isArray(message.content)) return ""
  return message.content.map((part) => (isObject(part) ? (text(part.text) ?? "") : "")).join("")
}

export interface Imported {
  readonly id: AgentId
  /** The directory that it was made of. */
  readonly from: string
  /** Lines that could not be read and were left out. */
  readonly skipped: number
}

const kimiMeta = "meta.json"

/** The directories of agents that a path leads to: the agent's own, or all of a session's, names sorted. `Invalid` where there are none. */
const agentsIn = Effect.fnUntraced(function* (
  directory: string,
): Effect.fn.Return<ReadonlyArray<string>, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const holdsMeta = (path: string) =>
    Effect.map(disk.stat(`${path}/${kimiMeta}`), (stat) => stat?.kind === "file").pipe(Effect.mapError(ofDisk))
  if ((yield* disk.stat(`${directory}/${Manifest.file}`).pipe(Effect.mapError(ofDisk))) !== undefined) {
    const why = `${directory} is what kit sessions export made; take it with kit sessions import`
    return yield* of(new Invalid({ what: "import", why }))
  }
  if (yield* holdsMeta(directory)) return [directory]
  const parent = `${directory}/${Layout.subagentsName}`
  const names = (yield* disk.list(parent).pipe(Effect.mapError(ofDisk))) ?? []
  const found = []
  for (const name of names) {
    const stat = yield* disk.stat(`${parent}/${name}`).pipe(Effect.mapError(ofDisk))
    if (stat?.kind === "directory" && (yield* holdsMeta(`${parent}/${name}`))) found.push(`${parent}/${name}`)
  }
  if (found.length > 0) return found
  const why = `${directory} holds no ${kimiMeta}, and no ${Layout.subagentsName} that do; name the directory of an agent or a session of Kimi CLI`
  return yield* of(new Invalid({ what: "import", why }))
})

/**
 * Makes agents of what Kimi CLI 1.49 wrote (`meta.json`, `context.jsonl`, `wire.jsonl`): the system prompt and the messages become prompt and state, every
 * wire record an event in its order. Each gets an id of ours and the status `closed`: a record that nobody goes on with. Where it came from stands in `ext.imported`. An agent that
 * cannot be made whole is not made, and ends the call; those before it stay. The source is only read.
 */
export const run = Effect.fn("KimiImport.run")(function* (
  subagents: Interface,
  directory: string,
): Effect.fn.Return<ReadonlyArray<Imported>, StoreError, Disk.Service> {
  return yield* Effect.forEach(yield* agentsIn(directory), (from) => one(subagents, from))
})

const one = Effect.fnUntraced(function* (
  subagents: Interface,
  from: string,
): Effect.fn.Return<Imported, StoreError, Disk.Service> {
  const meta = (yield* Document.read(`${from}/${kimiMeta}`)) ?? {}
  const lines: Array<JsonObject> = []
  const badContext = yield* eachLine(`${from}/context.jsonl`, (value) =>
    Effect.sync(() => (isObject(value) ? lines.push(value) : undefined)),
  )
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
  const made = yield* subagents.create(spec, system === undefined ? "" : contentText(system))
  const id = made.agent_id as AgentId
  const fill = Effect.gen(function* () {
    const badWire = yield* eachLine(`${from}/wire.jsonl`, (data) => subagents.append(id, { note: "imported", data }, "soon"))
    yield* subagents.saveContext(id, { messages, ...(usage === undefined ? {} : { usage }) })
    yield* subagents.setExt(id, {
      imported: { from: "kimi-cli", agent_id: text(meta.agent_id) ?? null, status: text(meta.status) ?? null },
    })
    yield* subagents.setStatus(id, "starting", "closed", "a record imported from Kimi CLI, to be looked at")
    return { id, from, skipped: badContext + badWire }
  })
  const undo = Effect.andThen(subagents.setStatus(id, "starting", "failed", "its import failed"), subagents.delete(id))
  return yield* Effect.onError(fill, () => Effect.ignore(undo))
})

export * as KimiImport from "./KimiImport.ts"
