import { join } from "node:path"
import type { Client, Reading } from "./protocol/Client.ts"
import { interleaved, type Measure, type Sample } from "./Sample.ts"

const updates = 100_000
const rounds = 7

const run = (script: string, ...args: ReadonlyArray<string>): unknown => {
  const line = [process.execPath, "--conditions=@acp-kit/source", join(import.meta.dir, "protocol", script), ...args]
  const { exitCode, stderr, stdout } = Bun.spawnSync(line)
  if (exitCode !== 0) throw new Error(`${script} ${args.join(" ")}: ${stderr}`)
  return JSON.parse(String(stdout))
}

const read = (client: Client, version: 1 | 2, count: number): Reading => {
  const reading = run("consumer.ts", client, String(version), String(count)) as Reading
  if (reading.length !== count * 28)
    throw new Error(`${client} v${version} lost text: ${reading.length} of ${count * 28} characters`)
  return reading
}

const throughput = (version: 1 | 2): ReadonlyArray<Measure> => {
  const clients: Readonly<Record<string, Client>> = {
    "least loop": "raw",
    kit: "kit",
    "kit, every frame observed": "observed",
    "SDK 2.4": "sdk",
  }
  const readings = new Map<string, Array<Reading>>(Object.keys(clients).map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const [name, client] of Object.entries(clients)) readings.get(name)?.push(read(client, version, updates))
  }
  const samples = (of: (reading: Reading) => number): ReadonlyArray<Sample> =>
    [...readings].map(([name, all]) => ({ name, values: all.map(of) }))
  const ratio = (of: (reading: Reading) => number): ReadonlyArray<number> =>
    (readings.get("SDK 2.4") ?? []).map((reading, round) => of(reading) / of((readings.get("kit") ?? [])[round] as Reading))
  return [
    { title: `${updates} chunks folded on v${version}, wall`, unit: "ms", samples: samples(({ wall }) => wall) },
    { title: `${updates} chunks folded on v${version}, CPU of the client`, unit: "ms", samples: samples(({ cpu }) => cpu) },
    {
      title: `SDK over kit on v${version}, round by round`,
      unit: "times",
      samples: [
        { name: "wall", values: ratio(({ wall }) => wall) },
        { name: "CPU", values: ratio(({ cpu }) => cpu) },
      ],
    },
  ]
}

/** 100,000 text chunks from a child process, folded; a million past a subscriber that stopped; from spawn to an open session. */
export const measure = async (): Promise<ReadonlyArray<Measure>> => {
  const million = (client: Client) => () => read(client, 1, 1_000_000).growth
  const setup = run("setup.ts", "40") as { readonly raw: ReadonlyArray<number>; readonly kit: ReadonlyArray<number> }
  return [
    ...throughput(1),
    ...throughput(2),
    {
      title: "Growth of resident memory over a million chunks, the answer of 27 MiB kept",
      unit: "MiB",
      samples: await interleaved(3, {
        "least loop, keeps nothing": million("raw"),
        "kit, nobody subscribes": million("kit"),
        "kit, a subscriber that stops reading": million("stopped"),
      }),
    },
    {
      title: "From spawn to an open session",
      unit: "ms",
      samples: [
        { name: "least loop", values: setup.raw },
        { name: "kit", values: setup.kit },
        { name: "kit beyond it, round by round", values: setup.kit.map((took, round) => took - (setup.raw[round] ?? 0)) },
      ],
    },
  ]
}
