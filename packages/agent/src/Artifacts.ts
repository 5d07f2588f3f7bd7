import { type Json, type JsonObject, type Tool, ToolFailure } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { CompactJson } from "./CompactJson.ts"

/** The artifacts of one session: what is too long for the model, kept in files below one directory. */
export interface Artifacts {
  /** The result as the model gets it: itself, or a preview and the path of the artifact that holds it whole. Never fails. */
  readonly spill: (callId: string, output: Json) => Effect.Effect<Json>
  /** `artifact({path, offset?, limit?})`: reads a piece of one. */
  readonly tool: Tool
}

export interface Limits {
  /** Longest result that the model gets whole, and longest replacement, in bytes of compact JSON. */
  readonly resultBytes: number
  /** Most bytes that one call of `artifact` reads. */
  readonly pieceBytes: number
}

export const defaultLimits: Limits = { resultBytes: 8 * 1024, pieceBytes: 1024 }

const fileName = "compose-output.json"

/** Artifacts below an absolute directory, which is made when the first is. */
export const make = Effect.fnUntraced(function* (
  directory: string,
  limits: Limits = defaultLimits,
): Effect.fn.Return<Artifacts, never, FileSystem.FileSystem | Path.Path> {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path

  const store = Effect.fnUntraced(function* (name: string, content: string) {
    const path = paths.join(directory, name)
    yield* files.makeDirectory(paths.dirname(path), { recursive: true, mode: 0o700 })
    yield* files.writeFileString(path, content, { mode: 0o600 })
  })

  const spill = Effect.fn("Artifacts.spill")(function* (callId: string, output: Json): Effect.fn.Return<Json> {
    const content = CompactJson.encode(output)
    const bytes = byteLength(content)
    if (bytes <= limits.resultBytes) return output
    const name = `${callId}/${fileName}`
    const error = yield* Effect.match(store(name, content), {
      onSuccess: () => undefined,
      onFailure: (failure) => truncate(failure.message, 256),
    })
    const marker =
      error === undefined
        ? `...[compose output spilled: ${bytes} bytes; read with artifact(path)]...`
        : `...[tool completed; output truncated: ${bytes} bytes; artifact storage failed]...`
    const replacement = (preview: string) => ({
      preview,
      artifact: error === undefined ? name : null,
      original_bytes: bytes,
      artifact_error: error ?? null,
    })
    const room = limits.resultBytes - byteLength(CompactJson.encode(replacement(marker)))
    return replacement(headAndTail(content, marker, room))
  })

  const read = Effect.fnUntraced(function* (args: ReadonlyArray<Json>): Effect.fn.Return<Json, ToolFailure> {
    const { path, offset = 0, limit = limits.pieceBytes } = args[0] as { path: string; offset?: number; limit?: number }
    if (offset < 0 || limit < 4 || limit > limits.pieceBytes) return yield* refuse("offset and limit are outside bounds")
    if (!/^[\w.-]+\/[\w.-]+$/.test(path) || path.split("/").some((part) => /^\.+$/.test(part)))
      return yield* refuse("invalid artifact path")
    const bytes = yield* Effect.mapError(
      files.readFile(paths.join(directory, path)),
      () => new ToolFailure({ code: "NOT_FOUND", message: "artifact must belong to this session" }),
    )
    const from = boundaryAt(bytes, offset)
    const to = boundaryAt(bytes, Math.min(bytes.length, from + limit))
    const content = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(from, to))
    return { content, next_offset: to, total_bytes: bytes.length, eof: to >= bytes.length }
  })

  const tool: Tool = {
    name: "artifact",
    summary: "Read a piece of a result that was too long to be returned whole.",
    parameters: [{ name: "input", schema: input }],
    output,
    policy: "idempotent",
    schemaVersion: "1",
    handler: read,
  }
  return { spill, tool }
})

const refuse = (message: string) => new ToolFailure({ code: "INVALID_ARGUMENT", message })

const input: JsonObject = {
  type: "object",
  properties: {
    path: { type: "string", description: "The artifact of a result that was spilled." },
    offset: { type: "integer", description: "Bytes; 0 by default." },
    limit: { type: "integer", description: "4 to 1024 bytes, 1024 by default." },
  },
  required: ["path"],
  additionalProperties: false,
}

const output: JsonObject = {
  type: "object",
  properties: {
    content: { type: "string" },
    next_offset: { type: "integer" },
    total_bytes: { type: "integer" },
    eof: { type: "boolean" },
  },
  required: ["content", "next_offset", "total_bytes", "eof"],
  additionalProperties: false,
}

const byteLength = (text: string) => new TextEncoder().encode(text).length

const truncate = (text: string, bytes: number) =>
  new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, bytes)).replace(/\uFFFD$/, "")

/** The offset itself, or the beginning of the character that it falls into. */
const boundaryAt = (bytes: Uint8Array, offset: number) => {
  let at = Math.min(offset, bytes.length)
  while (at > 0 && at < bytes.length && (bytes[at]! & 0xc0) === 0x80) at--
  return at
}

/** Head, marker and tail of a text so long that together they take at most `room` bytes more than the marker inside a JSON string. */
const headAndTail = (text: string, marker: string, room: number): string => {
  for (let half = Math.max(0, Math.floor(room / 2)); ; half = Math.floor(half * 0.8)) {
    const whole = `${text.slice(0, half).toWellFormed()}${marker}${half === 0 ? "" : text.slice(-half).toWellFormed()}`
    if (half === 0 || byteLength(CompactJson.encode(whole)) - byteLength(CompactJson.encode(marker)) <= room) return whole
  }
}

export * as SessionArtifacts from "./Artifacts.ts"
