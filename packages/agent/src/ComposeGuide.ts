import { guide } from "@acp-kit/runlet/Guide"
import type { JsonObject, JsonSchema, Tool } from "@acp-kit/runlet/Host"
import { CompactJson } from "./CompactJson.ts"

/** A callable of a program, as the model is told of it. */
export interface Entry {
  readonly name: string
  readonly description: string
  /** JSON Schema of the one argument. */
  readonly input: JsonObject
  readonly output: JsonSchema
}

/** What a model is told of a tool that has no words of its own for it. */
export const entryOf = ({ name, summary, parameters, output }: Tool): Entry => ({
  name,
  description: summary,
  input: parameters[0]?.schema as JsonObject,
  output,
})

const purpose =
  "Runs one Runlet program and returns its value. The program calls the tools below; nothing else is available. At most 128 calls a program."

/** The description of the compose tool: the language, then each callable with its exact schemas. */
export const describe = (catalog: ReadonlyArray<Entry>): string => [purpose, guide, ...catalog.map(describeEntry)].join("\n\n")

const describeEntry = ({ name, description, input, output }: Entry) =>
  `## ${name}\n${description}\ninput: ${CompactJson.encode(input)}\noutput: ${CompactJson.encode(output)}`

export * as ComposeGuide from "./ComposeGuide.ts"
