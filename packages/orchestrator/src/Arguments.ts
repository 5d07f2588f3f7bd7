import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import * as Result from "effect/Result"
import { nearest } from "./Nearest.ts"
import { SubagentError } from "./SubagentError.ts"

/** A call that is wrong as it stands; nothing happened. */
export const invalid = (message: string): SubagentError =>
  new SubagentError({ code: "INVALID_ARGUMENT", message, retryable: false })

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The arguments that some verbs have and others keep from the session (S20). */
const homes: Readonly<Record<string, string>> = {
  harness: "harness belongs to subagent only; the session keeps its own",
  model: "model belongs to subagent only; the session keeps its own",
  cwd: "cwd belongs to subagent only; the session keeps its own",
  agent: "agent belongs to subagent only; the session keeps its own",
  name: "name belongs to subagent and fork only; the session keeps its own",
}

/** The one object that a verb takes, its keys among `known`; any other is refused with the nearest that is valid (decision 18, S20). */
export const read = (verb: string, input: Json, known: ReadonlyArray<string>): Result.Result<JsonObject, SubagentError> => {
  if (!isObject(input)) {
    const empty = known.length === 0
    return Result.fail(
      invalid(empty ? `${verb} input must be an empty object` : `${verb} takes one object: { ${known.join(", ")} }`),
    )
  }
  const stranger = Object.keys(input).find((key) => !known.includes(key))
  if (stranger === undefined) return Result.succeed(input)
  if (known.length === 0) return Result.fail(invalid(`${verb} input must be an empty object`))
  const home = homes[stranger]
  const close = nearest(stranger, known)
  const hint =
    home !== undefined
      ? `: ${home}`
      : close === undefined
        ? `; it takes ${known.join(", ")}`
        : `; did you mean ${JSON.stringify(close)}?`
  return Result.fail(invalid(`unknown argument ${JSON.stringify(stranger)} of ${verb}${hint}`))
}

/** A non-empty string where the key is there; null is a value like any other and is refused. */
export const text = (input: JsonObject, key: string): Result.Result<string | undefined, SubagentError> => {
  const value = input[key]
  if (value === undefined || (typeof value === "string" && value.trim() !== "")) return Result.succeed(value)
  return Result.fail(invalid(`${key} must be a non-empty string`))
}

/** A preferred display name. Whatever is none counts as absent: it takes the lowest free `Agent N` and fails no call (S40). */
export const name = ({ name }: JsonObject): string | undefined => (typeof name === "string" ? name : undefined)

/** What a program passes for a child: any object with `id` and `generation`. */
export interface Held {
  readonly id: string
  readonly generation: number
}

/** The `subagent` argument of `prompt` and `fork`. */
export const held = (input: JsonObject): Result.Result<Held, SubagentError> => {
  const value = input.subagent
  const { id, generation } = isObject(value) ? value : {}
  if (typeof id !== "string")
    return Result.fail(invalid("subagent must be a value that subagent, prompt or fork returned: { id, generation }"))
  if (typeof generation === "number" && Number.isInteger(generation) && generation >= 1) return Result.succeed({ id, generation })
  return Result.fail(invalid("generation of subagent must be a whole number of 1 or more"))
}

/** The `id` of a child, as `steer` and `close` take it. */
export const id = (input: JsonObject): Result.Result<string, SubagentError> =>
  typeof input.id === "string" ? Result.succeed(input.id) : Result.fail(invalid("id must be a string"))

export * as Arguments from "./Arguments.ts"
