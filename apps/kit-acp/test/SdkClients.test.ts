import { Processes } from "@acp-kit/platform/Processes"
import * as v2 from "@agentclientprotocol/sdk/experimental/v2/unstable"
import * as v1 from "@agentclientprotocol/sdk/unstable"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { block, machine, streamsOf } from "./Machine.ts"

const info = { name: "test", version: "0" }

/** Runs a conversation of an official client with a `kit acp` of this version. */
const conversation = <A>(version: "1" | "2" | "auto", talk: (stream: v1.Stream, cwd: string) => Promise<A>) =>
  Effect.gen(function* () {
    const here = yield* machine
    const child = yield* here.start("--protocol-version", version)
    const { input, output } = streamsOf(child)
    const value = yield* Effect.promise(() => talk(v1.ndJsonStream(output, input), here.root))
    yield* child.endInput
    expect(yield* child.exit).toMatchObject({ code: 0 })
    expect(yield* here.running).toEqual([])
    return value
  })

it.layer(Processes.layer, { excludeTestServices: true })("kit acp with the official clients", (it) => {
  it.effect("holds a whole conversation of version 1", () =>
    conversation("1", (stream, cwd) =>
      v1.client(info).connectWith(stream, async (agent) => {
        const { agentInfo } = await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} })
        expect(agentInfo?.name).toBe("kit")
        await agent.buildSession(cwd).withSession(async (session) => {
          void session.prompt("hello")
          expect(await session.readText()).toBe("echo: hello")
          void session.prompt(block('return shell({ command: "echo from the shell" }).stdout', 'runlet intent="say something"'))
          const seen: Array<v1.SessionUpdate> = []
          let stop: string | undefined
          while (stop === undefined) {
            const message = await session.nextUpdate()
            if (message.kind === "stop") stop = message.stopReason
            else seen.push(message.update)
          }
          expect(stop).toBe("end_turn")
          expect(seen).toMatchObject([
            { sessionUpdate: "usage_update" },
            { sessionUpdate: "tool_call", title: "compose", status: "pending" },
            { sessionUpdate: "tool_call_update", title: "say something", status: "in_progress" },
            { sessionUpdate: "tool_call_update", status: "completed", rawOutput: "from the shell\n" },
            { sessionUpdate: "agent_message_chunk", content: { text: "from the shell\n" } },
            { sessionUpdate: "usage_update", size: 128_000 },
          ])
          const { configOptions } = await agent.request("session/set_config_option", {
            sessionId: session.sessionId,
            configId: "reasoning_effort",
            value: "high",
          })
          expect(configOptions[1]).toMatchObject({ currentValue: "high" })
          await agent.request("session/close", { sessionId: session.sessionId })
        })
      }),
    ),
  )

  it.effect("holds a whole conversation of version 2", () =>
    conversation("2", (stream, cwd) =>
      v2.client(info).connectWith(stream as v2.Stream, async (agent) => {
        await agent.request("initialize", { protocolVersion: 2, info, capabilities: {} })
        await agent.buildSession(cwd).withSession(async (session) => {
          await session.prompt("hello")
          expect(await session.readTextUntilIdle()).toBe("echo: hello")
          await session.prompt(block('return shell({ command: "sleep 60" })'))
          let stop: string | null | undefined
          while (stop === undefined) {
            const message = await session.nextUpdate()
            if (message.kind === "stop") stop = message.stopReason
            else if (message.update.sessionUpdate === "tool_call_update" && message.update.status === "in_progress")
              await agent.notify("session/cancel", { sessionId: session.sessionId })
          }
          expect(stop).toBe("cancelled")
          await agent.request("session/close", { sessionId: session.sessionId })
        })
      }),
    ),
  )

  it.effect("lets a client of either version choose with auto", () =>
    Effect.gen(function* () {
      const first = yield* conversation("auto", (stream) =>
        v1
          .client(info)
          .connectWith(stream, (agent) => agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} })),
      )
      const second = yield* conversation("auto", (stream) =>
        v2
          .client(info)
          .connectWith(stream as v2.Stream, (agent) =>
            agent.request("initialize", { protocolVersion: 2, info, capabilities: {} }),
          ),
      )
      expect([first.protocolVersion, second.protocolVersion]).toEqual([1, 2])
    }),
  )
})
