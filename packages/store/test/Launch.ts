import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const runtime = globalThis as { readonly Deno?: unknown }

/** The words that start a script of `scripts/` on the runtime that runs this test. */
export const command = (script: string, args: ReadonlyArray<string>): readonly [string, ...ReadonlyArray<string>] => {
  const file = fileURLToPath(new URL(`./scripts/${script}.ts`, import.meta.url))
  return [process.execPath, ...(runtime.Deno === undefined ? [] : ["run", "-A", "--no-lock"]), file, ...args]
}

/** A script at work: its lines as they come. */
export interface Running {
  readonly child: ChildProcess
  /** The next line, `undefined` at the end of its output. */
  readonly line: () => Promise<string | undefined>
  /** The lines that have come and were not asked for. */
  readonly rest: () => Promise<ReadonlyArray<string>>
  /** Ends it at once and waits until it is gone. */
  readonly kill: () => Promise<void>
  readonly exit: Promise<void>
  readonly stderr: () => string
}

/** Starts a process whose lines are read. */
export const start = (words: readonly [string, ...ReadonlyArray<string>]): Running => {
  const [program, ...args] = words
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] })
  const lines: Array<string> = []
  const waiting: Array<(line: string | undefined) => void> = []
  let partial = ""
  let ended = false
  let errors = ""
  const wake = () => {
    while (waiting.length > 0 && (lines.length > 0 || ended)) waiting.shift()?.(lines.shift())
  }
  child.stdout.setEncoding("utf8")
  child.stdout.on("data", (text: string) => {
    const all = (partial + text).split("\n")
    partial = all.pop() ?? ""
    lines.push(...all)
    wake()
  })
  child.stderr.on("data", (bytes: Uint8Array) => {
    errors += new TextDecoder().decode(bytes)
  })
  child.stdin.on("error", () => {})
  const exit = new Promise<void>((resolve) => {
    child.on("close", () => {
      ended = true
      wake()
      resolve()
    })
  })
  return {
    child,
    line: () =>
      new Promise((resolve) => {
        waiting.push(resolve)
        wake()
      }),
    rest: async () => {
      await exit
      return lines.splice(0)
    },
    kill: async () => {
      child.kill("SIGKILL")
      await exit
    },
    exit,
    stderr: () => errors,
  }
}
