import type { JsonObject } from "@acp-kit/runlet/Host"
import type { Harnesses } from "./Harness.ts"
import type { Limits } from "./Limits.ts"

/** A verb as a model sees it: the exact schemas, in words that steer it well. */
export interface Entry {
  readonly name: "subagent" | "prompt" | "fork" | "steer" | "close" | "subagents"
  readonly description: string
  /** JSON Schema 2020-12 of the one argument. */
  readonly input: JsonObject
  readonly output: JsonObject
}

const string = { type: "string" }
const text = { type: "string", minLength: 1 }

const object = (properties: JsonObject, required: ReadonlyArray<string>): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
})

const resource = {
  oneOf: [
    object({ uri: string, mimeType: string, text: string }, ["uri", "text"]),
    object({ uri: string, mimeType: string, blob: string }, ["uri", "blob"]),
  ],
}

const block = {
  oneOf: [
    object({ type: { const: "text" }, text: string }, ["type", "text"]),
    object({ type: { const: "resource_link" }, uri: string, name: string, mimeType: string, description: string }, [
      "type",
      "uri",
      "name",
    ]),
    object({ type: { const: "resource" }, resource }, ["type", "resource"]),
    object({ type: { const: "image" }, data: string, mimeType: string, uri: string }, ["type", "data", "mimeType"]),
  ],
}

const prompt: JsonObject = { oneOf: [string, { type: "array", minItems: 1, items: block }] }
const outputSchema: JsonObject = { type: ["object", "boolean"], description: "JSON Schema that the answer should follow" }

const value: JsonObject = object(
  {
    id: string,
    name: string,
    output: true,
    generation: { type: "integer", minimum: 1 },
    updates: object({ items: { type: "array", items: { type: "object" } }, truncated: { type: "boolean" } }, [
      "items",
      "truncated",
    ]),
  },
  ["id", "output", "generation"],
)

const id: JsonObject = { type: "string", description: "the immutable s-… id; a name never selects a child" }

const rows: JsonObject = {
  type: "array",
  items: object(
    {
      id: string,
      name: string,
      status: { enum: ["starting", "working", "idle"] },
      generation: { type: "integer", minimum: 1 },
      task: string,
    },
    ["id", "name", "status", "generation", "task"],
  ),
}

const naming = "Give it a concise, role-oriented name for its task, such as Reviewer or Round 2 Implementer."

const aliasesOf = (harnesses: Harnesses): ReadonlyArray<string> =>
  harnesses.profiles.flatMap(({ reference, policy }) => [...policy.aliases.keys()].map((alias) => `${alias} (${reference})`))

const subagent = (harnesses: Harnesses, agents: ReadonlyArray<string>): Entry => {
  const aliases = aliasesOf(harnesses)
  const choices =
    aliases.length === 0 ? "" : ` Configured aliases, which are choices and no recommendations: ${aliases.join(", ")}.`
  const definitions: JsonObject =
    agents.length === 0
      ? {}
      : { agent: { enum: agents, description: "a definition whose defaults the other arguments override" } }
  return {
    name: "subagent",
    description:
      `Starts a child agent in a session of its own and returns its value after its first turn. ${naming} ` +
      "Omit harness and model unless the user or the workflow at hand asks for an exact harness, model or alias.",
    input: object(
      {
        prompt,
        name: { ...string, description: "1 to 32 bytes of printable ASCII, for display only" },
        ...definitions,
        harness: {
          enum: harnesses.profiles.map(({ reference }) => reference),
          description: `default ${harnesses.default}; omit unless asked`,
        },
        model: { ...text, description: `an exact model id of the harness, or an alias; omit unless asked.${choices}` },
        cwd: { ...text, description: "working directory; a relative one counts from Kit's" },
        output_schema: outputSchema,
      },
      ["prompt"],
    ),
    output: value,
  }
}

const fork: Entry = {
  name: "fork",
  description: `Branches the completed context of a child into a new child and gives that its first turn; the source stays as it is. ${naming}`,
  input: object({ subagent: value, prompt, name: string, output_schema: outputSchema }, ["subagent", "prompt"]),
  output: value,
}

const others: ReadonlyArray<Entry> = [
  {
    name: "prompt",
    description:
      "Continues a child's session with another turn. Pass the latest value that the child returned: an older one is refused as stale.",
    input: object({ subagent: value, prompt, output_schema: outputSchema }, ["subagent", "prompt"]),
    output: value,
  },
  {
    name: "steer",
    description:
      "Injects guidance into a child's working turn without cancelling it. Returns the child's receipt, which is no proof of delivery.",
    input: object({ id, prompt }, ["id", "prompt"]),
    output: {},
  },
  {
    name: "close",
    description: "Ends a child's session for good and frees its place. Takes a value or just its id.",
    input: { oneOf: [value, object({ id }, ["id"])] },
    output: object({ id: string }, ["id"]),
  },
  {
    name: "subagents",
    description: "Lists the live direct children.",
    input: object({}, []),
    output: rows,
  },
]

/**
 * The verbs that a model at this depth can use (S44, S127): `subagent` and `fork` are left out at the deepest level, where neither can succeed (S160).
 * `agents` are the names of the definitions that `subagent` takes.
 */
export const entries = (options: {
  readonly harnesses: Harnesses
  readonly depth: number
  readonly limits: Limits.Interface
  readonly agents?: ReadonlyArray<string>
}): ReadonlyArray<Entry> =>
  options.depth >= options.limits.depth
    ? others
    : [subagent(options.harnesses, options.agents ?? []), others[0]!, fork, ...others.slice(1)]

export * as Catalog from "./Catalog.ts"
