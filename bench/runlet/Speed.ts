import * as Effect from "effect/Effect"
import type { Tool } from "../../packages/runlet/src/Host.ts"
import { type CompileOptions, compile, type Program, type RunOptions, run } from "../../packages/runlet/src/Runlet.ts"
import { type Figure, reference, report, time } from "./Measure.ts"

const STEPS = 50_000
const limits = { graphNodes: 10_000_000 }

const program = (source: string, options: CompileOptions = {}): Program => {
  const compiled = compile(source, { ...options, limits })
  if (!compiled.ok) throw new Error(compiled.diagnostics.map(({ code, line, message }) => `${line} ${code} ${message}`).join("\n"))
  return compiled.program
}

const go = (compiled: Program, options?: RunOptions) => () => Effect.runPromise(run(compiled, options))

const tool = (name: string): Tool => ({
  name,
  summary: "",
  parameters: [{ name: "input", schema: { type: "object", properties: { id: { type: "integer" }, name: { type: "string" } }, required: ["id"] } }],
  output: { type: "integer" },
  policy: "at_most_once",
  schemaVersion: "1",
  handler: () => Effect.succeed(1),
})

const thousand = Array.from({ length: 1_000 }, (_, index) => tool(`area${index % 40}.action_${index}`))

const tenKibibytes = () => {
  const lines: Array<string> = []
  for (let index = 0; lines.join("\n").length < 10_240 - 120; index++)
    lines.push(
      `row_${index} = area${index % 40}.action_${index}({ id: ${index}, name: "n" + ${index} })`,
      `kept_${index} = for x in [1, 2, 3] { skip if x == ${index}; return x * row_${index} }`,
    )
  const count = lines.length / 2
  return `${lines.join("\n")}\nreturn [${Array.from({ length: count }, (_, index) => `kept_${index}`).join(", ")}]`
}

const rows = { name: "rows", schema: true, value: Array.from({ length: STEPS }, (_, index) => ({ v: index })) } as const
const inputs = [rows]

const unrelated = Array.from({ length: 200 }, (_, index) => `u${index} = rows[${index}].v`).join("\n")
const used = `[${Array.from({ length: 200 }, (_, index) => `u${index}`).join(", ")}]`

const source = tenKibibytes()
const fold = program("return fold acc = 0 for r in rows { return acc + r.v }", { inputs })
const loop = program("return for r in rows { return r.v + 1 }", { inputs })
const crowded = program(`${unrelated}\nxs = for r in rows { return r.v + 1 }\nreturn [list.length(xs), ${used}]`, { inputs })
const alone = program("xs = for r in rows { return r.v + 1 }\nreturn [list.length(xs)]", { inputs })
const calls = program("return for r in list.range(0, 5000) { return area0.action_0({ id: r }) }", { tools: thousand })
const append = program("xs = fold acc = [] for i in list.range(0, 10000) { return acc + [i] }\nreturn list.length(xs)")

const base = await time(reference, 31)
const figure = (name: string, ms: number, per: number, unit: "ms" | "us", bound: number): Figure => ({
  name,
  value: unit === "us" ? (ms * 1_000) / per : ms / per,
  unit,
  bound,
  ratio: ms / base,
})

const crowdedMs = await time(go(crowded))
const aloneMs = await time(go(alone))

const figures: Array<Figure> = [
  figure(`parse and check ${source.length} bytes against 1000 tools`, await time(() => compile(source, { tools: thousand }), 31, 10), 1, "ms", 10),
  figure("fold, a step", await time(go(fold)), STEPS, "us", 2),
  figure("for, a step", await time(go(loop)), STEPS, "us", 5),
  figure("dispatch of an instant tool", await time(go(calls)), 5_000, "us", 20),
  { name: "loop under 200 unrelated bindings", value: crowdedMs / aloneMs, unit: "ratio", bound: 1.2 },
  figure("append in a fold to a list of 10000, a step", await time(go(append)), 10_000, "us", 5),
]

console.log(`reference loop: ${base.toFixed(2)} ms`)
const over = report(figures)
if (over > 0) process.exitCode = 1
