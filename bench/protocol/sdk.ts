import * as v2 from "@agentclientprotocol/sdk/experimental/v2/unstable"
import * as v1 from "@agentclientprotocol/sdk/unstable"

type Bytes = ReadableStream<Uint8Array>

/** Resolves when `prompt` says so and every update has been handled: the SDK may answer before its handlers have run. */
const settled = (wanted: () => boolean): { readonly check: () => void; readonly done: Promise<void> } => {
  let resolve = () => {}
  const done = new Promise<void>((settle) => {
    resolve = settle
  })
  return { check: () => (wanted() ? resolve() : undefined), done }
}

/** The SDK's v1 client with a handler that appends text. */
export const sdkClientV1 = async (stdin: WritableStream<Uint8Array>, stdout: Bytes, updates: number) => {
  let seen = 0
  let text = ""
  let answered = false
  const end = settled(() => answered && seen >= updates)
  const connection = v1
    .client({ name: "bench" })
    .onNotification(v1.methods.client.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") text += update.content.text
      seen += 1
      end.check()
    })
    .connect(v1.ndJsonStream(stdin, stdout))
  await connection.agent.request(v1.methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} })
  await connection.agent.request(v1.methods.agent.session.new, { cwd: "/", mcpServers: [] })
  return {
    prompt: async () => {
      await connection.agent.request(v1.methods.agent.session.prompt, { sessionId: "s", prompt: [{ type: "text", text: "go" }] })
      answered = true
      end.check()
      await end.done
      return text
    },
  }
}

/** The SDK's v2 client with a handler that appends text and waits for idle. */
export const sdkClientV2 = async (stdin: WritableStream<Uint8Array>, stdout: Bytes, updates: number) => {
  let seen = 0
  let text = ""
  let idle = false
  const end = settled(() => idle && seen >= updates)
  const connection = v2
    .client({ name: "bench" })
    .onNotification(v2.methods.client.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate === "agent_message_chunk") {
        const content = update.content as { readonly type: string; readonly text: string }
        if (content.type === "text") text += content.text
        seen += 1
      } else if (update.sessionUpdate === "state_update" && (update as { state?: string }).state === "idle") idle = true
      end.check()
    })
    .connect(v2.ndJsonStream(stdin, stdout))
  await connection.agent.request(v2.methods.agent.initialize, {
    protocolVersion: 2,
    info: { name: "bench", version: "1" },
    capabilities: {},
  })
  await connection.agent.request(v2.methods.agent.session.new, { cwd: "/" })
  return {
    prompt: async () => {
      await connection.agent.request(v2.methods.agent.session.prompt, { sessionId: "s", prompt: [{ type: "text", text: "go" }] })
      await end.done
      return text
    },
  }
}
