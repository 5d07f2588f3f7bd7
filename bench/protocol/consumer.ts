/**
 * One client over one producer, measured: `consumer.ts CLIENT VERSION UPDATES`. Prints one line of JSON: milliseconds of wall and of its own
 * CPU from the prompt to its end, by how much its resident memory grew at most meanwhile, and what of the heap is held after it.
 */
import { heapStats } from "bun:jsc"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { Readable, Writable } from "node:stream"
import type { Client } from "./Client.ts"
import type { Pipes } from "./kit.ts"

const [client, version, updates] = [process.argv[2] as Client, Number(process.argv[3]) as 1 | 2, Number(process.argv[4])]

/** Everything up to the prompt, then the prompt, which gives the text or, where nothing keeps it, its length. */
type Start = (pipes: Pipes) => Promise<{ readonly prompt: () => Promise<string | { readonly length: number }> }>

const frame = (id: number, method: string, params: unknown) => `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`

/** The least that can be called a client: splits, parses, adds up. */
const raw: Start = async ({ stdin, stdout }) => {
  let length = 0
  let done = () => {}
  const end = version === 1 ? '"stopReason"' : '"idle"'
  let rest = ""
  const decoder = new TextDecoder()
  stdout.on("data", (bytes: Uint8Array) => {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) {
      const update = JSON.parse(line).params?.update
      if (update?.sessionUpdate === "agent_message_chunk") length += update.content.text.length
      else if (line.includes(end)) done()
    }
  })
  return {
    prompt: () =>
      new Promise((resolve) => {
        done = () => resolve({ length })
        stdin.write(frame(1, "session/prompt", { sessionId: "s", prompt: [] }))
      }),
  }
}

const kit: Start = async (pipes) => (await import("./kit.ts")).kitClient(pipes)

const observed: Start = async (pipes) => (await import("./kit.ts")).kitClient(pipes, true)

const stopped: Start = async (pipes) => {
  const started = await (await import("./kit.ts")).kitClient(pipes)
  started.subscribeAndStop()
  return started
}

const sdk: Start = async ({ stdin, stdout }) => {
  const { sdkClientV1, sdkClientV2 } = await import("./sdk.ts")
  const output = Writable.toWeb(stdin as Writable) as WritableStream<Uint8Array>
  const input = Readable.toWeb(stdout) as unknown as ReadableStream<Uint8Array>
  return (version === 1 ? sdkClientV1 : sdkClientV2)(output, input, updates)
}

const producer = join(import.meta.dir, "producer.ts")
const child = spawn(process.execPath, [producer, String(version), String(updates)], { stdio: ["pipe", "pipe", "inherit"] })
const { prompt } = await { raw, kit, observed, stopped, sdk }[client](child)
Bun.gc(true)
const held = heapStats().heapSize
const rss = process.memoryUsage.rss()
let peak = rss
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss())
}, 20)
const before = process.cpuUsage()
const began = performance.now()
const answer = await prompt()
const wall = performance.now() - began
const { user, system } = process.cpuUsage(before)
clearInterval(watch)
peak = Math.max(peak, process.memoryUsage.rss())
child.kill("SIGKILL")
Bun.gc(true)
const retained = heapStats().heapSize - held
console.log(
  JSON.stringify({
    wall,
    cpu: (user + system) / 1_000,
    length: answer.length,
    growth: (peak - rss) / 2 ** 20,
    retained: retained / 2 ** 20,
  }),
)
process.exit(0)
