import type { Validator } from "@acp-kit/json-schema/JsonSchemas"
import { JsonSchemas } from "@acp-kit/json-schema/JsonSchemas"
import { parseJson, stringifyJson } from "@acp-kit/protocol/Json"
import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import { SubagentError } from "./SubagentError.ts"

const refused = (message: string) => new SubagentError({ code: "INVALID_ARGUMENT", message, retryable: false })

/** What a turn is asked to answer with: the schema as the program passed it, and its check. */
export interface OutputSchema {
  readonly schema: Json
  readonly validator: Validator
}

/**
 * Checks an `output_schema` before anything is sent (S60): an object or a boolean that is a JSON Schema, draft 2020-12.
 * `undefined` where the call has none.
 */
export const read = Effect.fnUntraced(function* (
  schema: Json | undefined,
): Effect.fn.Return<OutputSchema | undefined, SubagentError, JsonSchemas.Service> {
  if (schema === undefined) return undefined
  if (schema === null || Array.isArray(schema) || (typeof schema !== "object" && typeof schema !== "boolean")) {
    return yield* refused("output_schema must be a JSON Schema object or boolean")
  }
  const schemas = yield* JsonSchemas.Service
  const validator = yield* Effect.mapError(schemas.compile(schema), (error) => refused(`invalid output_schema: ${error.message}`))
  return { schema, validator }
})

/** The text block that goes after the given ones (S06). */
export const instructions = (output: OutputSchema): JsonObject => ({
  type: "text",
  text: [
    "Answer with exactly one JSON value that matches the JSON Schema below, and nothing else:",
    "no Markdown, no code fence, no words before or after it.",
    "",
    stringifyJson(output.schema),
  ].join("\n"),
})

/** The answer as `output`: the JSON value where the whole text is one that validates, else the text as it came (S61). */
export const outputOf = (text: string, wanted: OutputSchema | undefined): Json => {
  if (wanted === undefined) return text
  const value = parseJson(text.trim())
  return value === undefined || wanted.validator.check(value).length > 0 ? text : value
}

export * as StructuredOutput from "./StructuredOutput.ts"
