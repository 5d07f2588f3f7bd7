import type { Tool } from "@acp-kit/runlet/Host"
import { type CompileOptions, compile, type Program } from "@acp-kit/runlet/Runlet"
import * as Effect from "effect/Effect"

/** Steps of the long loops. */
export const STEPS = 50_000
/** Calls of the dispatch benchmark. */
export const CALLS = 5_000
/** Items of the list that a fold appends to. */
export const APPENDS = 10_000

const limits = { graphNodes: 100_000_000 }

export const program = (source: string, options: CompileOptions = {}): Program => {
  const compiled = compile(source, { ...options, limits })
  if (compiled.ok) return compiled.program
  throw new Error(compiled.diagnostics.map(({ code, line, message }) => `${line} ${code} ${message}`).join("\n"))
}

const tool = (name: string): Tool => ({
  name,
  summary: "",
  parameters: [
    {
      name: "input",
      schema: { type: "object", properties: { id: { type: "integer" }, name: { type: "string" } }, required: ["id"] },
    },
  ],
  output: { type: "integer" },
  policy: "at_most_once",
  schemaVersion: "1",
  handler: () => Effect.succeed(1),
})

export const thousand: ReadonlyArray<Tool> = Array.from({ length: 1_000 }, (_, index) =>
  tool(`area${index % 40}.action_${index}`),
)

/** A program of 10 KiB: bindings with calls of many tools, loops, guards. */
export const tenKibibytes = (): string => {
  const lines: Array<string> = []
  let length = 0
  for (let index = 0; length < 9_600; index++) {
    const call = `row_${index} = area${index % 40}.action_${index}({ id: ${index}, name: "n" + ${index} })`
    const loop = `kept_${index} = for x in [1, 2, 3] { skip if x == ${index}; return x * row_${index} }`
    lines.push(call, loop)
    length += call.length + loop.length + 2
  }
  const names = Array.from({ length: lines.length / 2 }, (_, index) => `kept_${index}`)
  return `${lines.join("\n")}\nreturn [${names.join(", ")}]`
}

const rows = Array.from({ length: STEPS }, (_, index) => ({ v: index }))
const inputs = [{ name: "rows", schema: true, value: rows }] as const
const unrelated = Array.from({ length: 200 }, (_, index) => `u${index} = rows[${index}].v`)
const used = Array.from({ length: 200 }, (_, index) => `u${index}`)

export const programs = {
  fold: program("return fold acc = 0 for r in rows { return acc + r.v }", { inputs }),
  loop: program("return for r in rows { return r.v + 1 }", { inputs }),
  crowded: program(
    `${unrelated.join("\n")}\nxs = for r in rows { return r.v + 1 }\nreturn [list.length(xs), ${used.join(", ")}]`,
    {
      inputs,
    },
  ),
  calls: program(`return for i in list.range(0, ${CALLS}) { return area0.action_0({ id: i }) }`, { tools: thousand }),
  append: program(`xs = fold acc = [] for i in list.range(0, ${APPENDS}) { return acc + [i] }\nreturn list.length(xs)`),
}

/** A fixed amount of plain work, by which machines are compared: additions into a map of 1,000 keys. */
export const reference = (steps: number): number => {
  const map = new Map<string, number>()
  const keys = Array.from({ length: 1_000 }, (_, index) => `k${index}`)
  for (let step = 0; step < steps; step++) {
    const key = keys[step % 1_000] as string
    map.set(key, (map.get(key) ?? 0) + step)
  }
  return map.size
}
