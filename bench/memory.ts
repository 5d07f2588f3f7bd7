import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { floor, nested, type Started, startAgent } from "./NestedKit.ts"
import type { Measure, Sample } from "./Sample.ts"

const together = 8

const fields = { resident: /^Rss:\s+(\d+) kB/m, private: /^Private_(?:Clean|Dirty):\s+(\d+) kB/gm } as const

const mebibytes = (rollup: string, field: keyof typeof fields) =>
  [...rollup.matchAll(new RegExp(fields[field], "gm"))].reduce((sum, match) => sum + Number(match[1]), 0) / 1024

/** Memory of idle agents, eight of a kind running at once, from `/proc/PID/smaps_rollup`; Linux only. */
export const measure = async (): Promise<ReadonlyArray<Measure>> => {
  if (!existsSync("/proc/self/smaps_rollup")) throw new Error("memory is measured on Linux only")
  const home = mkdtempSync(join(tmpdir(), "kit-bench-"))
  const idle = async (command: ReadonlyArray<string>, prepare: (agent: Started) => Promise<void> = async () => {}) => {
    const agents = await Promise.all(Array.from({ length: together }, () => startAgent(command, { KIT_HOME: home })))
    await Promise.all(agents.map(prepare))
    await Bun.sleep(1000)
    const rollups = agents.map((agent) => readFileSync(`/proc/${agent.pid}/smaps_rollup`, "utf8"))
    await Promise.all(agents.map((agent) => agent.stop()))
    return rollups
  }
  try {
    const kinds = [
      ["bare Bun process", await idle(floor)] as const,
      ["kit acp", await idle(nested)] as const,
      ["kit acp with a session", await idle(nested, (agent) => agent.open(home))] as const,
    ]
    const samples = (field: keyof typeof fields): ReadonlyArray<Sample> =>
      kinds.map(([name, rollups]) => ({ name, values: rollups.map((rollup) => mebibytes(rollup, field)) }))
    return [
      { title: "An idle agent, private memory", unit: "MiB", samples: samples("private") },
      { title: "An idle agent, resident memory", unit: "MiB", samples: samples("resident") },
    ]
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
