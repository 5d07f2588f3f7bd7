import { Config, type ConfigError, type Problem, render, type Settings } from "@acp-kit/orchestrator/Config"
import { Host } from "@acp-kit/platform/Host"
import type { JsonObject } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import { CommandFailed } from "./CommandFailed.ts"
import { Terminal } from "./Terminal.ts"

const problemJson = (problem: Problem): JsonObject => ({
  code: problem.code,
  message: problem.message,
  ...(problem.key === undefined ? {} : { key: problem.key }),
  ...(problem.line === undefined ? {} : { line: problem.line }),
  ...(problem.nearest === undefined ? {} : { nearest: problem.nearest }),
})

const refused = (error: ConfigError): CommandFailed =>
  new CommandFailed({
    exit: 2,
    text: error.problems.map((problem) => `kit: ${error.path}: ${render(problem)}`).join("\n"),
    error: { code: error.code, message: error.message, path: error.path, problems: error.problems.map(problemJson) },
  })

/** The absolute path of the configuration file: what `--config` names, else the one of Kit's home. */
export const pathOf = Effect.fnUntraced(function* (config: string | undefined) {
  const host = yield* Host.Service
  const path = yield* Path.Path
  return config === undefined ? path.join(host.kitHome, "config.toml") : path.resolve(host.cwd, config)
})

/** Reads the configuration without a word on stderr; what is wrong with it fails with exit 2. */
export const read = Effect.fnUntraced(function* (config: string | undefined) {
  const file = yield* pathOf(config)
  return yield* Config.load(file, { required: config !== undefined }).pipe(Effect.mapError(refused))
})

/** A line for each warning of a configuration. */
export const warnings = (settings: Settings): ReadonlyArray<string> =>
  settings.warnings.map((problem) => `kit: warning: ${settings.path}: ${render(problem)}`)

/** Reads the configuration and says on stderr what is odd about it. */
export const load = Effect.fnUntraced(function* (config: string | undefined) {
  const settings = yield* read(config)
  const terminal = yield* Terminal.Service
  const lines = warnings(settings)
  if (lines.length > 0) yield* terminal.err(`${lines.join("\n")}\n`)
  return settings
})

export * as ConfigFile from "./ConfigFile.ts"
