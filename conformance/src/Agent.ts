import { type ChildProcess, spawn } from "node:child_process"
import { violations } from "./Schemas.ts"

/** A message as it stood on the wire. */
export type Message = { readonly [key: string]: any }

export type Version = 1 | 2

/** How an agent is started, and which prompts make it do what the suite wants to see. */
export interface Subject {
  readonly command: readonly [string, ...ReadonlyArray<string>]
  readonly version: Version
  /** Absolute path of an existing directory. */
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** It is told to take JSON-RPC batches, as revisions of version 2 before the SDK's ask. */
  readonly batches?: boolean
  readonly prompts: {
    /** Answered with text at once. */
    readonly quick: string
    /** Makes the agent call a tool. */
    readonly tool?: string
    /** Keeps the agent at work for many seconds. */
    readonly slow?: string
  }
}

const patience = 20_000

/** One running agent, spoken to in lines; everything it says is kept. */
export class Agent {
  readonly #child: ChildProcess
  readonly #waiting = new Set<() => void>()
  readonly #methods = new Map<unknown, string>()
  #rest = Buffer.alloc(0)
  #ids = 0

  /** Every complete line of stdout, as bytes. */
  readonly lines: Array<Buffer> = []
  /** Every message, those of arrays one by one. */
  readonly messages: Array<Message> = []
  /** Lines that are not JSON. */
  readonly broken: Array<string> = []
  exit: { readonly code: number | null; readonly signal: string | null } | undefined
  readonly subject: Subject

  constructor(subject: Subject) {
    this.subject = subject
    const [command, ...args] = subject.command
    this.#child = spawn(command, args, {
      cwd: subject.cwd,
      env: { ...process.env, ...subject.env },
      stdio: ["pipe", "pipe", "ignore"],
    })
    this.#child.stdout?.on("data", (chunk: Buffer) => this.#take(chunk))
    this.#child.stdin?.on("error", () => {})
    this.#child.on("close", (code, signal) => {
      this.exit = { code, signal }
      this.#wake()
    })
    this.#child.on("error", () => {
      this.exit = { code: null, signal: null }
      this.#wake()
    })
  }

  #take(chunk: Buffer) {
    this.#rest = Buffer.concat([this.#rest, chunk])
    for (let end = this.#rest.indexOf(10); end !== -1; end = this.#rest.indexOf(10)) {
      const line = this.#rest.subarray(0, end)
      this.#rest = this.#rest.subarray(end + 1)
      this.lines.push(line)
      this.#read(line.toString("utf8"))
    }
    this.#wake()
  }

  #read(line: string) {
    if (line.trim() === "") return
    try {
      const value = JSON.parse(line)
      for (const message of Array.isArray(value) ? value : [value]) {
        this.messages.push(message)
        this.#answer(message)
      }
    } catch {
      this.broken.push(line)
    }
  }

  /** Requests of the agent are answered: permission is given, all else is not known here. */
  #answer(message: Message) {
    if (!("method" in message) || !("id" in message)) return
    const option = message.method === "session/request_permission" ? message.params?.options?.[0]?.optionId : undefined
    const error = { code: -32601, message: "Method not found" }
    this.send({
      id: message.id,
      ...(option === undefined ? { error } : { result: { outcome: { outcome: "selected", optionId: option } } }),
    })
  }

  #wake() {
    for (const look of [...this.#waiting]) look()
  }

  /** Writes bytes as they are. */
  raw(text: string | Uint8Array) {
    this.#child.stdin?.write(text)
  }

  send(message: object) {
    this.raw(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  }

  notify(method: string, params: unknown = {}) {
    this.send({ method, params })
  }

  /** Sends a request and gives its id. */
  ask(method: string, params: unknown = {}, id: unknown = this.#ids++): unknown {
    this.#methods.set(id, method)
    this.send({ id, method, params })
    return id
  }

  /** Waits for the answer to a request. */
  answer(id: unknown): Promise<Message> {
    return this.until(`an answer to ${this.#methods.get(id)}`, () =>
      this.messages.find((message) => !("method" in message) && message.id === id),
    )
  }

  /** Sends a request and waits for its answer, result or error. */
  call(method: string, params: unknown = {}, id?: unknown): Promise<Message> {
    return this.answer(this.ask(method, params, id))
  }

  /** Waits until a look finds something; fails after twenty seconds or when the agent has ended. */
  until<A>(what: string, look: () => A | undefined, within = patience): Promise<A> {
    return new Promise((resolve, reject) => {
      const done = (finish: () => void) => {
        clearTimeout(timer)
        this.#waiting.delete(check)
        finish()
      }
      const check = () => {
        const found = look()
        if (found !== undefined) done(() => resolve(found))
        else if (this.exit !== undefined) done(() => reject(new Error(`the agent ended while the suite waited for ${what}`)))
      }
      const timer = setTimeout(() => done(() => reject(new Error(`no ${what} within ${within} ms`))), within)
      this.#waiting.add(check)
      check()
    })
  }

  /** Lets time pass in which nothing more should come, and gives what came. */
  async quiet(milliseconds = 500): Promise<ReadonlyArray<Message>> {
    const before = this.messages.length
    await new Promise((resolve) => setTimeout(resolve, milliseconds))
    return this.messages.slice(before)
  }

  updates(sessionId?: unknown): ReadonlyArray<Message> {
    return this.messages.flatMap(({ method, params }) =>
      method === "session/update" && (sessionId === undefined || params?.sessionId === sessionId) ? [params.update] : [],
    )
  }

  /** What of all that was said misses the SDK's schema. */
  violations(): ReadonlyArray<string> {
    return this.messages.flatMap((message) => {
      if ("error" in message) return []
      const method = "method" in message ? message.method : this.#methods.get(message.id)
      return method === undefined || method.startsWith("_") ? [] : violations(this.subject.version, message, method)
    })
  }

  /** Ends the input and gives the milliseconds until the agent has left, or `undefined` where it did not within the bound. */
  async leave(within: number): Promise<number | undefined> {
    const before = performance.now()
    this.#child.stdin?.end()
    while (this.exit === undefined && performance.now() - before < within) await new Promise((resolve) => setTimeout(resolve, 5))
    return this.exit === undefined ? undefined : performance.now() - before
  }

  async stop() {
    if ((await this.leave(3000)) === undefined) this.#child.kill("SIGKILL")
  }
}
