import { type Child, type Command, Processes } from "@acp-kit/platform/Processes"
import { type Json, type JsonObject, type Tool, ToolFailure } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

export interface Options {
  /** Absolute path; the working directory of every command. */
  readonly root: string
  /** The whole environment of every command. */
  readonly env: Readonly<Record<string, string>>
  readonly limits?: Partial<Limits>
}

export interface Limits {
  /** Bytes of each output stream. */
  readonly streamBytes: number
  /** Bytes of a command in UTF-8; what one argument of a process may have. */
  readonly commandBytes: number
  readonly defaultSeconds: number
  readonly maximumSeconds: number
  /** How long output is still read after the shell has exited while something it started holds the pipe. */
  readonly drainMs: number
}

export const defaultLimits: Limits = {
  streamBytes: 64 * 1024 * 1024,
  commandBytes: 128 * 1024 - 1,
  defaultSeconds: 120,
  maximumSeconds: 3600,
  drainMs: 1000,
}

/** TERM at once, KILL half a second later. */
const ladder = { eof: 0, term: 500 }

const input: JsonObject = {
  type: "object",
  properties: {
    command: { type: "string", description: "Run by `sh -lc` in the session's root, without input." },
    timeout_seconds: { type: "integer", description: "1 to 3600, 120 by default." },
  },
  required: ["command"],
  additionalProperties: false,
}

const output: JsonObject = {
  type: "object",
  properties: {
    exit_code: { type: ["integer", "null"] },
    success: { type: "boolean" },
    stdout: { type: "string" },
    stderr: { type: "string" },
  },
  required: ["exit_code", "success", "stdout", "stderr"],
  additionalProperties: false,
}

/**
 * `shell({command, timeout_seconds?})`: runs a command by `sh -lc` in a process group of its own and returns
 * `{exit_code, success, stdout, stderr}`; a failing command is a result, not a failure. Bytes that are not UTF-8 become U+FFFD.
 * When the call ends, by return, failure or cancellation, nothing that the command started is left running.
 */
export const make = Effect.fnUntraced(function* (options: Options): Effect.fn.Return<Tool, never, Processes.Service> {
  const processes = yield* Processes.Service
  const limits = { ...defaultLimits, ...options.limits }

  const handler = Effect.fnUntraced(function* (args: ReadonlyArray<Json>): Effect.fn.Return<Json, ToolFailure> {
    const { command, timeout_seconds: seconds = limits.defaultSeconds } = args[0] as { command: string; timeout_seconds?: number }
    if (!within(command, seconds, limits)) {
      return yield* new ToolFailure({ code: "INVALID_ARGUMENT", message: "command and timeout_seconds are outside bounds" })
    }
    return yield* run({ command: "sh", args: ["-lc", command], cwd: options.root, env: options.env, ladder }).pipe(
      Effect.timeoutOrElse({
        duration: seconds * 1000,
        orElse: () => new ToolFailure({ code: "TIMEOUT", message: "shell command timed out", uncertain: true }),
      }),
    )
  })

  const run = Effect.fnUntraced(function* (command: Command): Effect.fn.Return<Json, ToolFailure, Scope.Scope> {
    const child = yield* Effect.mapError(
      processes.spawn(command),
      (error) => new ToolFailure({ code: "SPAWN", message: error.message }),
    )
    yield* child.endInput
    const { status, stdout, stderr } = yield* collect(child, limits)
    return { exit_code: status.code ?? null, success: status.code === 0, stdout, stderr }
  }, Effect.scoped)

  return {
    name: "shell",
    summary: "Run a shell command and return its exit code and output.",
    parameters: [{ name: "input", schema: input }],
    output,
    policy: "at_most_once",
    schemaVersion: "1",
    handler,
  }
})

const within = (command: string, seconds: number, limits: Limits) =>
  command.trim() !== "" &&
  !command.includes("\0") &&
  new TextEncoder().encode(command).length <= limits.commandBytes &&
  seconds >= 1 &&
  seconds <= limits.maximumSeconds

const collect = Effect.fnUntraced(function* (child: Child, limits: Limits) {
  const outputs = [gather(child.read, limits.streamBytes), gather(child.readError, limits.streamBytes)] as const
  const reading = yield* Effect.forkScoped(
    Effect.forEach(outputs, (output) => output.all, { concurrency: "unbounded", discard: true }),
  )
  const exited = Effect.flatMap(child.exit, (status) =>
    Effect.as(Effect.timeoutOption(Fiber.join(reading), limits.drainMs), status),
  )
  const overflow = Effect.andThen(Fiber.join(reading), Effect.never)
  const status = yield* Effect.raceFirst(exited, overflow)
  return { status, stdout: outputs[0].text(), stderr: outputs[1].text() }
})

/** Reads a stream to its end; what has arrived so far is its text. */
const gather = (read: Effect.Effect<Uint8Array | undefined>, limit: number) => {
  const chunks: Array<Uint8Array> = []
  let bytes = 0
  const all = Effect.gen(function* () {
    for (let chunk = yield* read; chunk !== undefined; chunk = yield* read) {
      bytes += chunk.length
      if (bytes > limit) {
        return yield* new ToolFailure({
          code: "OUTPUT_TOO_LARGE",
          message: `shell output exceeds ${limit} bytes`,
          uncertain: true,
        })
      }
      chunks.push(chunk)
    }
  })
  return { all, text: () => decode(chunks) }
}

const decode = (chunks: ReadonlyArray<Uint8Array>): string => {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode()
}

export * as Shell from "./Shell.ts"
