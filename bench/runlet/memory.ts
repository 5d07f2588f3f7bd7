/** Runs a loop whose graph has 100,000 nodes and prints the growth of the heap in MiB: `observed` or `unobserved`. */
import { compile, run } from "@acp-kit/runlet/Runlet"
import * as Effect from "effect/Effect"

const observed = process.argv[2] === "observed"
const compiled = compile("return for i in list.range(0, 50000) { return { v: i } }")
if (!compiled.ok) throw new Error("the program does not compile")
let nodes = 0
const settle = () => {
  Bun.gc(true)
  return process.memoryUsage()
}
const before = settle()
let peak = 0
const observer = {
  detail: "all" as const,
  onEvent: ({ change, sequence }: { change: { type: string }; sequence: number }) => {
    if (change.type === "node_added") nodes++
    if (sequence % 20_000 === 0) peak = Math.max(peak, process.memoryUsage().rss)
  },
}
await Effect.runPromise(run(compiled.program, observed ? { observer } : {}))
const resident = Math.max(peak, process.memoryUsage().rss) - before.rss
const after = settle()
console.log(JSON.stringify({ nodes, resident: resident / 2 ** 20, kept: (after.heapUsed - before.heapUsed) / 2 ** 20 }))
