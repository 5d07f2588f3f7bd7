import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { nested } from "./NestedKit.ts"
import type { Measure } from "./Sample.ts"

interface Message {
  readonly id?: unknown
  readonly method?: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever the agent says
  readonly params?: any
  // biome-ignore lint/suspicious/noExplicitAny: whatever the agent says
  readonly result?: any
}

/** A client of `kit acp` that remembers only what it waits for. */
class Client {
  readonly #child
  readonly #waiting = new Map<unknown, (message: Message) => void>()
  onUpdate: (update: { readonly sessionUpdate: string }) => void = () => {}
  #ids = 0

  constructor(home: string, ...args: ReadonlyArray<string>) {
    this.#child = Bun.spawn([...nested, ...args], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "ignore",
      env: { ...process.env, KIT_HOME: home },
    })
    void this.#read()
  }

  async #read() {
    const decoder = new TextDecoder()
    let rest = ""
    for await (const chunk of this.#child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) this.#take(JSON.parse(line))
    }
  }

  #take(message: Message) {
    if (message.method === "session/update") return this.onUpdate(message.params.update)
    this.#waiting.get(message.id)?.(message)
    this.#waiting.delete(message.id)
  }

  call(method: string, params: object): Promise<Message> {
    const id = this.#ids++
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
    this.#child.stdin.flush()
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }

  async end() {
    await this.#child.stdin.end()
    await this.#child.exited
  }
}

const rounds = 15

/** Milliseconds to the first update of a load, and to its answer. */
interface Loaded {
  readonly first: number
  readonly whole: number
}

const text = (text: string) => [{ type: "text", text }]

/** Milliseconds that an asynchronous thing takes. */
const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const before = performance.now()
  await work()
  return performance.now() - before
}

/** Puts a session of so many items into the store and gives its id. */
const sessionOf = (home: string, root: string, count: number): string => {
  const fixture = join(import.meta.dir, "fixtures/session.ts")
  const made = Bun.spawnSync([process.execPath, "--conditions=@acp-kit/source", fixture, home, root, String(count)])
  if (made.exitCode !== 0) throw new Error(String(made.stderr))
  return String(made.stdout).trim()
}

/** A `kit acp` at work: a turn, a stream of updates, a fork, a load. The floor of a turn is the answer to an unknown method. */
export const measure = async (): Promise<ReadonlyArray<Measure>> => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "kit-bench-")))
  const home = join(root, "home")
  mkdirSync(home)
  const words = "z".repeat(100_000)
  writeFileSync(join(home, "config.toml"), `script = "script.json"\n`)
  writeFileSync(
    join(home, "script.json"),
    JSON.stringify({ version: 1, rules: [{ match: "^flood", steps: [{ say: words, pieces: 50_000 }] }] }),
  )
  try {
    const client = new Client(home)
    await client.call("initialize", { protocolVersion: 1, clientCapabilities: {} })
    const open = { cwd: root, mcpServers: [] }
    const { sessionId } = (await client.call("session/new", open)).result
    const prompt = (words: string) => client.call("session/prompt", { sessionId, prompt: text(words) })
    const floor: Array<number> = []
    const turns: Array<number> = []
    const programs: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      floor.push(await timed(() => client.call("no/such/method", {})))
      turns.push(await timed(() => prompt("hello")))
      programs.push(await timed(() => prompt("```runlet\nreturn 1 + 1\n```")))
    }
    let updates = 0
    client.onUpdate = ({ sessionUpdate }) => {
      if (sessionUpdate === "agent_message_chunk") updates++
    }
    const seconds = (await timed(() => prompt("flood"))) / 1000
    await client.end()

    const thousand = sessionOf(home, root, 1_000)
    const tenThousand = sessionOf(home, root, 10_000)
    const opened = async () => {
      const client = new Client(home)
      await client.call("initialize", { protocolVersion: 1, clientCapabilities: {} })
      return client
    }
    const second = await opened()
    await second.call("session/load", { sessionId: thousand, ...open })
    const forks: Array<number> = []
    for (let round = 0; round < rounds; round++)
      forks.push(await timed(() => second.call("session/fork", { sessionId: thousand, ...open })))
    await second.end()

    const load = async (client: Client) => {
      const before = performance.now()
      let first: number | undefined
      client.onUpdate = () => {
        first ??= performance.now() - before
      }
      await client.call("session/load", { sessionId: tenThousand, ...open })
      const whole = performance.now() - before
      await client.call("session/close", { sessionId: tenThousand })
      return { first: first ?? whole, whole }
    }
    const [cold, warm]: [Array<Loaded>, Array<Loaded>] = [[], []]
    for (let round = 0; round < 5; round++) {
      const client = await opened()
      cold.push(await load(client))
      warm.push(await load(client))
      await client.end()
    }
    return [
      {
        title: "A turn, from the prompt to its answer",
        unit: "ms",
        samples: [
          { name: "an error, the least answer", values: floor },
          { name: "a prompt", values: turns },
          { name: "a prompt with a program", values: programs },
        ],
      },
      {
        title: `Updates to one client (${updates} of 50,000 arrived)`,
        unit: "per ms",
        samples: [{ name: "kit acp", values: [updates / seconds / 1000] }],
      },
      { title: "A fork of a session of 1,000 items", unit: "ms", samples: [{ name: "kit acp", values: forks }] },
      {
        title: "A load of a session of 10,000 items",
        unit: "ms",
        samples: [
          { name: "to the first update, first in a process", values: cold.map(({ first }) => first) },
          { name: "to the first update, later ones", values: warm.map(({ first }) => first) },
          { name: "to the answer, first in a process", values: cold.map(({ whole }) => whole) },
          { name: "to the answer, later ones", values: warm.map(({ whole }) => whole) },
        ],
      },
    ]
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
