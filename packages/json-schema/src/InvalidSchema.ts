import * as Data from "effect/Data"

/**
 * Why a schema cannot be used.
 *
 * `not_a_schema` neither object nor boolean, or refused by the meta-schema · `too_deep` / `too_large` beyond {@link SchemaLimits} ·
 * `dialect` a `$schema` other than 2020-12 and draft 7 · `remote_ref` a `$ref` out of the document · `unresolved_ref` one that leads nowhere ·
 * `cyclic_ref` a `$ref` that reaches itself without descending into the value · `pattern` not a regular expression, or one whose matching time cannot be bounded.
 */
export type InvalidSchemaReason =
  | "not_a_schema"
  | "too_deep"
  | "too_large"
  | "dialect"
  | "remote_ref"
  | "unresolved_ref"
  | "cyclic_ref"
  | "pattern"

/** A schema from a user or a model that cannot be used; nothing was validated. */
export class InvalidSchema extends Data.TaggedError("InvalidSchema")<{
  readonly reason: InvalidSchemaReason
  /** JSON pointer to the offending place, `""` for the whole schema. */
  readonly path: string
  readonly message: string
}> {
  readonly code = "INVALID_SCHEMA"
}
