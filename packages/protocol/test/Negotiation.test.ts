import * as AgentClient from "@acp-kit/protocol/AgentClient"
import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import { readInitialized } from "@acp-kit/protocol/Negotiation"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { connected, initializedV1, initializedV2, makeWire, options } from "./support/Wire.ts"

const outcome = (answer: Json) => {
  const read = readInitialized(answer)
  return Result.isSuccess(read) ? read.success.capabilities.version : read.failure._tag
}

const failure = (answers: ReadonlyArray<Json | { readonly error: Json }>, offer: 1 | 2 = 2) =>
  Effect.gen(function* () {
    const wire = yield* makeWire
    const connecting = yield* Effect.forkChild(Effect.flip(AgentClient.connect(wire.transport, options({ offer }))))
    for (const answer of answers) yield* wire.answer("initialize", answer)
    const error = yield* Fiber.join(connecting)
    return { error, wire }
  })

describe("Negotiation", () => {
  it.effect(
    "S110 S113 offers 2 in one request that both generations understand, with name and version, without files or terminals",
    () =>
      Effect.gen(function* () {
        const wire = yield* makeWire
        const client = yield* connected(wire, initializedV2())
        expect(wire.written).toEqual([
          {
            jsonrpc: "2.0",
            id: 0,
            method: "initialize",
            params: {
              protocolVersion: 2,
              info: { name: "kit", version: "1.2.3" },
              capabilities: {},
              clientInfo: { name: "kit", version: "1.2.3" },
              clientCapabilities: {
                fs: { readTextFile: false, writeTextFile: false },
                terminal: false,
                session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
              },
            },
          },
        ])
        expect(client).toMatchObject({ version: 2, agentInfo: { name: "peer", version: "9" }, authMethodIds: ["login"] })
      }),
  )

  it.effect("S110 takes version 1 where the agent chooses it", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const client = yield* connected(wire, initializedV1({ loadSession: true }))
      expect(client).toMatchObject({ version: 1, agentInfo: { name: "peer", version: "9" }, authMethodIds: ["login"] })
      expect(client.capabilities.load).toBe(true)
    }),
  )

  it.effect("S110 fails on any other version, with nothing sent after it", () =>
    Effect.gen(function* () {
      for (const got of [0, 3, 99, "2", null, 2.5, 12345678901234567890n] as ReadonlyArray<Json>) {
        const { error, wire } = yield* failure([{ protocolVersion: got, agentCapabilities: {} }])
        expect(error).toMatchObject({ _tag: "UnsupportedVersion", got })
        expect(wire.written).toHaveLength(1)
      }
    }),
  )

  it.effect("asks again with 1 on the same connection where 2 is rejected, whatever the code", () =>
    Effect.gen(function* () {
      const rejections: ReadonlyArray<Json> = [
        { code: -32022, message: "Unsupported protocol version", data: { requested: 2, supported: [1] } },
        { code: -32600, message: "Invalid request", data: "unsupported ACP protocol version 2" },
        { code: -32602, message: "Invalid params" },
        { code: -32603, message: "Internal error" },
      ]
      for (const error of rejections) {
        const wire = yield* makeWire
        const connecting = yield* Effect.forkChild(AgentClient.connect(wire.transport, options()))
        yield* wire.answer("initialize", { error })
        const second = yield* wire.answer("initialize", initializedV1())
        expect((yield* Fiber.join(connecting)).version).toBe(1)
        const params = second.params as JsonObject
        expect(Object.keys(params).sort()).toEqual(["clientCapabilities", "clientInfo", "protocolVersion"])
        expect(params.protocolVersion).toBe(1)
      }
    }),
  )

  it.effect("says that a fresh process should be asked where the agent ends after rejecting 2", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const connecting = yield* Effect.forkChild(Effect.flip(AgentClient.connect(wire.transport, options())))
      yield* wire.answer("initialize", { error: { code: -32600, message: "no" } })
      wire.end({ exitCode: 7, stderrTail: "bye" })
      expect(yield* Fiber.join(connecting)).toMatchObject({
        _tag: "VersionRejected",
        code: -32600,
        closed: { exitCode: 7, stderrTail: "bye" },
      })
    }),
  )

  it.effect("offers 1 alone when told to, and takes 2 from an agent that speaks nothing else", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const client = yield* connected(wire, initializedV2(), { offer: 1 })
      expect(wire.written[0]).toMatchObject({ params: { protocolVersion: 1 } })
      expect(client.version).toBe(2)
    }),
  )

  it.effect("reports the second rejection as it is", () =>
    Effect.gen(function* () {
      const no = { code: -32603, message: "no", data: { details: "why" } }
      const { error } = yield* failure([{ error: no }, { error: no }])
      expect(error).toMatchObject({ _tag: "RpcError", method: "initialize", ...no })
    }),
  )

  it.effect("S123 reports an authentication error of initialize by method ids alone", () =>
    Effect.gen(function* () {
      const { error, wire } = yield* failure([
        { error: { code: -32000, message: "secret", data: { methodId: "sso", token: "secret" } } },
      ])
      expect(error).toMatchObject({ _tag: "AuthRequired", methodIds: ["sso"] })
      expect(JSON.stringify(error)).not.toContain("secret")
      expect(wire.written).toHaveLength(1)
    }),
  )

  it.effect("fails where the agent ends first, with exit code, signal and the end of stderr", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const connecting = yield* Effect.forkChild(Effect.flip(AgentClient.connect(wire.transport, options())))
      yield* wire.take
      wire.end({ exitCode: undefined, signal: "SIGSEGV", stderrTail: "core dumped" })
      expect(yield* Fiber.join(connecting)).toMatchObject({
        _tag: "TransportClosed",
        signal: "SIGSEGV",
        stderrTail: "core dumped",
      })
    }),
  )

  it("decides by number and shape: an agent that echoes 2 in the shape of 1 speaks 1", () => {
    expect(outcome({ protocolVersion: 2, agentCapabilities: {} })).toBe(1)
    expect(outcome({ protocolVersion: 2, agentCapabilities: {}, info: { name: "x", version: "1" } })).toBe(1)
    expect(outcome({ protocolVersion: 2 })).toBe(1)
    expect(outcome({ protocolVersion: 2, info: { name: "x", version: "1" }, capabilities: { session: {} } })).toBe(2)
    expect(outcome({ protocolVersion: 2, capabilities: { session: {} } })).toBe(2)
    expect(outcome({ protocolVersion: 1, capabilities: { session: {} } })).toBe(1)
    expect(outcome({ protocolVersion: 2, info: { name: "x", version: "1" }, capabilities: {} })).toBe("CapabilityMissing")
    expect(outcome({ protocolVersion: 2, info: {}, capabilities: { session: null } })).toBe("CapabilityMissing")
  })

  it("refuses answers that say nothing", () => {
    for (const answer of [null, 1, "x", [], {}, { agentCapabilities: {} }] as ReadonlyArray<Json>)
      expect(outcome(answer)).toBe("MalformedResult")
  })

  it("survives answers in which everything is optional or odd", () => {
    for (const odd of [undefined, null, 1, "x", [], {}, true] as ReadonlyArray<Json>) {
      expect(outcome({ protocolVersion: 1, agentInfo: odd, agentCapabilities: odd, authMethods: odd } as JsonObject)).toBe(1)
      const session = { prompt: odd, inject: odd, fork: odd, mcp: odd }
      expect(outcome({ protocolVersion: 2, info: odd, capabilities: { session } } as JsonObject)).toBe(2)
    }
  })
})
