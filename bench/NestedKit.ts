import { join } from "node:path"
import { kit } from "./Launch.ts"

const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: 1, clientCapabilities: {}, clientInfo: { name: "bench", version: "0" } },
})

/** An agent over stdio whose `initialize` was answered. */
export interface Started {
  /** From the spawn to the answer. */
  readonly milliseconds: number
  readonly pid: number
  /** Opens a session in this directory. */
  readonly open: (cwd: string) => Promise<void>
  readonly stop: () => Promise<void>
}

/** The least that can answer: a Bun process that writes one line for one line. */
export const floor: ReadonlyArray<string> = [process.execPath, join(import.meta.dir, "fixtures/floor.js")]

/** `kit acp`, as a parent Kit starts it. */
export const nested: ReadonlyArray<string> = [...kit, "acp"]

/** Starts an agent and waits for its answer to `initialize`; fails where it ends without one. */
export const startAgent = async (command: ReadonlyArray<string>, env: Readonly<Record<string, string>>): Promise<Started> => {
  const started = performance.now()
  const child = Bun.spawn([...command], { stdin: "pipe", stdout: "pipe", stderr: "inherit", env: { ...process.env, ...env } })
  child.stdin.write(`${initialize}\n`)
  await child.stdin.flush()
  const reader = child.stdout.getReader()
  const { done } = await reader.read()
  if (done) throw new Error(`${command.join(" ")} ended without an answer`)
  const milliseconds = performance.now() - started
  return {
    milliseconds,
    pid: child.pid,
    open: async (cwd) => {
      const params = { cwd, mcpServers: [] }
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "session/new", params })}\n`)
      await child.stdin.flush()
      await reader.read()
    },
    stop: async () => {
      await child.stdin.end()
      await child.exited
    },
  }
}
