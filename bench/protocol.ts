import { join } from "node:path"
import type { Client, Reading } from "./protocol/Client.ts"
import type { Measure, Sample } from "./Sample.ts"

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

const inTurns = (
  times: number,
  clients: Readonly<Record<string, Client>>,
  reading: (client: Client) => Reading,
): ReadonlyMap<string, ReadonlyArray<Reading>> => {
  const readings = new Map<string, Array<Reading>>(Object.keys(clients).map((name) => [name, []]))
  for (let round = 0; round < times; round++) {
    for (const [name, client] of Object.entries(clients)) readings.get(name)?.push(reading(client))
  }
  return readings
}

const samplesOf =
  (readings: ReadonlyMap<string, ReadonlyArray<Reading>>) =>
  (of: (reading: Reading) => number): ReadonlyArray<Sample> =>
    [...readings].map(([name, all]) => ({ name, values: all.map(of) }))

const throughput = (version: 1 | 2): ReadonlyArray<Measure> => {
  const clients: Readonly<Record<string, Client>> = {
    "least loop": "raw",
    kit: "kit",
    "kit, every frame observed": "observed",
    "SDK 2.4": "sdk",
  }
  const readings = inTurns(rounds, clients, (client) => read(client, version, updates))
  const samples = samplesOf(readings)
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

const memory = (): ReadonlyArray<Measure> => {
  const clients: Readonly<Record<string, Client>> = {
    "least loop, keeps nothing": "raw",
    "kit, nobody subscribes": "kit",
    "kit, a subscriber that stops reading": "stopped",
  }
  const samples = samplesOf(inTurns(3, clients, (client) => read(client, 1, 1_000_000)))
  return [
    {
      title: "Memory held after a million chunks, 27 MiB of it the answer",
      unit: "MiB",
      samples: samples(({ retained }) => retained),
    },
    {
      title: "Growth of resident memory meanwhile, at most, what was not yet collected included",
      unit: "MiB",
      samples: samples(({ growth }) => growth),
    },
  ]
}

/** 100,000 text chunks from a child process, folded; a million past a subscriber that stopped; from spawn to an open session. */
export const measure = async (): Promise<ReadonlyArray<Measure>> => {
  const setup = run("setup.ts", "40") as { readonly raw: ReadonlyArray<number>; readonly kit: ReadonlyArray<number> }
  return [
    ...throughput(1),
    ...throughput(2),
    ...memory(),
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
