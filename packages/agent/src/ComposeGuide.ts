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

const language = `Runs one Runlet program and returns its value. The program calls the tools below; nothing else is available.

Runlet in short:
- \`name = expression\` binds a name once. A program, and each block, ends with one \`return expression\`.
- Tools take one object: \`shell({ command: "ls" })\`. In an object \`{ path, lines: x }\` the name alone stands for itself.
- Independent calls run at the same time, also where one stands above the other. Only using a value, or
  \`after value { … }\`, puts one call behind another. A failed call stops what depends on it.
- \`if condition { return a } else { return b }\` needs a boolean; only the branch taken runs. \`a if condition else b\` is the same in one line.
- \`for x in list { return … }\` maps a list concurrently; in it \`skip if condition\` drops an element.
  \`fold sum = 0 for x in list { return sum + x }\` goes in order.
- \`boundary retry 2 { return … } catch e { return … }\` catches a failure as \`e.code\` and \`e.message\`. \`fail(code, message)\` and
  \`assert(condition, message)\` make one.
- Strings are joined by \`+\`; \`"x" in list\` and \`"x" in string\` test membership.
- Functions: text.length lower upper trim starts_with ends_with slice split join replace · regex.test find_all captures replace split ·
  list.length sort sort_by slice range · json.parse encode · number.round floor ceil parse · time.parse format.

Put everything that is known to be needed into one program, and return only what is needed to go on.
At most 128 calls a program.`

/** The description of the compose tool: the language, then each callable with its exact schemas. */
export const describe = (catalog: ReadonlyArray<Entry>): string => [language, ...catalog.map(describeEntry)].join("\n\n")

const describeEntry = ({ name, description, input, output }: Entry) =>
  `## ${name}\n${description}\ninput: ${CompactJson.encode(input)}\noutput: ${CompactJson.encode(output)}`

export * as ComposeGuide from "./ComposeGuide.ts"
