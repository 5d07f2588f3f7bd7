import * as Data from "effect/Data"
import type { JsonObject } from "./Host.ts"
import type { Span } from "./Span.ts"

/** Why a run failed: the failure that no `boundary` of the program caught. */
export class RunletError extends Data.TaggedError("RunletError")<{
  /** `RL` and four digits for what the language found, `ASSERTION_FAILED`, the program's own `fail` code, or a tool's code unchanged. */
  readonly code: string
  readonly message: string
  /** The tool said that trying again may help, and its policy allows it. */
  readonly retryable: boolean
  /** The effect of the failed call may have happened. */
  readonly uncertain: boolean
  readonly details: JsonObject
  /** Innermost failing expression, UTF-16 offsets; absent when the failure belongs to no expression. */
  readonly span: Span | undefined
  /** 1-based place of `span`. */
  readonly line: number | undefined
  readonly column: number | undefined
}> {}
