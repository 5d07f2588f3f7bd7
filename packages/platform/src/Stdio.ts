import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { PulledStream } from "./PulledStream.ts"
import { writeOutput } from "./ReservedOutput.ts"

/** Nobody reads our output any more. */
export class OutputClosed extends Schema.TaggedError<OutputClosed>()("OutputClosed", {}) {
  override get message() {
    return "nobody reads the output any more"
  }
}

/** The pipes of this very process. */
export interface Interface {
  /** The next chunk of stdin, `undefined` at its end. Pulled: nobody reads, the writer waits; stdin is not touched before the first read. */
  readonly read: Effect.Effect<Uint8Array | undefined>
  /** Succeeds once the pipe has taken the bytes; interrupted, they are still written. Writes keep their order. */
  readonly write: (bytes: Uint8Array | string) => Effect.Effect<void, OutputClosed>
  /** The same for stderr; a reader that went away is no failure. */
  readonly writeError: (text: string) => Effect.Effect<void>
}

export class Service extends Context.Service<Service, Interface>()("@acp-kit/platform/Stdio") {}

type Sink = (bytes: Uint8Array | string) => Effect.Effect<void, OutputClosed>

const nodeSink = (stream: NodeJS.WriteStream, write: NodeJS.WriteStream["write"]): Sink => {
  let closed = false
  stream.on("error", () => {
    closed = true
  })
  return (bytes) =>
    Effect.callback((resume) => {
      const gone = Effect.fail(new OutputClosed())
      if (closed || stream.writableEnded || stream.destroyed) return resume(gone)
      if (bytes.length === 0) return resume(Effect.void)
      write(bytes, (cause) => {
        closed ||= cause !== undefined && cause !== null
        resume(closed ? gone : Effect.void)
      })
    })
}

interface DenoOutput {
  readonly write: (bytes: Uint8Array) => Promise<number>
}

/** Deno's own stream: behind `process.stdout` a reader that is slow would hold up the whole program. */
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
      catch: () => new OutputClosed(),
    })
}

/** The streams of this process. Build it once. */
export const layer: Layer.Layer<Service> = Layer.sync(Service, () => {
  const { Deno } = globalThis as { readonly Deno?: { readonly stdout: DenoOutput } }
  const output = Deno === undefined ? nodeSink(process.stdout, writeOutput) : denoSink(Deno.stdout)
  let input: PulledStream.PulledStream | undefined
  const error = nodeSink(process.stderr, process.stderr.write.bind(process.stderr))
  return {
    read: Effect.suspend(() => {
      input ??= PulledStream.make(process.stdin)
      return input.read
    }),
    write: output,
    writeError: (text) => Effect.ignore(error(text)),
  }
})

export * as Stdio from "./Stdio.ts"
