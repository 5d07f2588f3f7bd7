/**
 * An ACP agent that answers each prompt with a stream: `producer.ts VERSION UPDATES`. Coalesced writes of 64 KiB that wait for the reader.
 * It does as little as it can, so that the client is what is measured.
 */
import { once } from "node:events"

const version = Number(process.argv[2])
const updates = Number(process.argv[3])

const write = async (text: string): Promise<void> => {
  if (!process.stdout.write(text)) await once(process.stdout, "drain")
}

const send = (message: unknown): Promise<void> => write(`${JSON.stringify({ jsonrpc: "2.0", ...(message as object) })}\n`)

const update = (change: unknown): Promise<void> => send({ method: "session/update", params: { sessionId: "s", update: change } })

const chunk = `${JSON.stringify({
  jsonrpc: "2.0",
  method: "session/update",
  params: {
    sessionId: "s",
    update: {
      sessionUpdate: "agent_message_chunk",
      messageId: "message-1",
      content: { type: "text", text: "some words of an answer, as " },
    },
  },
})}\n`

const stream = async (): Promise<void> => {
  const perWrite = Math.floor(65_536 / chunk.length)
  for (let left = updates; left > 0; left -= perWrite) await write(chunk.repeat(Math.min(left, perWrite)))
}

const prompt = async (id: unknown): Promise<void> => {
  if (version === 1) {
    await stream()
    return await send({ id, result: { stopReason: "end_turn" } })
  }
  await send({ id, result: { messageId: "user-1" } })
  await update({ sessionUpdate: "state_update", state: "running" })
  await stream()
  await update({ sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" })
}

const answers: Readonly<Record<string, unknown>> = {
  initialize:
    version === 1
      ? { protocolVersion: 1, agentCapabilities: {}, authMethods: [] }
      : { protocolVersion: 2, info: { name: "producer", version: "1" }, capabilities: { session: {} }, authMethods: [] },
  "session/new": { sessionId: "s" },
}

let rest = ""
for await (const piece of process.stdin) {
  const lines = (rest + piece).split("\n")
  rest = lines.pop() ?? ""
  for (const line of lines) {
    const { id, method } = JSON.parse(line) as { id?: unknown; method: string }
    if (method === "session/prompt") await prompt(id)
    else if (id !== undefined) await send({ id, result: answers[method] ?? {} })
  }
}
