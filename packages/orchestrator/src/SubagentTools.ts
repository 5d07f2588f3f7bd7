import {
  type Json,
  type JsonObject,
  type JsonSchema,
  type Policy,
  type Tool,
  type ToolContext,
  ToolFailure,
} from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import { LanguageValue } from "./LanguageValue.ts"
import type { SubagentError } from "./SubagentError.ts"
import type { HandleValue, Interface } from "./Subagents.ts"

type Verb = "subagent" | "prompt" | "fork" | "steer" | "close" | "subagents"

interface Row {
  readonly summary: string
  readonly parameter: JsonObject
  readonly output: JsonSchema
  readonly policy: Policy
}

const any = true

/** Whatever a value of the verbs looks like: `id` and `generation` are all that counts, the rest is carried along. */
const handle: JsonObject = {
  type: "object",
  properties: { id: any, generation: any },
  required: ["id", "generation"],
  additionalProperties: true,
}

const open = (properties: JsonObject, required: ReadonlyArray<string>): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: true,
})

const value: JsonObject = open(
  { id: { type: "string" }, name: { type: "string" }, output: any, generation: { type: "integer" } },
  ["id", "name", "output", "generation"],
)

const rows: Readonly<Record<Verb, Row>> = {
  subagent: {
    summary: "starts a child agent and returns its value after its first turn",
    parameter: open({ prompt: any, name: any, agent: any, harness: any, model: any, cwd: any, output_schema: any }, ["prompt"]),
    output: value,
    policy: "recoverable",
  },
  prompt: {
    summary: "continues a child's session with another turn",
    parameter: open({ subagent: handle, prompt: any, output_schema: any }, ["subagent", "prompt"]),
    output: value,
    policy: "at_most_once",
  },
  fork: {
    summary: "branches the completed context of a child into a new one",
    parameter: open({ subagent: handle, prompt: any, name: any, output_schema: any }, ["subagent", "prompt"]),
    output: value,
    policy: "at_most_once",
  },
  steer: {
    summary: "injects guidance into a child's working turn",
    parameter: open({ id: any, prompt: any }, ["id", "prompt"]),
    output: any,
    policy: "at_most_once",
  },
  close: {
    summary: "ends a child's session",
    parameter: open({ id: any }, ["id"]),
    output: open({ id: { type: "string" } }, ["id"]),
    policy: "at_most_once",
  },
  subagents: {
    summary: "lists the live direct children",
    parameter: open({}, []),
    output: {
      type: "array",
      items: open(
        {
          id: { type: "string" },
          name: { type: "string" },
          status: { type: "string" },
          generation: { type: "integer" },
          task: { type: "string" },
        },
        ["id", "name", "status", "generation", "task"],
      ),
    },
    policy: "idempotent",
  },
}

const failure = ({ code, message, retryable, uncertain, details }: SubagentError): ToolFailure =>
  new ToolFailure({
    code,
    message,
    ...(retryable === undefined ? {} : { retryable }),
    ...(uncertain === undefined ? {} : { uncertain }),
    ...(details === undefined ? {} : { details }),
  })

/** A call that had a turn, once it has succeeded. */
export interface TurnOfCall {
  readonly verb: "subagent" | "prompt" | "fork"
  /** `dispatchId` of the call: unique within the run. */
  readonly call: string
  readonly value: HandleValue
}

export interface Options {
  /** Told of each successful turn before the program goes on with its value: for views of what the child did (S80). */
  readonly onTurn?: (turn: TurnOfCall) => Effect.Effect<void>
}

const tool = (name: Verb, call: (input: Json, context: ToolContext) => Effect.Effect<Json, SubagentError>): Tool => {
  const { summary, parameter, output, policy } = rows[name]
  return {
    name,
    summary,
    parameters: [{ name: "input", schema: parameter }],
    output,
    policy,
    schemaVersion: "1",
    handler: (args, context) => call(args[0] ?? null, context).pipe(Effect.map(LanguageValue.toValue), Effect.mapError(failure)),
  }
}

/**
 * The verbs as tools of a Runlet program. Arguments reach a verb exactly as the program made them (decision 18); what a child said and no program
 * can hold comes back as {@link LanguageValue.toValue} makes it. Policies are those of decision 19.
 */
export const make = (subagents: Interface, options: Options = {}): ReadonlyArray<Tool> => {
  const { onTurn } = options
  const turn = (verb: TurnOfCall["verb"]): Tool =>
    tool(verb, (input, { dispatchId }) =>
      onTurn === undefined
        ? subagents[verb](input)
        : Effect.tap(subagents[verb](input), (value) => onTurn({ verb, call: dispatchId, value })),
    )
  return [
    turn("subagent"),
    turn("prompt"),
    turn("fork"),
    tool("steer", subagents.steer),
    tool("close", subagents.close),
    tool("subagents", subagents.subagents),
  ]
}

export * as SubagentTools from "./SubagentTools.ts"
