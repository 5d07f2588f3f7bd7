/**
 * Time from the spawn of an agent to an open session: `setup.ts ROUNDS`. Takes turns between the least loop that writes the two requests and
 * waits for their answers, and our client. Prints one line of JSON: the milliseconds of each.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { kitClient } from "./kit.ts"

const rounds = Number(process.argv[2])
const producer = join(import.meta.dir, "producer.ts")

const start = () => spawn(process.execPath, [producer, "2", "0"], { stdio: ["pipe", "pipe", "inherit"] })

const raw = async (child: ReturnType<typeof start>): Promise<void> => {
  const ask = async (id: number, method: string, params: unknown) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
    for (let said = ""; !said.endsWith("\n"); ) said += String((await once(child.stdout, "data"))[0])
  }
  await ask(0, "initialize", { protocolVersion: 2, info: { name: "bench", version: "1" }, capabilities: {} })
  await ask(1, "session/new", { cwd: "/", mcpServers: [] })
}

const timed = async (open: (child: ReturnType<typeof start>) => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  const child = start()
  await open(child)
  const took = performance.now() - began
  child.kill("SIGKILL")
  await once(child, "exit")
  return took
}

const times: { raw: Array<number>; kit: Array<number> } = { raw: [], kit: [] }
await timed(raw)
await timed((child) => kitClient(child))
for (let round = 0; round < rounds; round++) {
  times.raw.push(await timed(raw))
  times.kit.push(await timed((child) => kitClient(child)))
}
console.log(JSON.stringify(times))
process.exit(0)
