import { NotPresentable, present, quote } from "./Canonical.ts"
import type { GraphEvent, GraphNode } from "./Graph.ts"
import type { Value } from "./Value.ts"

/** Characters of an output that a line carries; a longer one stands as its beginning, with `truncated` and its length. */
export const MAX_OUTPUT = 2_048

const field = (name: string, json: string | undefined) => (json === undefined ? [] : [`${quote(name)}:${json}`])

const object = (...fields: ReadonlyArray<ReadonlyArray<string>>) => `{${fields.flat().join(",")}}`

const output = (value: Value | undefined): ReadonlyArray<string> => {
  if (value === undefined) return []
  const text = present(value)
  if (text instanceof NotPresentable) return []
  if (text.length <= MAX_OUTPUT) return field("output", text)
  return [...field("output", quote(text.slice(0, MAX_OUTPUT))), ...field("truncated", String(text.length))]
}

const node = ({ attempt, error, id, kind, label, output: value, span, state }: GraphNode): string =>
  object(
    field("id", quote(id)),
    field("kind", quote(kind)),
    field("label", quote(label)),
    field("span", `{"start":${span.start},"end":${span.end}}`),
    field("state", quote(state)),
    field("attempt", String(attempt)),
    output(value),
    error === undefined ? [] : field("error", object(field("code", quote(error.code)), field("message", quote(error.message)))),
  )

/** One event as one line of JSON, without the newline: what `kit compose --graph FILE` writes. */
export const encode = ({ change, sequence }: GraphEvent): string => {
  const value =
    change.type === "edge_added"
      ? object(...Object.entries(change.value).map(([name, text]) => field(name, quote(text))))
      : node(change.value)
  return object(
    field("sequence", String(sequence)),
    field("change", object(field("type", quote(change.type)), field("value", value))),
  )
}

export * as GraphLine from "./GraphLine.ts"
