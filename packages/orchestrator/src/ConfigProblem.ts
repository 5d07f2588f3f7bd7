import * as Data from "effect/Data"
import type { Code } from "./SubagentError.ts"

/** One thing that is wrong, or odd, in a configuration file. */
export interface Problem {
  /** Dotted, as TOML writes it. */
  readonly key?: string
  /** 1-based. */
  readonly line?: number
  readonly message: string
  /** The nearest valid key or value, where one is close. */
  readonly nearest?: string
  /** `CONFIG` unless the same mistake in a call has a code of its own. */
  readonly code: "CONFIG" | Code
}

/** `line 4, acp.review.comand: unknown key; did you mean "command"?` */
export const render = (problem: Problem): string => {
  const place = [problem.line === undefined ? undefined : `line ${problem.line}`, problem.key].filter(
    (part) => part !== undefined,
  )
  const hint = problem.nearest === undefined ? "" : `; did you mean ${JSON.stringify(problem.nearest)}?`
  return `${place.length === 0 ? "" : `${place.join(", ")}: `}${problem.message}${hint}`
}

/** The configuration file cannot be used; nothing was started. Every problem of the file is listed, in the order of its lines. */
export class ConfigError extends Data.TaggedError("ConfigError")<{
  readonly path: string
  readonly problems: readonly [Problem, ...ReadonlyArray<Problem>]
}> {
  get code(): Problem["code"] {
    return this.problems[0].code
  }
  override get message(): string {
    return `invalid config ${this.path}: ${this.problems.map(render).join("\n")}`
  }
}
