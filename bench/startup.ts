import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { kit } from "./Launch.ts"
import { floor, nested, startAgent } from "./NestedKit.ts"
import { interleaved, type Measure } from "./Sample.ts"

const rounds = 30

const wall = (command: ReadonlyArray<string>) => () => {
  const started = performance.now()
  const { exitCode, stderr } = Bun.spawnSync([...command])
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`)
  return performance.now() - started
}

/** `kit --version` and a program without agents, to their exit; `kit acp`, to its answer to `initialize`. Each against a bare Bun process. */
export const measure = async (): Promise<ReadonlyArray<Measure>> => {
  const home = mkdtempSync(join(tmpdir(), "kit-bench-"))
  try {
    const answer = (command: ReadonlyArray<string>) => async () => {
      const agent = await startAgent(command, { KIT_HOME: home })
      await agent.stop()
      return agent.milliseconds
    }
    return [
      {
        title: "A command, to its exit",
        unit: "ms",
        samples: await interleaved(rounds, {
          "bare Bun process": wall([process.execPath, join(import.meta.dir, "fixtures/hello.js")]),
          "kit --version": wall([...kit, "--version"]),
          "kit compose --no-session -e 'return 1'": wall([...kit, "compose", "--no-session", "-e", "return 1"]),
        }),
      },
      {
        title: "An agent, to its answer to `initialize`",
        unit: "ms",
        samples: await interleaved(rounds, { "bare Bun process": answer(floor), "kit acp": answer(nested) }),
      },
    ]
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
