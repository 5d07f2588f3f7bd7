import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** Where a definition was read from, and what it was then. */
export const DefinitionSource = Schema.Struct({
  /** Absolute path of the `agents/<name>.md` it came from. */
  path: Schema.String,
  /** SHA-256 of its bytes, lower-case hex. */
  sha256: Schema.String,
})
export type DefinitionSource = typeof DefinitionSource.Type

/**
 * From what an agent was launched (K13): enough to launch it again. Written once, into `meta.json`.
 * `env` holds the values that may be stored; `secret_env` names those that may not, and that a resume must be given again.
 */
export const AgentLaunchSpec = Schema.Struct({
  name: Schema.String,
  description: Schema.optionalKey(Schema.String),
  definition: Schema.optionalKey(DefinitionSource),
  harness: Schema.optionalKey(Schema.String),
  model: Schema.optionalKey(Schema.String),
  cwd: Schema.optionalKey(Schema.String),
  env: Schema.Record(Schema.String, Schema.String),
  secret_env: Schema.Array(Schema.String),
  /** The JSON Schema its answers are asked to follow. */
  output_schema: Schema.optionalKey(Schema.Unknown),
})
export type AgentLaunchSpec = typeof AgentLaunchSpec.Type

const secretWord =
  /(^|[_-])(api[_-]?key|apikey|key|keys|token|tokens|secret|secrets|password|passwd|passphrase|pwd|pass|credential|credentials|auth|authorization|cookie|bearer|private|pat|dsn)([_-]|$)/i
const secretTail = /(token|secret|password|passwd|apikey|credentials?)$/i

/** Whether the name of a variable says that its value is a secret. */
export const looksSecret = (name: string): boolean => secretWord.test(name) || secretTail.test(name)

export interface MakeOptions extends Omit<AgentLaunchSpec, "env" | "secret_env"> {
  /** The variables the agent is launched with, beyond the parent's environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Names that the definition marks as secret, present in `env` or not. */
  readonly secrets?: ReadonlyArray<string>
}

/** The spec as it is stored: the value of a secret variable never reaches it, only the name. */
export const make = (options: MakeOptions): AgentLaunchSpec => {
  const { env = {}, secrets = [], ...rest } = options
  const secret = new Set(secrets)
  const stored: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (secret.has(name) || looksSecret(name)) secret.add(name)
    else stored[name] = value
  }
  return { ...rest, env: stored, secret_env: [...secret].sort() }
}

/** Secrets that were stored by name only are not set now; nothing was started. */
export class MissingSecrets extends Schema.TaggedError<MissingSecrets>()("MissingSecrets", {
  agent: Schema.String,
  names: Schema.Array(Schema.String),
}) {
  override get message() {
    return `agent "${this.agent}" needs ${this.names.join(", ")}: ${this.names.length === 1 ? "its value is a secret and was" : "their values are secrets and were"} not stored; set ${this.names.length === 1 ? "it" : "them"} in the environment and resume again`
  }
}

/** The variables of a launch, secrets taken from `available` (the environment of now); fails naming those that are not set there. */
export const environment = (
  spec: AgentLaunchSpec,
  available: Readonly<Record<string, string | undefined>>,
): Effect.Effect<Record<string, string>, MissingSecrets> => {
  const env: Record<string, string> = { ...spec.env }
  const names: Array<string> = []
  for (const name of spec.secret_env) {
    const value = available[name]
    if (value === undefined) names.push(name)
    else env[name] = value
  }
  return names.length === 0 ? Effect.succeed(env) : Effect.fail(new MissingSecrets({ agent: spec.name, names }))
}
