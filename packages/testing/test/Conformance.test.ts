import { spawn } from "node:child_process"
import { tmpdir } from "node:os"
import { Readable, Writable } from "node:stream"
import * as v2 from "@agentclientprotocol/sdk/experimental/v2/unstable"
import * as v1 from "@agentclientprotocol/sdk/unstable"
import { afterEach, describe, expect, it } from "@effect/vitest"
import { type Launch, launch, script } from "../src/ScriptedAgent.ts"
import { SdkAgents } from "../src/SdkAgents.ts"

const ends: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const connectTo = (agent: Launch) => {
  const child = spawn(agent.command, agent.args, { cwd: tmpdir(), stdio: ["pipe", "pipe", "inherit"] })
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  ends.push(() => {
    child.stdin.end()
    return gone
  })
  const input = Readable.toWeb(child.stdout) as unknown as ReadableStream<Uint8Array>
  return v1.ndJsonStream(Writable.toWeb(child.stdin) as WritableStream<Uint8Array>, input)
}

const everything = script(
  { think: "hm" },
  { say: "text" },
  { tool: { toolCallId: "t", title: "Edit", kind: "edit", status: "in_progress" } },
  {
    only: 1,
    steps: [
      {
        toolUpdate: { toolCallId: "t", status: "completed", content: [{ type: "diff", path: "/a", oldText: "x", newText: "y" }] },
      },
    ],
  },
  {
    only: 2,
    steps: [
      {
        toolUpdate: {
          toolCallId: "t",
          status: "completed",
          content: [{ type: "diff", changes: [{ operation: "modify", path: "/a" }] }],
        },
      },
      { terminal: { terminalId: "x", command: "ls", cwd: "/", output: { data: "aGk=" } } },
      { terminalChunk: { terminalId: "x", data: "aGk=" } },
    ],
  },
  { plan: [{ content: "step", priority: "medium", status: "pending" }] },
  { usage: { used: 10, size: 100, cost: { amount: 0.5, currency: "USD" } } },
  { title: "A title" },
  { commands: [{ name: "x", description: "d" }] },
  { options: [{ id: "fast", name: "Fast", currentValue: true }] },
  { notice: { severity: "info", title: "n" } },
  { compaction: { compactionId: "c", status: "in_progress" } },
  { permission: "usual" },
  { elicit: "form" },
)

const mood = {
  options: [{ id: "model", name: "Model", category: "model", currentValue: "m", options: [{ value: "m", name: "M" }] }],
}

describe("a scripted agent before the official client of v1", () => {
  const client = (seen: Array<string>) =>
    v1
      .client({ name: "test" })
      .onNotification(v1.methods.client.session.update, ({ params }) => void seen.push(params.update.sessionUpdate))
      .onRequest(v1.methods.client.session.requestPermission, ({ params }) => ({
        outcome: { outcome: "selected", optionId: params.options[0]?.optionId ?? "" },
      }))
      .onRequest(v1.methods.client.elicitation.create, () => ({ action: "cancel" }))

  it("says nothing that the client refuses", async () => {
    const seen: Array<string> = []
    const { agent } = client(seen).connect(connectTo(launch({ ...mood, versions: [1] })))
    const initialized = await agent.request(v1.methods.agent.initialize, {
      protocolVersion: 1,
      clientCapabilities: { session: { configOptions: { boolean: {} }, notices: {}, compaction: {} } },
    })
    expect(initialized.protocolVersion).toBe(1)
    const { sessionId, configOptions } = await agent.request(v1.methods.agent.session.new, { cwd: "/", mcpServers: [] })
    expect(configOptions?.[0]).toMatchObject({ id: "model", currentValue: "m" })
    const { stopReason } = await agent.request(v1.methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: "text", text: everything }],
    })
    expect(stopReason).toBe("end_turn")
    const fork = await agent.request(v1.methods.agent.session.fork, { sessionId, cwd: "/" })
    expect(fork.sessionId).not.toBe(sessionId)
    await agent.request(v1.methods.agent.session.close, { sessionId: fork.sessionId })
    expect(seen).toEqual([
      "agent_thought_chunk",
      "agent_message_chunk",
      "tool_call",
      "tool_call_update",
      "plan",
      "usage_update",
      "session_info_update",
      "available_commands_update",
      "config_option_update",
      "notice",
      "compaction_update",
      "agent_message_chunk",
      "agent_message_chunk",
    ])
  })
})

describe("a scripted agent before the official client of v2", () => {
  it("says nothing that the client refuses", async () => {
    const seen: Array<string> = []
    const idle = Promise.withResolvers<void>()
    const { agent } = v2
      .client({ name: "test" })
      .onNotification(v2.methods.client.session.update, ({ params: { update } }) => {
        seen.push(update.sessionUpdate)
        if (update.sessionUpdate === "state_update" && update.state === "idle") idle.resolve()
      })
      .onRequest(v2.methods.client.session.requestPermission, ({ params }) => ({
        outcome: { outcome: "selected", optionId: params.options[0]?.optionId ?? "" },
      }))
      .onRequest(v2.methods.client.elicitation.create, () => ({ action: "cancel" }))
      .connect(connectTo(launch(mood)))
    const initialized = await agent.request(v2.methods.agent.initialize, {
      protocolVersion: 2,
      info: { name: "test", version: "1" },
      capabilities: {},
    })
    expect(initialized.protocolVersion).toBe(2)
    const { sessionId } = await agent.request(v2.methods.agent.session.new, { cwd: "/" })
    await agent.request(v2.methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text: everything }] })
    await idle.promise
    expect(seen).toEqual([
      "user_message",
      "state_update",
      "agent_thought_chunk",
      "agent_message_chunk",
      "tool_call_update",
      "tool_call_update",
      "terminal_update",
      "terminal_output_chunk",
      "plan_update",
      "usage_update",
      "session_info_update",
      "available_commands_update",
      "config_option_update",
      "notice",
      "compaction_update",
      "agent_message_chunk",
      "agent_message_chunk",
      "state_update",
    ])
  })
})

describe("the agents of the SDK", () => {
  const texts: Array<string> = []
  const open = async (line: Launch) => {
    texts.length = 0
    const { agent } = v1
      .client({ name: "test" })
      .onNotification(v1.methods.client.session.update, ({ params: { update } }) => {
        if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") texts.push(update.content.text)
      })
      .onRequest(v1.methods.client.session.requestPermission, ({ params }) => ({
        outcome: { outcome: "selected", optionId: params.options[0]?.optionId ?? "" },
      }))
      .connect(connectTo(line))
    await agent.request(v1.methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} })
    const { sessionId } = await agent.request(v1.methods.agent.session.new, { cwd: "/", mcpServers: [] })
    const prompt = (text: string) =>
      agent.request(v1.methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] })
    return { prompt }
  }

  it("hold a conversation in v1, alone and behind the router", async () => {
    for (const line of [SdkAgents.v1, SdkAgents.router]) {
      const { prompt } = await open(line)
      await prompt("hello")
      await prompt("permission")
      await prompt("recall")
      expect(texts).toEqual(["echo: hello", "once", '["hello","permission"]'])
    }
  })

  it("hold a conversation in v2, alone and behind the router", async () => {
    for (const line of [SdkAgents.v2, SdkAgents.router]) {
      const said: Array<unknown> = []
      let idle = Promise.withResolvers<unknown>()
      const { agent } = v2
        .client({ name: "test" })
        .onNotification(v2.methods.client.session.update, ({ params: { update } }) => {
          if (update.sessionUpdate === "agent_message_chunk") said.push(update.content)
          if (update.sessionUpdate === "state_update" && update.state === "idle") idle.resolve(update)
        })
        .connect(connectTo(line))
      const info = { name: "test", version: "1" }
      await agent.request(v2.methods.agent.initialize, { protocolVersion: 2, info, capabilities: {} })
      const { sessionId } = await agent.request(v2.methods.agent.session.new, { cwd: "/" })
      const prompt = (text: string) =>
        agent.request(v2.methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] })
      await prompt("hello")
      expect(await idle.promise).toMatchObject({ stopReason: "end_turn" })
      idle = Promise.withResolvers()
      await prompt("wait")
      await agent.notify(v2.methods.agent.session.cancel, { sessionId })
      expect(await idle.promise).toMatchObject({ stopReason: "cancelled" })
      expect(said[0]).toEqual({ type: "text", text: "echo: hello" })
    }
  })

  it("include the example of SDK 0.12", async () => {
    const { prompt } = await open(SdkAgents.example)
    expect(await prompt("hello")).toEqual({ stopReason: "end_turn" })
    expect(texts.at(-1)).toContain("successfully updated the configuration")
  })
})
