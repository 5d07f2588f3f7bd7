import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Measure, quantile } from "./Sample.ts"

interface Times {
  readonly least: ReadonlyArray<number>
  readonly kit: ReadonlyArray<number>
}

const run = (name: string): unknown => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "kit-bench-")))
  try {
    const line = [
      process.execPath,
      "--conditions=@acp-kit/source",
      join(import.meta.dir, "orchestrator/scenarios.ts"),
      name,
      home,
    ]
    const { exitCode, stderr, stdout } = Bun.spawnSync(line)
    if (exitCode !== 0) throw new Error(`${name}: ${stderr}`)
    return JSON.parse(String(stdout))
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

const both = (title: string, { kit, least }: Times, floor: string): Measure => ({
  title,
  unit: "ms",
  samples: [
    { name: floor, values: least },
    { name: "kit", values: kit },
    { name: "kit beyond it, round by round", values: kit.map((took, round) => took - (least[round] ?? 0)) },
  ],
})

/** Everything that an orchestrator adds to its children: time to the first prompt, delay under load, memory, the end of them, their return. */
export const measure = async (): Promise<ReadonlyArray<Measure>> => {
  const overhead = run("overhead") as Times
  const storm = run("storm") as Times & { readonly lost: number; readonly seen: number; readonly titles: number }
  const idle = run("idle") as Readonly<Record<"least" | "kit", { readonly heap: number; readonly resident: number }>>
  const stop = run("stop") as { readonly ms: number; readonly alive: number; readonly survivors: number }
  const restore = run("restore") as Times
  const nested = run("nested") as Times
  if (storm.lost !== 0) throw new Error(`${storm.lost} updates of the storm were lost`)
  if (stop.survivors !== 0 || stop.alive !== 120) throw new Error(`${stop.survivors} of ${stop.alive} children survived the end`)
  const late = (share: number) => [
    { name: "least loop", values: [quantile(storm.least, share)] },
    { name: "kit, as its roster tells", values: [quantile(storm.kit, share)] },
  ]
  return [
    both("From the call of `subagent` to the prompt at the child, nothing written to disk", overhead, "least loop"),
    {
      title: "120 children, 50 updates a second each, none lost: from its writing to whoever watches, p50",
      unit: "ms",
      samples: late(0.5),
    },
    { title: "The same, p99", unit: "ms", samples: late(0.99) },
    ...(["heap", "resident"] as const).map((of) => ({
      title: `An idle child in its parent, ${of === "heap" ? "heap after a full collection" : "resident memory"}`,
      unit: "KiB",
      samples: [
        { name: "least loop: the runtime's buffers for its pipes", values: [idle.least[of]] },
        { name: "kit", values: [idle.kit[of]] },
        { name: "kit beyond it", values: [idle.kit[of] - idle.least[of]] },
      ],
    })),
    {
      title: "The end of 120 children at work, half of them deaf; no survivor",
      unit: "ms",
      samples: [{ name: "kit", values: [stop.ms] }],
    },
    both("120 handles come back", restore, "reading and parsing their records"),
    both("Twenty nested Kits at once, until the last has a session", nested, "least loop, `kit acp` each"),
  ]
}
