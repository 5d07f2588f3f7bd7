import type { Effort } from "@acp-kit/agent/ModelProvider"

/** What `kit acp` was asked for. Absent is the default of the configuration, else of the program. */
export interface Arguments {
  readonly protocol: 1 | 2 | "auto"
  /** What becomes of JSON-RPC batches. */
  readonly batches: "reject" | "jsonrpc"
  /** The one working directory that sessions may have. */
  readonly root?: string
  /** Directories that every session has beside its own. */
  readonly addDirs: ReadonlyArray<string>
  readonly model?: string
  readonly provider?: string
  readonly effort?: Effort
  /** The id of the first session. */
  readonly sessionId?: string
  /** The first session exists already. */
  readonly resume: boolean
  /** Nothing is kept on disk, here and below. */
  readonly ephemeral: boolean
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

const values = [
  "--protocol-version",
  "--batches",
  "--root",
  "--add-dir",
  "--model",
  "--provider",
  "--reasoning-effort",
  "--session-id",
  "--config",
  "--mcp-config",
  "--system-prompt-file",
  "--subagent-depth",
]

/** The flags that `kit acp` knows. `--help` and `--version` are answered by the command line, before this program is loaded. */
export const flags: ReadonlyArray<string> = [...values, "--resume", "--no-session"]

/** Reads the arguments behind `acp`. */
export const parse = (argv: ReadonlyArray<string>): Arguments | Mistake => {
  const given = new Map<string, string>()
  const addDirs: Array<string> = []
  const rest = [...argv]
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [flag, attached] = split(word)
    if (!flags.includes(flag)) return { mistake: unknown(word) }
    const takesValue = values.includes(flag)
    if (!takesValue && attached !== undefined) return { mistake: `${flag} takes no value` }
    const value = takesValue ? (attached ?? rest.shift()) : ""
    if (value === undefined) return { mistake: `${flag} needs a value` }
    if (value === "" && takesValue) return { mistake: `${flag} must not be empty` }
    if (flag === "--add-dir") {
      addDirs.push(value)
      continue
    }
    if (given.has(flag)) return { mistake: `${flag} is given twice` }
    given.set(flag, value)
  }
  return read(given, addDirs)
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

const read = (given: ReadonlyMap<string, string>, addDirs: ReadonlyArray<string>): Arguments | Mistake => {
  const protocol = protocols.get(given.get("--protocol-version") ?? "1")
  if (protocol === undefined) return { mistake: "--protocol-version must be 1, 2 or auto" }
  const batches = given.get("--batches") ?? "reject"
  if (batches !== "reject" && batches !== "jsonrpc") return { mistake: "--batches must be reject or jsonrpc" }
  const effort = given.get("--reasoning-effort")
  if (effort !== undefined && !isEffort(effort)) return { mistake: "--reasoning-effort must be default, low, medium or high" }
  const depth = given.get("--subagent-depth") ?? "0"
  if (!/^\d{1,3}$/.test(depth)) return { mistake: "--subagent-depth must be a whole number" }
  if (given.has("--resume") && !given.has("--session-id")) return { mistake: "--resume needs --session-id" }
  if (given.has("--resume") && given.has("--no-session")) return { mistake: "--resume and --no-session exclude each other" }
  const optional = (flag: string, key: string) => (given.has(flag) ? { [key]: given.get(flag) } : {})
  return {
    protocol,
    batches,
    addDirs,
    resume: given.has("--resume"),
    ephemeral: given.has("--no-session"),
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
