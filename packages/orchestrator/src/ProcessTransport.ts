import type { Processes } from "@acp-kit/platform/Processes"
import type { Transport } from "@acp-kit/protocol/Transport"
import { TransportClosed } from "@acp-kit/protocol/Transport"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { ChildLog } from "./ChildLog.ts"

/** The last bytes of a text that is written in pieces. */
class Tail {
  #text = ""
  readonly #bytes: number
  constructor(bytes: number) {
    this.#bytes = bytes
  }
  add(piece: string): void {
    this.#text = (this.#text + piece).slice(-this.#bytes)
  }
  get text(): string {
    return this.#text
  }
}

/** Pulls stderr until its end. */
const pump = Effect.fnUntraced(function* (child: Processes.Child, tail: Tail, log: ChildLog) {
  const decoder = new TextDecoder()
  for (;;) {
    const chunk = yield* child.readError
    const text = chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
    tail.add(text)
    yield* log.text(text)
    if (chunk === undefined) return yield* log.end
  }
})

/**
 * The pipes of a process as the wire sees them. stderr is drained all the time, whether anybody listens or not.
 * Nothing here ends the process: that is the scope it was spawned in. `closed` waits for what is left of stderr, half of `drainMs` at most:
 * whoever inherited the pipe may hold it open for ever, and the connection waits for the exit status no longer than all of it.
 */
export const make = Effect.fnUntraced(function* (
  child: Processes.Child,
  options: { readonly tailBytes: number; readonly drainMs: number; readonly log: ChildLog },
): Effect.fn.Return<Transport, never, Scope.Scope> {
  const tail = new Tail(options.tailBytes)
  const pumping = yield* Effect.forkScoped(pump(child, tail, options.log))
  const closedBy = (reason: TransportClosed["reason"]) =>
    new TransportClosed({ reason, exitCode: undefined, signal: undefined, stderrTail: tail.text })
  return {
    read: child.read,
    write: (frame) => Effect.mapError(child.write(frame), () => closedBy("io")),
    end: child.endInput,
    closed: Effect.gen(function* () {
      const { code, signal } = yield* child.exit
      yield* Effect.timeoutOption(Fiber.await(pumping), options.drainMs / 2)
      return new TransportClosed({ reason: "eof", exitCode: code, signal, stderrTail: tail.text })
    }),
  }
})

export * as ProcessTransport from "./ProcessTransport.ts"
