import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { isDirectory, isMissing } from "./Descriptor.ts"
import { PulledStream } from "./PulledStream.ts"
import { writeOutput } from "./ReservedOutput.ts"
import { codeOf, explain } from "./SystemFailure.ts"

/** Our output takes nothing any more, from the first write that failed on. */
export class OutputClosed extends Schema.TaggedError<OutputClosed>()("OutputClosed", {
  /** What the system said: `EPIPE` where the reader went away, `ENOSPC`, `EIO`, `EBADF`, …; `UNKNOWN` where it said nothing. */
  reason: Schema.String,
}) {
  override get message() {
    return `could not write the output: ${explain(this.reason)}`
  }
}

/** Our input cannot be read. */
export class InputFailed extends Schema.TaggedError<InputFailed>()("InputFailed", {
  /** What the system said: `EISDIR` where it is a directory. */
  reason: Schema.String,
}) {
  override get message() {
    return `could not read standard input: ${explain(this.reason)}`
  }
}

/** The pipes of this very process. */
export interface Interface {
  /** The next chunk of stdin, `undefined` at its end. Pulled: nobody reads, the writer waits; stdin is not touched before the first read. */
  readonly read: Effect.Effect<Uint8Array | undefined, InputFailed>
  /** Succeeds once the pipe has taken the bytes; interrupted, they are still written. Writes keep their order. */
  readonly write: (bytes: Uint8Array | string) => Effect.Effect<void, OutputClosed>
  /** The same for stderr; what cannot be written there is dropped. */
  readonly writeError: (text: string) => Effect.Effect<void>
}

export class Service extends Context.Service<Service, Interface>()("@acp-kit/platform/Stdio") {}

type Sink = (bytes: Uint8Array | string) => Effect.Effect<void, OutputClosed>

const closedBy = (cause: unknown): OutputClosed => new OutputClosed({ reason: codeOf(cause) })

/** Bun forgets the callbacks of what is queued behind a write that failed, so its events answer them. */
const nodeSink = (stream: NodeJS.WriteStream, write: NodeJS.WriteStream["write"]): Sink => {
  let closed = isMissing(stream === process.stdout ? 1 : 2) ? new OutputClosed({ reason: "EBADF" }) : undefined
  const waiting = new Set<() => void>()
  const close = (cause: unknown) => {
    closed ??= closedBy(cause)
    for (const answer of waiting) answer()
  }
  stream.on("error", close)
  stream.on("close", () => close(undefined))
  return (bytes) =>
    Effect.callback((resume) => {
      if (closed === undefined && (stream.writableEnded || stream.destroyed)) close(undefined)
      if (closed !== undefined) return resume(Effect.fail(closed))
      if (bytes.length === 0) return resume(Effect.void)
      const answer = () => {
        waiting.delete(answer)
        resume(closed === undefined ? Effect.void : Effect.fail(closed))
      }
      waiting.add(answer)
      write(bytes, (cause) => {
        if (cause !== undefined && cause !== null) close(cause)
        else answer()
      })
    })
}

interface DenoOutput {
  readonly write: (bytes: Uint8Array) => Promise<number>
}

/** Deno's own streams: behind those of `process` a slow reader holds up the whole program, and a write that fails is never answered. */
const denoSink = (output: DenoOutput): Sink => {
  let tail = Promise.resolve()
  const writeAll = async (bytes: Uint8Array) => {
    for (let from = 0; from < bytes.length; ) from += await output.write(bytes.subarray(from))
  }
  return (bytes) =>
    Effect.tryPromise({
      try: () => {
        tail = tail.then(() => writeAll(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes))
        return tail
      },
      catch: closedBy,
    })
}

const sinks = (): readonly [output: Sink, error: Sink] => {
  const { Deno } = globalThis as { readonly Deno?: { readonly stdout: DenoOutput; readonly stderr: DenoOutput } }
  return Deno === undefined
    ? [nodeSink(process.stdout, writeOutput), nodeSink(process.stderr, process.stderr.write.bind(process.stderr))]
    : [denoSink(Deno.stdout), denoSink(Deno.stderr)]
}

/** The streams of this process. Build it once. */
export const layer: Layer.Layer<Service> = Layer.sync(Service, () => {
  const [write, error] = sinks()
  let input: PulledStream.PulledStream | undefined
  return {
    read: Effect.suspend(() => {
      if (input === undefined && isDirectory(0)) return new InputFailed({ reason: "EISDIR" })
      input ??= PulledStream.make(process.stdin)
      return input.read
    }),
    write,
    writeError: (text) => Effect.ignore(error(text)),
  }
})

export * as Stdio from "./Stdio.ts"
