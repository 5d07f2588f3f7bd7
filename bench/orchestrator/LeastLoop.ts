import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"

interface Message {
  readonly id?: number
  readonly method?: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever the agent says
  readonly params?: any
  // biome-ignore lint/suspicious/noExplicitAny: whatever the agent says
  readonly result?: any
}

/** The least that can drive an agent of version 2: lines in, lines out. */
export class LeastLoop {
  readonly child: ChildProcessWithoutNullStreams
  onUpdate: (update: Message["params"]) => void = () => {}
  readonly #waiting = new Map<number, (result: Message["result"]) => void>()
  readonly #gone: Promise<never>
  #ids = 0
  #pending = ""

  constructor([command, ...args]: readonly [string, ...ReadonlyArray<string>], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(command, args, { stdio: "pipe", env: { ...process.env, ...env } })
    this.child.stderr.resume()
    this.#gone = new Promise((_, reject) => {
      this.child.once("exit", (code, signal) => reject(new Error(`${args.join(" ")} ended without an answer: ${code ?? signal}`)))
    })
    this.#gone.catch(() => {})
    this.child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (this.#pending + chunk).split("\n")
      this.#pending = lines.pop() ?? ""
      for (const line of lines) this.#take(JSON.parse(line))
    })
  }

  #take({ id, method, params, result }: Message): void {
    if (method === "session/update") this.onUpdate(params.update)
    else if (id !== undefined) this.#waiting.get(id)?.(result)
  }

  ask(method: string, params: unknown): Promise<Message["result"]> {
    const id = this.#ids++
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
    return Promise.race([this.#gone, new Promise((resolve) => this.#waiting.set(id, resolve))])
  }

  /** Up to an open session; gives its id. */
  async open(cwd: string): Promise<string> {
    await this.ask("initialize", { protocolVersion: 2, info: { name: "bench", version: "0" }, capabilities: {} })
    return (await this.ask("session/new", { cwd, mcpServers: [] })).sessionId
  }

  /** A turn, to its idle. */
  prompt(sessionId: string, text: string): Promise<void> {
    return new Promise((resolve) => {
      const before = this.onUpdate
      this.onUpdate = (update) => {
        before(update)
        if (update.sessionUpdate !== "state_update" || update.state !== "idle") return
        this.onUpdate = before
        resolve()
      }
      void this.ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] })
    })
  }

  async end(): Promise<void> {
    const exited = new Promise((resolve) => this.child.once("exit", resolve))
    this.child.stdin.end()
    await exited
  }
}
