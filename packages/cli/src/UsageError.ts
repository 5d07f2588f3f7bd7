import * as Data from "effect/Data"

/** The call itself was wrong: nothing ran. The process leaves with 2. */
export class UsageError extends Data.TaggedError("UsageError")<{
  /** One sentence, without a full stop, with the nearest valid spelling where there is one. */
  readonly message: string
  /** The words that name the command whose usage applies, `kit` first. */
  readonly path: ReadonlyArray<string>
}> {}
