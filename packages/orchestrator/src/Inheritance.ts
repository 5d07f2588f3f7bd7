import type { Effort } from "./Config.ts"
import type { Profile } from "./Harness.ts"

/** What an `acp.kit` child takes over from its parent (S91, S94); generic harnesses get none of it. Absent is the child's own default. */
export interface Inheritance {
  readonly model?: string
  readonly provider?: string
  /** As resolved from arguments and configuration; absent says `default`. */
  readonly reasoningEffort?: Effort
  /** Absolute path. */
  readonly mcpConfig?: string
  /** The configuration file that the parent was told to use, absolute; absent where it is the one of `KIT_HOME`. */
  readonly config?: string
  /** The parent keeps nothing on disk, and neither does anybody below it. */
  readonly ephemeral?: boolean
  /** Secrets of Kit's own provider, by the name of their variable. They travel in the environment only, never in arguments, and to no other harness (S96). */
  readonly secrets?: Readonly<Record<string, string>>
}

/** What one start of an `acp.kit` child is about. */
export interface KitStart {
  /** Working directory of the child, absolute. */
  readonly root: string
  /** The handle's id, which is the child's durable session too (K02). */
  readonly sessionId: string
  /** The child's own depth: its parent's plus one. */
  readonly depth: number
  /** The session exists already. */
  readonly resume: boolean
  /** Absolute path of a file that holds the system prompt of its definition, where it has one (K03). */
  readonly systemPromptFile?: string
}

const flag = (name: string, value: string | undefined): ReadonlyArray<string> => (value === undefined ? [] : [name, value])

/** The whole argument list of an `acp.kit` child: its base arguments, then Kit's own (S92). Nothing of it is secret. */
export const kitArguments = (profile: Profile, inherited: Inheritance, start: KitStart): ReadonlyArray<string> => [
  ...profile.args,
  "--root",
  start.root,
  ...flag("--config", inherited.config),
  ...flag("--model", inherited.model),
  ...flag("--provider", inherited.provider),
  "--reasoning-effort",
  inherited.reasoningEffort ?? "default",
  ...flag("--mcp-config", inherited.mcpConfig),
  ...(inherited.ephemeral === true ? ["--no-session"] : []),
  "--session-id",
  start.sessionId,
  "--subagent-depth",
  String(start.depth),
  ...flag("--system-prompt-file", start.systemPromptFile),
  ...(start.resume ? ["--resume"] : []),
]

/** Provider keys that Kit uses itself when it finds them in its environment. */
const own = ["OPENROUTER_API_KEY"]

/**
 * The environment of a child (decision 23): the parent's whole one; `acp.kit` gets Kit's own secrets besides, any other harness loses them.
 * `more` are the variables of a definition.
 */
export const environment = (
  profile: Profile,
  parent: Readonly<Record<string, string>>,
  inherited: Inheritance,
  more: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> => {
  const secrets = inherited.secrets ?? {}
  if (profile.isKit) return { ...parent, ...secrets, ...more }
  const held = new Set([...own, ...Object.keys(secrets)])
  return { ...Object.fromEntries(Object.entries(parent).filter(([name]) => !held.has(name))), ...more }
}
