import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Measure, Sample } from "./Sample.ts"

interface Result {
  readonly ms: ReadonlyArray<number>
  readonly count: number
  readonly bytes: number
  readonly content: number
  readonly resident: number
  readonly single: ReadonlyArray<number>
  readonly group: ReadonlyArray<number>
  readonly agent: string
}

const run = (command: ReadonlyArray<string>): Result | undefined => {
  const { exitCode, stderr, stdout } = Bun.spawnSync([...command])
  if (exitCode === 0) return JSON.parse(String(stdout))
  throw new Error(`${command.join(" ")}: ${stderr}`)
}

const operation = join(import.meta.dir, "store/operations.ts")
const condition = "--conditions=@acp-kit/source"

/** The runtimes that are there: Bun, and of Deno and Node what `KIT_BENCH_DENO` and `KIT_BENCH_NODE` or the PATH name. */
const runtimes = (): ReadonlyArray<readonly [name: string, command: ReadonlyArray<string>]> => {
  const node = process.env.KIT_BENCH_NODE ?? Bun.which("node")
  const deno = process.env.KIT_BENCH_DENO ?? Bun.which("deno")
  const version = node === null ? "" : String(Bun.spawnSync([node, "--version"]).stdout)
  const isNew = Number(/^v(\d+)/.exec(version)?.[1] ?? 0) >= 22
  return [
    ["Bun", [process.execPath, condition, operation]],
    ...(node !== null && isNew ? [["Node", [node, condition, operation]] as const] : []),
    ...(deno !== null ? [["Deno", [deno, "run", "-A", "--no-lock", condition, operation]] as const] : []),
  ]
}

/** The store: what a record, a turn, a listing, a tail and a replay cost, beside a Python control where there is one. */
export const measure = async (): Promise<ReadonlyArray<Measure>> => {
  const home = mkdtempSync(join(tmpdir(), "kit-bench-store-"))
  try {
    const [bun, ...others] = runtimes()
    const here = (bun as NonNullable<typeof bun>)[1]
    const python = Bun.which("python3")
    const control = (...args: ReadonlyArray<string>): Result | undefined =>
      python === null ? undefined : run([python, join(import.meta.dir, "store/control.py"), ...args])
    const sample = (name: string, values: ReadonlyArray<number> | undefined): ReadonlyArray<Sample> =>
      values === undefined ? [] : [{ name, values }]

    const append = run([...here, "append", home])
    const controlAppend = control("append", home)
    const rounds = Array.from({ length: 3 }, () => [run([...here, "turns", home]), run([...here, "rewrite", home])] as const)
    const [turns, rewrite] = rounds[0] as (typeof rounds)[number]
    const controlRewrite = control("rewrite", home)
    const agent = run([...here, "prepare", home])?.agent ?? ""
    const list = run([...here, "list", home])
    const tail = run([...here, "tail", home, agent])
    const rate = (result: Result | undefined) => result?.ms.map((ms) => result.count / ms)
    const replays = [bun as NonNullable<typeof bun>, ...others].map(
      ([name, command]) => [name, run([...command, "replay", home, agent])] as const,
    )
    const micros = (values: ReadonlyArray<number> | undefined) => values?.map((ms) => ms * 1_000)
    const share = (result: Result | undefined) => [(result?.bytes ?? 0) / (turns?.content ?? 1)]
    return [
      {
        title: "A record on disk: alone, and 32 in one sync (at least 5 times less)",
        unit: "us",
        samples: [
          ...sample("32 at once, each", micros(append?.group)),
          ...sample("alone", micros(append?.single)),
          ...sample("Python, 32 at once, each", micros(controlAppend?.group)),
          ...sample("Python, alone", micros(controlAppend?.single)),
        ],
      },
      {
        title: "200 turns of 50 KB, each on disk (at least 10 times faster than rewriting)",
        unit: "ms",
        samples: [
          ...sample(
            "saveContext",
            rounds.flatMap(([one]) => one?.ms ?? []),
          ),
          ...sample(
            "rewriting the whole",
            rounds.flatMap(([, other]) => other?.ms ?? []),
          ),
          ...sample("Python, rewriting the whole", controlRewrite?.ms),
        ],
      },
      {
        title: "Bytes written for them, per byte of content (at most 3.2)",
        unit: "bytes",
        samples: [...sample("saveContext", share(turns)), ...sample("rewriting the whole", share(rewrite))],
      },
      {
        title: "Listing 10,000 agents, warm (at most 100 ms)",
        unit: "ms",
        samples: [...sample("list", list?.ms), ...sample("Python, the same files", control("list", home)?.ms)],
      },
      {
        title: "The last 200 records of 100 MB (at most 20 ms)",
        unit: "ms",
        samples: [...sample("tail", tail?.ms), ...sample("Python", control("tail", home, agent)?.ms)],
      },
      {
        title: "Checked replay of 100 MB (at least 500 a ms on Bun, 300 on Node and Deno)",
        unit: "lines/ms",
        samples: [
          ...replays.flatMap(([name, result]) => sample(name, rate(result))),
          ...sample("Python", rate(control("replay", home, agent))),
        ],
      },
      {
        title: "Growth of resident memory over 20 tails, and over 5 replays of 100 MB (20 replays: the same)",
        unit: "MiB",
        samples: [
          ...sample("tail", tail === undefined ? undefined : [tail.resident]),
          ...replays.flatMap(([name, result]) => sample(`replay, ${name}`, result === undefined ? undefined : [result.resident])),
        ],
      },
    ]
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
