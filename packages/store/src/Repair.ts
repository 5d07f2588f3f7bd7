import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as AgentDocument from "./AgentDocument.ts"
import * as AgentFiles from "./AgentFiles.ts"
import { crcHex, sha256 } from "./Checksum.ts"
import { Disk } from "./Disk.ts"
import * as Document from "./Document.ts"
import { isObject, type JsonObject } from "./Json.ts"
import * as Layout from "./Layout.ts"
import { isGap } from "./LogDecoder.ts"
import { activePath, quarantinePath, segments } from "./LogFiles.ts"
import { firstLine, replay } from "./LogReader.ts"
import { setAside as copyRange, writeNew } from "./LogRecovery.ts"
import type { LogGap, LogRecord } from "./Record.ts"
import * as Revision from "./Revision.ts"
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
  if ((yield* Layout.directory(quarantine)) === undefined) yield* Layout.ensureDirectory(quarantine)
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
  const rebuilt = Revision.next(
    {
      ...initial,
      ...(isObject(head.spec) ? { spec: head.spec } : {}),
      ...(isObject(head.prompt) ? { prompt: head.prompt } : {}),
      created_at: Revision.timestamp(head.time),
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

/** The note in a wire log that says of a gap that it is known and a copy of it set aside. */
export const setAsideNote = "damage_set_aside"

/** What such a note says: where the gap is, as {@link describeGap} knows it, and where the copy lies, if anything was there to copy. */
export const setAsideData = (gap: LogGap, copy: string | undefined): JsonObject => ({
  segment: gap.segment,
  from: gap.from,
  to: gap.to,
  first_seq: gap.firstSeq ?? null,
  last_seq: gap.lastSeq ?? null,
  copy: copy ?? null,
})

/** What tells one gap from another, of a gap and of the note about it. */
export const gapKey = ({ segment, from, to }: { readonly segment?: unknown; readonly from?: unknown; readonly to?: unknown }) =>
  `${segment}:${from}-${to}`

/** The gap that a record says is known, by its {@link gapKey}. */
export const knownGap = ({ kind, body }: LogRecord): string | undefined =>
  kind === "event" && isObject(body) && body.note === setAsideNote && isObject(body.data) ? gapKey(body.data) : undefined

/** Copies every gap of the wire log that no note tells of into the quarantine, whichever file of the log it is in. */
export const gaps = Effect.fn("Repair.gaps")(function* (
  directory: string,
): Effect.fn.Return<ReadonlyArray<readonly [LogGap, string | undefined]>, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const name = { directory, ...Layout.wireLog }
  const found = new Map<string, LogGap>()
  yield* replay(name).pipe(
    Stream.runForEach((element) =>
      Effect.sync(() => {
        if (isGap(element)) found.set(gapKey(element), element)
        else found.delete(knownGap(element) ?? "")
      }),
    ),
  )
  const files = new Map((yield* segments(name)).map((segment) => [segment.number, segment.path]))
  return yield* Effect.forEach([...found.values()], (gap) =>
    Effect.gen(function* () {
      const path = files.get(gap.segment) ?? activePath(name)
      const copy = Effect.acquireUseRelease(
        disk.openRead(path).pipe(Effect.mapError(ofDisk)),
        (file) => copyRange(name, file, gap.segment, gap.from, gap.to, false),
        disk.close,
      )
      return [gap, yield* copy] as const
    }),
  )
})

/** The agent's directory and what is in it, where its mode lets others in. */
export const wide = Effect.fnUntraced(function* (directory: string) {
  const disk = yield* Disk.Service
  const names = (yield* disk.list(directory).pipe(Effect.mapError(ofDisk))) ?? []
  const found: Array<{ readonly path: string; readonly mode: number; readonly narrow: number }> = []
  for (const path of [directory, ...names.map((name) => `${directory}/${name}`)]) {
    const stat = yield* disk.stat(path).pipe(Effect.mapError(ofDisk))
    if (stat === undefined || (stat.kind !== "file" && stat.kind !== "directory") || (stat.mode & 0o077) === 0) continue
    found.push({ path, mode: stat.mode, narrow: stat.kind === "directory" ? 0o700 : 0o600 })
  }
  return found
})

/** Narrows modes that let others in: 0700 for directories, 0600 for files. */
export const modes = Effect.fn("Repair.modes")(function* (
  directory: string,
): Effect.fn.Return<ReadonlyArray<Finding>, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  return yield* Effect.forEach(
    yield* wide(directory),
    Effect.fnUntraced(function* ({ path, mode, narrow }) {
      yield* disk.chmod(path, narrow).pipe(Effect.mapError(ofDisk))
      return { path, severity: "warning", message: `its mode was ${mode.toString(8)}; others can no longer read it` } as const
    }),
  )
})

export * as Repair from "./Repair.ts"
