import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import * as Data from "effect/Data"

/** A command that ends without what it was asked for. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  /** 1: it was tried and failed. 2: the call, the program or the configuration was wrong and nothing ran. */
  readonly exit: 1 | 2
  /** What stands on stderr for people, without a final line feed. */
  readonly text: string
  /** The value of `error` in the JSON that `--json` prints. */
  readonly error: JsonObject & { readonly code: string }
}> {}

/** The common case: a code and one sentence. */
export const failed = (exit: 1 | 2, code: string, message: string, more: Readonly<Record<string, Json>> = {}): CommandFailed =>
  new CommandFailed({ exit, text: `kit: ${message}`, error: { code, message, ...more } })
