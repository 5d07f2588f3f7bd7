import * as Fs from "node:fs"
import * as Path from "node:path"
import type * as Effect from "effect/Effect"
import * as Appears from "./Appears.ts"
import { type Fields, fields, text } from "./scripted-agent/Value.ts"
import type { Entry } from "./scripted-agent/Wire.ts"

export type { Entry } from "./scripted-agent/Wire.ts"

/** One frame that the agent read (`in`) or wrote (`out`). Integers beyond 2^53 are exact in `line` only. */
export interface Frame {
  readonly pid: number
  readonly dir: "in" | "out"
  readonly line: string
  readonly message: Fields
}

/** Something that happened to the agent: `start`, `eof`, a signal, `gate`, `flood`, `grandchild`, `exit`. */
export interface Event {
  readonly pid: number
  readonly event: string
  readonly detail: unknown
}

/** What the processes of a scripted agent wrote down, in the order in which it happened. */
export class Recording {
  readonly file: string
  readonly #pid: number | undefined

  constructor(file: string, pid?: number) {
    this.file = file
    this.#pid = pid
  }

  /** What one process wrote down. */
  of(pid: number): Recording {
    return new Recording(this.file, pid)
  }

  /** All whole lines so far; none where the agent was never started. */
  get entries(): ReadonlyArray<Entry> {
    if (!Fs.existsSync(this.file)) return []
    const lines = Fs.readFileSync(this.file, "utf8").split("\n")
    const entries = lines.slice(0, -1).map((line) => JSON.parse(line) as Entry)
    return this.#pid === undefined ? entries : entries.filter((entry) => entry.pid === this.#pid)
  }

  /** The frames, without lines that are no JSON objects. */
  get frames(): ReadonlyArray<Frame> {
    return this.entries.flatMap((entry) => {
      if (entry.dir === "event") return []
      try {
        return [{ pid: entry.pid, dir: entry.dir, line: entry.line, message: fields(JSON.parse(entry.line)) }]
      } catch {
        return []
      }
    })
  }

  /** What the agent read, in short: the method, or `result` or `error` for an answer. */
  get received(): ReadonlyArray<string> {
    return this.frames.filter((frame) => frame.dir === "in").map(({ message }) => nameOf(message))
  }

  /** Both directions in short: `> initialize`, `< result`, `< session/update agent_message_chunk`. */
  get exchange(): ReadonlyArray<string> {
    return this.frames.map(({ dir, message }) => {
      const kind = text(fields(fields(message.params).update).sessionUpdate)
      return `${dir === "in" ? ">" : "<"} ${nameOf(message)}${kind === undefined ? "" : ` ${kind}`}`
    })
  }

  /** The parameters of every request or notification of this name that the agent read. */
  params(method: string): ReadonlyArray<Fields> {
    return this.frames
      .filter(({ dir, message }) => dir === "in" && message.method === method)
      .map(({ message }) => fields(message.params))
  }

  get events(): ReadonlyArray<Event> {
    return this.entries.flatMap((entry) =>
      entry.dir === "event" ? [{ pid: entry.pid, event: entry.event, detail: entry.detail }] : [],
    )
  }

  /** The processes that were started, in order. */
  get pids(): ReadonlyArray<number> {
    return this.events.filter(({ event }) => event === "start").map(({ pid }) => pid)
  }

  /** Waits until the recording holds what is looked for. */
  until<A>(look: (recording: Recording) => A | undefined): Effect.Effect<A> {
    return Appears.until(Path.dirname(this.file), () => look(this))
  }

  /** Waits until the agent has read `count` requests or notifications of this name. */
  untilReceived(method: string, count = 1): Effect.Effect<ReadonlyArray<Fields>> {
    return this.until((recording) => {
      const found = recording.params(method)
      return found.length < count ? undefined : found
    })
  }
}

const nameOf = (message: Fields): string => text(message.method) ?? ("error" in message ? "error" : "result")
