import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as AgentDocument from "./AgentDocument.ts"
import * as AgentFiles from "./AgentFiles.ts"
import { crcHex, sha256 } from "./Checksum.ts"
import { Disk } from "./Disk.ts"
import * as Document from "./Document.ts"
import { isObject, type JsonObject } from "./Json.ts"
import * as Layout from "./Layout.ts"
import { quarantinePath, segments } from "./LogFiles.ts"
import { firstLine } from "./LogReader.ts"
import { writeNew } from "./LogRecovery.ts"
import { Corrupt, of, ofDisk, type StoreError } from "./StoreError.ts"
import type { Finding } from "./SubagentStore.ts"

/** Copies a damaged file into the quarantine beside it, once; where the copy is. */
export const setAside = Effect.fnUntraced(function* (
  directory: string,
  file: string,
): Effect.fn.Return<string | undefined, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const bytes = yield* disk.readFile(`${directory}/${file}`).pipe(Effect.mapError(ofDisk))
  if (bytes === undefined) return undefined
  const quarantine = quarantinePath({ directory, base: "", extension: "" })
  yield* Layout.ensureDirectory(quarantine)
  const copy = `${quarantine}/${file}.${crcHex(bytes)}`
  if ((yield* disk.stat(copy).pipe(Effect.mapError(ofDisk))) === undefined) {
    yield* writeNew(copy, bytes)
    yield* disk.syncDirectory(quarantine).pipe(Effect.mapError(ofDisk))
  }
  return copy
})

/** Rebuilds a `meta.json` that is missing or cannot be read, from the wire log's first line and the prompt; a readable one is left alone. */
export const metadata = Effect.fn("Repair.metadata")(function* (
  directory: string,
  sessionId: string,
  agentId: string,
): Effect.fn.Return<ReadonlyArray<Finding>, StoreError, Disk.Service> {
  const path = `${directory}/${Layout.metaFile}`
  const damage = yield* AgentFiles.readMeta(directory, agentId).pipe(
    Effect.flatMap((raw) => AgentDocument.view(path, raw)),
    Effect.tap((meta) => AgentFiles.checkOwner(meta, sessionId, agentId, path)),
    Effect.match({ onFailure: (error) => error, onSuccess: () => undefined }),
  )
  if (damage === undefined) return []
  if (damage.reason._tag !== "Corrupt") return yield* damage
  const head = yield* firstHead(directory)
  if (head === undefined || head.session_id !== sessionId || head.agent_id !== agentId) {
    return yield* of(new Corrupt({ path, why: "and the wire log does not begin with a line that says whose it is" }))
  }
  const copy = yield* setAside(directory, Layout.metaFile)
  const disk = yield* Disk.Service
  const now = yield* Clock.currentTimeMillis
  const prompt = (yield* disk.readFile(`${directory}/${Layout.promptFile}`).pipe(Effect.mapError(ofDisk))) ?? new Uint8Array(0)
  const initial = AgentDocument.initial({
    sessionId,
    agentId,
    spec: { name: "", env: {}, secret_env: [] },
    promptBytes: prompt.length,
    promptSha256: sha256(prompt),
    now,
  })
  const rebuilt = AgentDocument.revise(
    {
      ...initial,
      ...(isObject(head.spec) ? { spec: head.spec } : {}),
      ...(isObject(head.prompt) ? { prompt: head.prompt } : {}),
      created_at: AgentDocument.timestamp(head.time),
    },
    { status: "interrupted", status_reason: "the metadata was rebuilt from the wire log" },
    now,
  )
  yield* Document.write(path, rebuilt)
  return [
    {
      path,
      severity: "warning",
      message: `rebuilt from the wire log${copy === undefined ? "" : `; what was there is in ${copy}`}`,
    },
  ]
})

/** The body and time of the log's very first line. */
const firstHead = Effect.fnUntraced(function* (
  directory: string,
): Effect.fn.Return<(JsonObject & { readonly time: number }) | undefined, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const first = (yield* segments({ directory, ...Layout.wireLog }))[0]
  if (first === undefined) return undefined
  const file = yield* disk.openRead(first.path).pipe(Effect.mapError(ofDisk))
  const record = yield* Effect.ensuring(firstLine(file), disk.close(file))
  return record !== undefined && isObject(record.body) ? { ...record.body, time: record.time } : undefined
})

/** Narrows modes that let others in: 0700 for directories, 0600 for files. */
export const modes = Effect.fn("Repair.modes")(function* (
  directory: string,
): Effect.fn.Return<ReadonlyArray<Finding>, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const findings: Array<Finding> = []
  const names = (yield* disk.list(directory).pipe(Effect.mapError(ofDisk))) ?? []
  for (const path of [directory, ...names.map((name) => `${directory}/${name}`)]) {
    const stat = yield* disk.stat(path).pipe(Effect.mapError(ofDisk))
    if (stat === undefined || (stat.kind !== "file" && stat.kind !== "directory") || (stat.mode & 0o077) === 0) continue
    yield* disk.chmod(path, stat.kind === "directory" ? 0o700 : 0o600).pipe(Effect.mapError(ofDisk))
    findings.push({ path, severity: "warning", message: `its mode was ${stat.mode.toString(8)}; others can no longer read it` })
  }
  return findings
})

export * as Repair from "./Repair.ts"
