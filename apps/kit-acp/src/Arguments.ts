import type { Effort } from "@acp-kit/agent/ModelProvider"

/** What `kit acp` was asked for. Absent is the default of the configuration, else of the program. */
export interface Arguments {
  readonly protocol: 1 | 2 | "auto"
  /** What becomes of JSON-RPC batches. */
  readonly batches: "reject" | "jsonrpc"
  /** Working directory of the tools where a session names none of its own. */
  readonly root?: string
  readonly model?: string
  readonly provider?: string
  readonly effort?: Effort
  /** The id of the first session. */
  readonly sessionId?: string
  /** The first session exists already. */
  readonly resume: boolean
  readonly mcpConfig?: string
  readonly config?: string
  /** Nesting: 0 for a process that a person or an editor started. */
  readonly depth: number
  /** The file that holds the system prompt. */
  readonly systemPromptFile?: string
}

/** What is wrong with a call, for people. */
export interface Mistake {
  readonly mistake: string
}

export const usage = `kit acp: the Kit agent over stdio, for editors and parent agents

  --protocol-version 1|2|auto   versions of the protocol that are offered (default 1)
  --batches reject|jsonrpc      what becomes of JSON-RPC batches (default reject)
  --root DIR                    working directory (default the current one)
  --model ID                    model that sessions start with
  --provider NAME               provider of models
  --reasoning-effort LEVEL      default, low, medium or high
  --session-id ID               id of the first session
  --resume                      the first session exists already
  --config FILE                 configuration file (default config.toml of KIT_HOME)
  --mcp-config FILE             MCP servers
  --system-prompt-file FILE     text that precedes each conversation
  --subagent-depth N            nesting depth (default 0)
`

const values = [
  "--protocol-version",
  "--batches",
  "--root",
  "--model",
  "--provider",
  "--reasoning-effort",
  "--session-id",
  "--config",
  "--mcp-config",
  "--system-prompt-file",
  "--subagent-depth",
]

/** The flags that `kit acp` knows. */
export const flags: ReadonlyArray<string> = [...values, "--resume", "--help"]

/** Reads the arguments behind `acp`; `help` where they ask for it. */
export const parse = (argv: ReadonlyArray<string>): Arguments | Mistake | "help" => {
  const given = new Map<string, string>()
  const rest = [...argv]
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [flag, attached] = split(word)
    if (!flags.includes(flag)) return { mistake: unknown(word) }
    if (flag === "--help") return "help"
    const takesValue = values.includes(flag)
    if (!takesValue && attached !== undefined) return { mistake: `${flag} takes no value` }
    const value = takesValue ? (attached ?? rest.shift()) : ""
    if (value === undefined) return { mistake: `${flag} needs a value` }
    if (given.has(flag)) return { mistake: `${flag} is given twice` }
    given.set(flag, value)
  }
  return read(given)
}

const split = (word: string): readonly [string, string | undefined] => {
  const at = word.startsWith("--") ? word.indexOf("=") : -1
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
}

const unknown = (word: string) => (word.startsWith("-") ? `unknown flag ${word}` : `unexpected argument ${word}`)

const protocols = new Map<string, Arguments["protocol"]>([
  ["1", 1],
  ["2", 2],
  ["auto", "auto"],
])

const isEffort = (value: string): value is Effort => ["default", "low", "medium", "high"].includes(value)

const read = (given: ReadonlyMap<string, string>): Arguments | Mistake => {
  const protocol = protocols.get(given.get("--protocol-version") ?? "1")
  if (protocol === undefined) return { mistake: "--protocol-version must be 1, 2 or auto" }
  const batches = given.get("--batches") ?? "reject"
  if (batches !== "reject" && batches !== "jsonrpc") return { mistake: "--batches must be reject or jsonrpc" }
  const effort = given.get("--reasoning-effort")
  if (effort !== undefined && !isEffort(effort)) return { mistake: "--reasoning-effort must be default, low, medium or high" }
  const depth = given.get("--subagent-depth") ?? "0"
  if (!/^\d{1,3}$/.test(depth)) return { mistake: "--subagent-depth must be a whole number" }
  const empty = [...given].find(([flag, value]) => flag !== "--resume" && value === "")
  if (empty !== undefined) return { mistake: `${empty[0]} must not be empty` }
  if (given.has("--resume") && !given.has("--session-id")) return { mistake: "--resume needs --session-id" }
  const optional = (flag: string, key: string) => (given.has(flag) ? { [key]: given.get(flag) } : {})
  return {
    protocol,
    batches,
    resume: given.has("--resume"),
    depth: Number(depth),
    ...(effort === undefined ? {} : { effort }),
    ...optional("--root", "root"),
    ...optional("--model", "model"),
    ...optional("--provider", "provider"),
    ...optional("--session-id", "sessionId"),
    ...optional("--mcp-config", "mcpConfig"),
    ...optional("--config", "config"),
    ...optional("--system-prompt-file", "systemPromptFile"),
  }
}
