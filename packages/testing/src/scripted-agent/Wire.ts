import * as Fs from "node:fs"

/** What one line of a recording says; `line` is the raw text, so that nothing of it is lost to a number. */
export type Entry =
  | { readonly pid: number; readonly at: number; readonly dir: "in" | "out"; readonly line: string }
  | { readonly pid: number; readonly at: number; readonly dir: "event"; readonly event: string; readonly detail?: unknown }

const LINE_FEED = 10

/** The runtime may hold copies of the descriptor; the reader sees the end only when all are closed. */
const descriptorsOfOutput = (): ReadonlyArray<number> => {
  const target = (fd: number | string) => {
    try {
      return Fs.readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return undefined
    }
  }
  const output = target(1)
  if (output === undefined) return [1]
  return Fs.readdirSync("/proc/self/fd")
    .filter((fd) => target(fd) === output)
    .map(Number)
}

/** The agent's own stdin and stdout: lines in, bytes out, both recorded as they happen. */
export class Wire {
  readonly #record: number | undefined
  readonly #started = performance.now()
  #tail: Promise<void> = Promise.resolve()
  #held: Array<Uint8Array> | undefined
  #closed = false

  constructor(recordFile: string | undefined) {
    this.#record = recordFile === undefined ? undefined : Fs.openSync(recordFile, "a", 0o600)
    process.stdout.on("error", () => {
      this.#closed = true
    })
  }

  event(event: string, detail?: unknown): void {
    this.#note(detail === undefined ? { dir: "event", event } : { dir: "event", event, detail })
  }

  /** Queues one line. Resolves when the reader's pipe has taken it and all that was queued before. */
  line(line: string): Promise<void> {
    this.#note({ dir: "out", line })
    return this.bytes(Buffer.from(`${line}\n`))
  }

  /** Queues bytes that are no line of the protocol. */
  bytes(bytes: Uint8Array): Promise<void> {
    if (this.#held !== undefined) {
      this.#held.push(bytes)
      return Promise.resolve()
    }
    this.#tail = this.#tail.then(() => this.#write(bytes))
    return this.#tail
  }

  /** From here on everything is held back until {@link release}. */
  hold(): void {
    this.#held ??= []
  }

  get holding(): boolean {
    return this.#held !== undefined
  }

  release(): Promise<void> {
    const held = this.#held
    this.#held = undefined
    return held === undefined || held.length === 0 ? this.#tail : this.bytes(Buffer.concat(held))
  }

  get flushed(): Promise<void> {
    return this.#tail
  }

  close(): Promise<void> {
    this.#tail = this.#tail.then(() => {
      this.#closed = true
      for (const fd of descriptorsOfOutput()) Fs.closeSync(fd)
    })
    return this.#tail
  }

  /** Calls `onLine` for every line of stdin, then `onEnd`. A last line without a line feed counts. */
  listen(onLine: (line: string) => void, onEnd: () => void): void {
    let rest: Array<Buffer> = []
    const take = (line: Buffer) => {
      const text = line.toString("utf8")
      if (text.trim() === "") return
      this.#note({ dir: "in", line: text })
      onLine(text)
    }
    process.stdin.on("data", (chunk: Buffer) => {
      let from = 0
      for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
        rest.push(chunk.subarray(from, at))
        take(Buffer.concat(rest))
        rest = []
        from = at + 1
      }
      if (from < chunk.length) rest.push(chunk.subarray(from))
    })
    process.stdin.on("end", () => {
      if (rest.length > 0) take(Buffer.concat(rest))
      this.event("eof")
      onEnd()
    })
  }

  #note(entry: Record<string, unknown>): void {
    if (this.#record === undefined) return
    const at = Math.round((performance.now() - this.#started) * 1000) / 1000
    Fs.writeSync(this.#record, `${JSON.stringify({ pid: process.pid, at, ...entry })}\n`)
  }

  #write(bytes: Uint8Array): Promise<void> {
    if (this.#closed || bytes.length === 0) return Promise.resolve()
    return new Promise((taken) => {
      process.stdout.write(bytes, (cause) => {
        this.#closed ||= cause !== undefined && cause !== null
        taken()
      })
    })
  }
}
