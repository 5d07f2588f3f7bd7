import { join } from "node:path"
import { APPENDS, CALLS, STEPS } from "./runlet/Programs.ts"
import type { Measure } from "./Sample.ts"

const child = (script: string, ...args: ReadonlyArray<string>): unknown => {
  const line = [process.execPath, "--conditions=@acp-kit/source", join(import.meta.dir, "runlet", script), ...args]
  const { exitCode, stderr, stdout } = Bun.spawnSync(line)
  if (exitCode !== 0) throw new Error(`${script} ${args.join(" ")}: ${stderr}`)
  return JSON.parse(String(stdout))
}

type Rounds = Readonly<Record<"reference" | "compile" | "fold" | "loop" | "crowded" | "calls" | "append", ReadonlyArray<number>>>

interface Memory {
  readonly nodes: number
  readonly resident: number
  readonly kept: number
}

/** The language: what compiling, a step of a loop and a call cost, against a fixed loop of the same run; memory of an observed run. */
export const measure = async (): Promise<ReadonlyArray<Measure>> => {
  const rounds = child("time.ts") as Rounds
  const each = (name: keyof Rounds, count: number) => (rounds[name] ?? []).map((ms) => (ms * 1_000) / count)
  const step = { name: "step of the reference loop", values: each("reference", STEPS) }
  const memory = (["unobserved", "observed"] as const).map((mode) => ({
    mode,
    all: Array.from({ length: 5 }, () => child("memory.ts", mode) as Memory),
  }))
  return [
    {
      title: "10 KiB parsed and checked against 1,000 tools, warm (at most 10)",
      unit: "ms",
      samples: [
        { name: `reference loop of ${STEPS} steps`, values: rounds.reference },
        { name: "compile", values: rounds.compile },
      ],
    },
    {
      title: "A step: `fold` at most 2, `for` at most 5, an instant tool at most 20",
      unit: "us",
      samples: [
        step,
        { name: "fold", values: each("fold", STEPS) },
        { name: "for", values: each("loop", STEPS) },
        { name: "dispatch of an instant tool", values: each("calls", CALLS) },
        { name: `append in a fold, to ${APPENDS} items`, values: each("append", APPENDS) },
      ],
    },
    {
      title: "A loop beside 200 unrelated bindings (at most 1.2 times)",
      unit: "ms",
      samples: [
        { name: "alone", values: rounds.loop },
        { name: "beside 200", values: rounds.crowded },
      ],
    },
    {
      title: "Growth of resident memory over 100,000 nodes (observed at most 100)",
      unit: "MiB",
      samples: memory.map(({ all, mode }) => ({ name: mode, values: all.map(({ resident }) => resident) })),
    },
  ]
}
