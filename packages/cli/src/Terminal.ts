import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Standard input could not be read. */
export class InputFailed extends Data.TaggedError("InputFailed")<{ readonly reason: string }> {}

/** Where people look: two streams out, one in, and what is known of them. */
export interface Interface {
  /** Writes to stdout; succeeds once the text has been taken. A reader that went away is no failure. */
  readonly out: (text: string) => Effect.Effect<void>
  /** The same for stderr. */
  readonly err: (text: string) => Effect.Effect<void>
  /** All of stdin as UTF-8. */
  readonly input: Effect.Effect<string, InputFailed>
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

/** What of a process's stdout or stderr is used here. */
export interface Output {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  readonly write: (text: string, done: (error?: Error | null) => void) => boolean
  readonly on: (event: "error", listener: (error: Error) => void) => unknown
}

export interface Streams {
  readonly stdin: AsyncIterable<Uint8Array | string>
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
}

const writer = (stream: Output) => {
  let gone = false
  stream.on("error", () => {
    gone = true
  })
  return (text: string): Effect.Effect<void> =>
    Effect.callback<void>((resume) => {
      if (gone) return resume(Effect.void)
      stream.write(text, () => resume(Effect.void))
    })
}

const readAll = async (stdin: AsyncIterable<Uint8Array | string>): Promise<string> => {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let text = ""
  for await (const chunk of stdin) text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}

/** The terminal over a process's own streams. */
export const layerWith = (streams: Streams): Layer.Layer<Service> =>
  Layer.sync(Service, () => {
    const redraws = streams.stderr.isTTY === true && streams.env.TERM !== "dumb"
    return {
      out: writer(streams.stdout),
      err: writer(streams.stderr),
      input: Effect.tryPromise({
        try: () => readAll(streams.stdin),
        catch: (cause) => new InputFailed({ reason: String(cause) }),
      }),
      outIsTerminal: streams.stdout.isTTY === true,
      errIsTerminal: streams.stderr.isTTY === true,
      columns: Effect.sync(() => streams.stderr.columns ?? 80),
      rows: Effect.sync(() => streams.stderr.rows ?? 24),
      color: redraws && (streams.env.NO_COLOR ?? "") === "",
      redraws,
    }
  })

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
    outIsTerminal: false,
    errIsTerminal: false,
    columns: Effect.succeed(80),
    rows: Effect.succeed(24),
    color: false,
    redraws: false,
    ...options,
    out: push(out),
    err: push(err),
    input: Effect.succeed(options.input ?? ""),
  }
  return [Layer.succeed(Service, terminal), { out: () => out.join(""), err: () => err.join("") }]
}

export * as Terminal from "./Terminal.ts"
