import type { Launch } from "@acp-kit/testing/ScriptedAgent"
import { SdkAgents } from "@acp-kit/testing/SdkAgents"
import { describe, expect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { live, startAgent, until } from "./support/Agents.ts"
import { text } from "./support/Wire.ts"

const agents: ReadonlyArray<readonly [name: string, launch: Launch, offer: 1 | 2, version: 1 | 2]> = [
  ["the SDK's v1 agent", SdkAgents.v1, 2, 1],
  ["the SDK's v1 agent, offered 1", SdkAgents.v1, 1, 1],
  ["the SDK's v2 agent", SdkAgents.v2, 2, 2],
  ["the SDK's router", SdkAgents.router, 2, 2],
  ["the SDK's router, offered 1", SdkAgents.router, 1, 1],
]

const start = (launch: Launch, offer: 1 | 2 = 2) => startAgent([launch.command, ...launch.args], { offer })

describe.each(agents)("a whole conversation with %s", (_name, launch, offer, version) => {
  live("S110 S111 S140 S153 negotiates, prompts, permits, cancels, forks and closes; every frame sent is valid", () =>
    Effect.gen(function* () {
      const { client, cwd, frames, noises, problems } = yield* start(launch, offer)
      expect(client.version).toBe(version)
      expect(client.capabilities).toMatchObject({ fork: true, close: true, delete: false })
      const session = yield* client.newSession({ cwd })
      for (const words of ["one", "two"]) {
        expect(yield* session.prompt([text(words)])).toMatchObject({ text: `echo: ${words}`, stopReason: "end_turn" })
      }
      expect((yield* session.prompt([text("permission")])).text).toBe("always")
      const branch = yield* session.fork({ cwd })
      expect((yield* branch.prompt([text("recall")])).text).toBe('["one","two","permission"]')
      const turn = yield* session.begin([text("wait")])
      yield* Effect.raceFirst(
        Effect.exit(turn.result),
        until(session, () => frames.some(({ line }) => line.includes("waiting"))),
      )
      expect(yield* turn.cancel).toBe("settled")
      expect(yield* Effect.flip(turn.result)).toMatchObject({ reason: "cancelled", result: { text: "waiting" } })
      expect((yield* session.prompt([text("three")])).text).toBe("echo: three")
      yield* branch.close
      expect((yield* session.prompt([text("recall")])).text).toContain("three")
      yield* session.close
      expect(problems).toEqual([])
      expect(noises).toEqual([])
    }),
  )
})

describe("the SDK's v2 agent", () => {
  live("S110 speaks nothing but 2 and says so to an offer of 1", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(start(SdkAgents.v2, 1))
      expect(error).toMatchObject({ _tag: "RpcError", method: "initialize", code: -32022, data: { supported: [2] } })
    }),
  )
})

describe("the example agent of SDK 0.12", () => {
  live("R21 S140 S153 holds a conversation of two turns, permission and the same tool call ids included", () =>
    Effect.gen(function* () {
      const { client, cwd, frames, problems } = yield* start(SdkAgents.example)
      expect(client).toMatchObject({ version: 1, capabilities: { fork: false, close: false } })
      const session = yield* client.newSession({ cwd })
      const other = yield* client.newSession({ cwd })
      const turns = yield* Effect.forEach([session, other], (each) => each.prompt([text("Hello, agent!")]), {
        concurrency: "unbounded",
      })
      for (const turn of turns) {
        expect(turn.stopReason).toBe("end_turn")
        expect(turn.text.length).toBeGreaterThan(100)
        expect(turn.tools.map(({ id, open }) => [id, open])).toEqual([
          ["call_1", false],
          ["call_2", false],
        ])
      }
      const asked = frames.filter(
        ({ direction, method, kind }) => direction === "in" && kind === "request" && method === "session/request_permission",
      )
      expect(asked).toHaveLength(2)
      const cancelled = yield* session.begin([text("Again")])
      yield* until(session, ({ tool }) => tool !== undefined)
      expect(yield* cancelled.cancel).toBe("settled")
      expect(yield* Effect.flip(cancelled.result)).toMatchObject({ _tag: "TurnFailed", reason: "cancelled" })
      expect(yield* Effect.flip(session.close)).toMatchObject({ _tag: "CapabilityMissing" })
      expect(problems).toEqual([])
    }),
  )
})
