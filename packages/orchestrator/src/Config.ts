import { TextFile } from "@acp-kit/platform/TextFile"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import { parse, TomlError } from "smol-toml"
import { type HarnessTables, readHarnesses } from "./ConfigHarnesses.ts"
import { ConfigError, type Problem } from "./ConfigProblem.ts"
import { Findings, type Table } from "./ConfigTable.ts"
import type { Limits } from "./Limits.ts"
import { locate } from "./TomlLines.ts"
import { TomlProblem } from "./TomlProblem.ts"

export { ConfigError, type Problem, render } from "./ConfigProblem.ts"

export const efforts = ["low", "medium", "high"] as const

/** A reasoning effort that a configuration may set; `default` is its absence (S93, S94). */
export type Effort = (typeof efforts)[number]

/** What `config.toml` says. A key that the file does not have is absent here; the defaults belong to whoever reads it. */
export interface Settings extends HarnessTables {
  readonly path: string
  /** There was a file. */
  readonly found: boolean
  readonly model?: string
  readonly provider?: string
  readonly reasoningEffort?: Effort
  /** Tokens, for models whose window is unknown (S52). */
  readonly contextWindow?: number
  /** As written; a relative path counts from Kit's working directory. */
  readonly mcpConfig?: string
  /** The rules of `provider = "scripted"`, as written. */
  readonly script?: string
  /** Deadlines that differ from the defaults. */
  readonly limits: Partial<Limits.Interface>
  /** Unknown keys and the like (decision 17). */
  readonly warnings: ReadonlyArray<Problem>
}

const keys = ["model", "provider", "reasoning_effort", "context_window", "mcp_config", "script", "acp", "subagent", "limits"]

const deadlines: Readonly<Record<string, keyof Limits.Interface>> = {
  startup_seconds: "startupMs",
  fork_seconds: "forkMs",
  cancel_seconds: "cancelMs",
  steer_seconds: "steerMs",
  close_seconds: "closeMs",
  delete_seconds: "deleteMs",
}

const readLimits = (found: Findings, root: Table): Partial<Limits.Interface> => {
  const table = found.table(root, ["limits"]) ?? {}
  found.unknownKeys(table, ["limits"], Object.keys(deadlines))
  const limits: Partial<Record<keyof Limits.Interface, number>> = {}
  for (const [key, limit] of Object.entries(deadlines)) {
    const seconds = found.positive(table, ["limits", key], false)
    if (seconds !== undefined) limits[limit] = seconds * 1000
  }
  return limits
}

const present = <A extends object>(record: A): { [K in keyof A]?: Exclude<A[K], undefined> } =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as {
    [K in keyof A]?: Exclude<A[K], undefined>
  }

const refuse = (path: string, problems: ReadonlyArray<Problem>) => {
  const inOrder = [...problems].sort((left, right) => (left.line ?? 0) - (right.line ?? 0))
  return new ConfigError({ path, problems: inOrder as [Problem, ...Array<Problem>] })
}

const parseToml = (path: string, source: string): Effect.Effect<Table, ConfigError> =>
  Effect.try({
    try: () => parse(source),
    catch: (cause) => {
      const message = `could not parse TOML: ${TomlProblem.explain(source, cause)}`
      return refuse(path, [{ code: "CONFIG", message, ...(cause instanceof TomlError ? { line: cause.line } : {}) }])
    },
  })

/** Reads the text of a configuration file; `path` is for messages only. */
export const decode = Effect.fnUntraced(function* (path: string, source: string): Effect.fn.Return<Settings, ConfigError> {
  const root = yield* parseToml(path, source)
  const found = new Findings(locate(source))
  found.unknownKeys(root, [], keys)
  const settings: Settings = {
    path,
    found: true,
    ...present({
      model: found.string(root, ["model"]),
      provider: found.string(root, ["provider"]),
      reasoningEffort: found.oneOf(root, ["reasoning_effort"], efforts),
      contextWindow: found.positive(root, ["context_window"], true),
      mcpConfig: found.string(root, ["mcp_config"]),
      script: found.string(root, ["script"]),
    }),
    ...readHarnesses(found, root),
    limits: readLimits(found, root),
    warnings: found.warnings,
  }
  if (found.errors.length > 0) return yield* refuse(path, found.errors)
  return settings
})

/** What a machine without a configuration file has. */
export const empty = (path: string): Settings => ({
  path,
  found: false,
  profiles: [],
  policies: new Map(),
  limits: {},
  warnings: [],
})

/**
 * Reads the file at `path`. A file that is not there is {@link empty} unless it was asked for by name (`required`).
 * Nothing of the machine is changed.
 */
export const load = Effect.fn("Config.load")(function* (
  path: string,
  options: { readonly required?: boolean } = {},
): Effect.fn.Return<Settings, ConfigError, FileSystem.FileSystem> {
  const source = yield* Effect.catch(TextFile.read(path), ({ missing, why }) =>
    missing && options.required !== true
      ? Effect.void
      : Effect.fail(refuse(path, [{ code: "CONFIG", message: `could not read config: ${why}` }])),
  )
  return source === undefined ? empty(path) : yield* decode(path, TextFile.unmarked(source))
})

export * as Config from "./Config.ts"
