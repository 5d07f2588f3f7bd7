#!/usr/bin/env bun
/**
 * An ACP agent that does what it is told, v1 and v2, in code of its own: `--mood JSON` or `--mood-file FILE` say how it behaves,
 * `--record FILE` appends every frame in and out, `--state-dir DIR` keeps its sessions over restarts. Other arguments are recorded and ignored.
 */
import * as Fs from "node:fs"
import type { Mood } from "./Mood.ts"
import { Agent } from "./scripted-agent/Agent.ts"
import { Sessions } from "./scripted-agent/Sessions.ts"
import { perform } from "./scripted-agent/Steps.ts"
import { Wire } from "./scripted-agent/Wire.ts"

const argument = (name: string): string | undefined => {
  const at = process.argv.indexOf(name)
  return at < 0 ? undefined : process.argv[at + 1]
}

const moodFile = argument("--mood-file")
const told = moodFile === undefined ? (argument("--mood") ?? "{}") : Fs.readFileSync(moodFile, "utf8")
const mood: Mood = JSON.parse(told)
const wire = new Wire(argument("--record"))
const agent = new Agent(mood, wire, new Sessions(mood, argument("--state-dir")))

wire.event("start", { cwd: process.cwd(), args: process.argv.slice(2) })

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  process.on(signal, () => {
    wire.event(signal)
    if (!mood.deaf?.includes(signal)) process.exit(128 + { SIGTERM: 15, SIGINT: 2, SIGHUP: 1 }[signal])
  })
}

await perform(agent.stage(), mood.start ?? [])
wire.listen(
  (line) => agent.receive(line),
  async () => {
    if (mood.deaf?.includes("eof")) return void setInterval(() => {}, 1 << 30)
    agent.abort()
    await perform(agent.stage(), mood.eof ?? [])
    await wire.flushed
    process.exit(0)
  },
)
