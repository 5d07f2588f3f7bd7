import { Host } from "@acp-kit/platform/Host"
import { Stdio } from "@acp-kit/platform/Stdio"
import { SystemFailure } from "@acp-kit/platform/SystemFailure"
import { Utf8 } from "@acp-kit/platform/Utf8"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"

/** Standard input could not be read. */
export class InputFailed extends Data.TaggedError("InputFailed")<{ readonly reason: string }> {}

/** Where people look: two streams out, one in, and what is known of them. */
export interface Interface {
  /** Writes to stdout; succeeds once the text has been taken, or never will be. */
  readonly out: (text: string) => Effect.Effect<void>
  /** Succeeds once `out` has found that nobody takes anything any more. */
  readonly closed: Effect.Effect<void>
  /** Why text that was given to `out` is lost, if it is. A reader that went away is no loss. */
  readonly lost: Effect.Effect<Stdio.OutputClosed | undefined>
  /** Writes to stderr; what cannot be written there is dropped. */
  readonly err: (text: string) => Effect.Effect<void>
  /** All of stdin as UTF-8; where it is larger than so many bytes it fails, and reads no further. */
  readonly input: (limit: number) => Effect.Effect<string, InputFailed>
  readonly inIsTerminal: boolean
  readonly outIsTerminal: boolean
  readonly errIsTerminal: boolean
  /** Columns of stderr now; 80 where unknown. */
  readonly columns: Effect.Effect<number>
  /** Rows of stderr now; 24 where unknown. */
  readonly rows: Effect.Effect<number>
  /** Whether stderr may carry colour: a terminal that is not dumb, and `NO_COLOR` empty. */
  readonly color: boolean
  /** Whether lines of stderr may be redrawn: a terminal that is not dumb. */
  readonly redraws: boolean
}

export class Service extends Context.Service<Service, Interface>()("@acp-kit/cli/Terminal") {}

/** What a process knows of the terminals behind its streams. */
export interface Facts {
  readonly inIsTerminal: boolean
  readonly outIsTerminal: boolean
  readonly errIsTerminal: boolean
  /** The size of the terminal behind stderr now, as far as it is known; a terminal may say 0 where it is not. */
  readonly size: () => { readonly columns?: number; readonly rows?: number }
}

const readAll = Effect.fnUntraced(function* (stdio: Stdio.Interface, limit: number): Effect.fn.Return<string, InputFailed> {
  const next = Effect.mapError(stdio.read, ({ reason }) => new InputFailed({ reason: SystemFailure.explain(reason) }))
  const chunks: Array<Uint8Array> = []
  let bytes = 0
  for (let chunk = yield* next; chunk !== undefined; chunk = yield* next) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > limit) return yield* new InputFailed({ reason: `it is larger than ${limit} bytes` })
  }
  const text = Utf8.decode(Buffer.concat(chunks))
  return Result.isSuccess(text) ? text.success : yield* new InputFailed({ reason: Utf8.refusal(text.failure) })
})

/** The terminal over the streams of this process. */
export const layerWith = (facts: Facts): Layer.Layer<Service, never, Stdio.Service | Host.Service> =>
  Layer.effect(
    Service,
    Effect.gen(function* () {
      const stdio = yield* Stdio.Service
      const { env } = yield* Host.Service
      const closed = yield* Deferred.make<Stdio.OutputClosed>()
      const redraws = facts.errIsTerminal && env.TERM !== "dumb"
      return {
        out: (text) => Effect.catch(stdio.write(text), (why) => Effect.asVoid(Deferred.succeed(closed, why))),
        closed: Effect.asVoid(Deferred.await(closed)),
        lost: Effect.gen(function* () {
          const why = (yield* Deferred.isDone(closed)) ? yield* Deferred.await(closed) : undefined
          return why?.reason === "EPIPE" ? undefined : why
        }),
        err: stdio.writeError,
        input: (limit) => readAll(stdio, limit),
        inIsTerminal: facts.inIsTerminal,
        outIsTerminal: facts.outIsTerminal,
        errIsTerminal: facts.errIsTerminal,
        columns: Effect.sync(() => facts.size().columns || 80),
        rows: Effect.sync(() => facts.size().rows || 24),
        color: redraws && (env.NO_COLOR ?? "") === "",
        redraws,
      }
    }),
  )

/** What was written, for tests. */
export interface Recording {
  readonly out: () => string
  readonly err: () => string
}

/** A terminal that keeps what it is given. */
export const layerMemory = (
  options: Partial<Omit<Interface, "out" | "err" | "input">> & { readonly input?: string } = {},
): readonly [Layer.Layer<Service>, Recording] => {
  const out: Array<string> = []
  const err: Array<string> = []
  const push = (target: Array<string>) => (text: string) =>
    Effect.sync(() => {
      target.push(text)
    })
  const terminal: Interface = {
    inIsTerminal: false,
    outIsTerminal: false,
    errIsTerminal: false,
    columns: Effect.succeed(80),
    rows: Effect.succeed(24),
    color: false,
    redraws: false,
    closed: Effect.never,
    lost: Effect.succeed(undefined),
    ...options,
    out: push(out),
    err: push(err),
    input: () => Effect.succeed(options.input ?? ""),
  }
  return [Layer.succeed(Service, terminal), { out: () => out.join(""), err: () => err.join("") }]
}

export * as Terminal from "./Terminal.ts"
