import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import type { Transport } from "@acp-kit/protocol/Transport"
import type { Noise } from "@acp-kit/protocol/WireFrame"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { chunk, initializedV1, makeWire, opened, stuckAt, text, update } from "./support/Wire.ts"

const request = (id: Json, method: string, params: JsonObject = {}): JsonObject => ({ jsonrpc: "2.0", id, method, params })

describe("Connection", () => {
  it.effect("S113 answers what it does not serve with not found, under the id as it came, of every shape", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      yield* opened(wire, initializedV1())
      const ids: ReadonlyArray<Json> = [0, 1, -7, 1.5, 9007199254740993n, "", "0", "7e2f-uuid", null, "__proto__"]
      const methods = [
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "craft/drainMidTurnQueue",
        "_x/y",
        "session/prompt",
      ]
      for (const method of methods) {
        wire.send(...ids.map((id) => request(id, method)))
        for (const id of ids)
          expect(yield* wire.take).toEqual({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } })
      }
    }),
  )

  it.effect("keeps the agent's ids and its own apart", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { session } = yield* opened(wire, initializedV1())
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]))
      const prompt = yield* wire.take
      wire.send(
        request(prompt.id as Json, "session/request_permission", {
          sessionId: "s",
          options: [{ optionId: "a", kind: "allow_once" }],
        }),
      )
      expect(yield* wire.take).toMatchObject({ id: prompt.id, result: { outcome: { outcome: "selected", optionId: "a" } } })
      wire.send({ jsonrpc: "2.0", id: String(prompt.id), result: { stopReason: "refusal" } })
      wire.send({ jsonrpc: "2.0", id: prompt.id as Json, result: { stopReason: "end_turn" } })
      expect((yield* Fiber.join(turn)).stopReason).toBe("end_turn")
    }),
  )

  it.effect("reports noise and answers to nothing, answers neither, and goes on", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const noises: Array<Noise> = []
      const { session } = yield* opened(wire, initializedV1(), { onNoise: (noise) => Effect.sync(() => void noises.push(noise)) })
      wire.send(
        "npm WARN deprecated",
        "17",
        "null",
        '"text"',
        "[]",
        "{}",
        '{"jsonrpc":"1.0","method":"x","id":1}',
        '{"jsonrpc":"2.0","id":5}',
      )
      wire.send(
        '{"jsonrpc":"2.0","error":{"code":-32700,"message":"no id"}}',
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}',
        '{"jsonrpc":"2.0","id":999,"result":{}}',
      )
      wire.bytes(Uint8Array.from([0x7b, 0xff, 0x7d, 0x0a]))
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]))
      yield* wire.answer("session/prompt", { stopReason: "end_turn" })
      yield* Fiber.join(turn)
      expect(noises.map(({ why }) => why)).toEqual([
        "json",
        "shape",
        "shape",
        "shape",
        "batch",
        "shape",
        "shape",
        "shape",
        "stray",
        "stray",
        "stray",
        "utf8",
      ])
      expect(noises[0]?.sample).toBe("npm WARN deprecated")
      expect(wire.written.map(({ method }) => method)).toEqual(["initialize", "session/new", "session/prompt"])
    }),
  )

  it.effect("takes a batch apart: updates, requests and answers in order", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { session } = yield* opened(wire, initializedV1())
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]))
      const { id } = yield* wire.take
      wire.send(
        JSON.stringify([
          update("s", chunk("a")),
          request(3, "elicitation/create"),
          update("s", chunk("b")),
          17,
          { jsonrpc: "2.0", id, result: { stopReason: "end_turn" } },
        ]),
      )
      expect((yield* Fiber.join(turn)).text).toBe("ab")
      expect(yield* wire.take).toMatchObject({ id: 3, result: { action: "cancel" } })
    }),
  )

  it.effect("folds what came before an answer in the same chunk before the answer is seen, and nothing that comes after", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { session } = yield* opened(wire, initializedV1())
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]))
      const { id } = yield* wire.take
      const before = Array.from({ length: 500 }, (_, at) => update("s", chunk(`${at} `)))
      wire.send(...before, { jsonrpc: "2.0", id: id as Json, result: { stopReason: "end_turn" } }, update("s", chunk("late")))
      expect((yield* Fiber.join(turn)).text).toBe(before.map((_, at) => `${at} `).join(""))
    }),
  )

  it.effect("gives error answers as they are: any code, data of any shape", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { session } = yield* opened(wire, initializedV1())
      const errors: ReadonlyArray<[Json, JsonObject]> = [
        [
          { code: 400, message: "bad" },
          { code: 400, message: "bad", data: undefined as never },
        ],
        [
          { code: -32603, message: "Internal error", data: {} },
          { code: -32603, data: {} },
        ],
        [{ code: -32603, message: "x", data: "text" }, { data: "text" }],
        [
          { code: "401", message: "x", data: { details: "why" } },
          { code: 401, data: { details: "why" } },
        ],
        [{ message: 7 }, { code: -32603, message: "" }],
        ["oops", { code: -32603, message: "oops" }],
        [
          { code: -32002, message: "x", data: { big: 12345678901234567890n } },
          { code: -32002, data: { big: 12345678901234567890n } },
        ],
      ]
      for (const [error, expected] of errors) {
        const setting = yield* Effect.forkChild(Effect.flip(session.setOption("a", "b")))
        yield* wire.answer("session/set_config_option", { error })
        expect(yield* Fiber.join(setting)).toMatchObject({ _tag: "RpcError", method: "session/set_config_option", ...expected })
      }
    }),
  )

  it.effect("sends $/cancel_request when a caller goes, and still recognises the late answer", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const noises: Array<Noise> = []
      const { session } = yield* opened(wire, initializedV1(), { onNoise: (noise) => Effect.sync(() => void noises.push(noise)) })
      const setting = yield* Effect.forkChild(session.setOption("a", "b"))
      const { id } = yield* wire.take
      yield* Fiber.interrupt(setting)
      expect(yield* wire.take).toEqual({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: id } })
      wire.send({
        jsonrpc: "2.0",
        id: id as Json,
        result: { configOptions: [{ id: "a", currentValue: "b", type: "select", options: [] }] },
      })
      const again = yield* Effect.forkChild(session.setOption("c", "d"))
      yield* wire.answer("session/set_config_option", {})
      expect(yield* Fiber.join(again)).toMatchObject([{ id: "a", currentValue: "b" }])
      expect(noises).toEqual([])
    }),
  )

  it.effect("takes a request back that is not written yet", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const { slow, stuck } = yield* stuckAt(wire, "first")
      const { session } = yield* opened(slow, initializedV1())
      const first = yield* Effect.forkChild(session.setOption("first", "b"), { startImmediately: true })
      const second = yield* Effect.forkChild(session.setOption("second", "b"), { startImmediately: true })
      const third = yield* Effect.forkChild(session.setOption("third", "b"), { startImmediately: true })
      yield* Fiber.interrupt(second)
      yield* Deferred.succeed(stuck, undefined)
      yield* wire.answer("session/set_config_option", {})
      const answered = yield* wire.answer("session/set_config_option", {})
      expect((answered.params as JsonObject).configId).toBe("third")
      yield* Fiber.join(first)
      yield* Fiber.join(third)
      expect(JSON.stringify(wire.written)).not.toContain("second")
    }),
  )

  it.effect("withdraws the answer to a request that the agent has cancelled", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      yield* opened(wire, initializedV1())
      wire.send(
        request("p1", "session/request_permission", { sessionId: "s", options: [{ optionId: "a", kind: "allow_once" }] }),
        {
          jsonrpc: "2.0",
          method: "$/cancel_request",
          params: { requestId: "p1" },
        },
      )
      expect(yield* wire.take).toEqual({ jsonrpc: "2.0", id: "p1", error: { code: -32800, message: "Request cancelled" } })
      wire.send(
        { jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: "p1" } },
        { jsonrpc: "2.0", method: "$/cancel_request" },
      )
      wire.send(request("p2", "elicitation/create"))
      expect(yield* wire.take).toMatchObject({ id: "p2", result: { action: "cancel" } })
    }),
  )

  it.effect("does not read on from an agent that asks without reading its answers", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const stuck = yield* Deferred.make<void>()
      let reads = 0
      const slow: Transport = {
        ...wire.transport,
        read: Effect.tap(wire.transport.read, () => Effect.sync(() => void reads++)),
        write: (frame) =>
          Effect.andThen(
            frame.includes("elicit") || frame.includes('"action"') ? Deferred.await(stuck) : Effect.void,
            wire.transport.write(frame),
          ),
      }
      yield* opened({ ...wire, transport: slow }, initializedV1())
      const before = reads
      for (let at = 0; at < 10_000; at++) wire.send(request(at, "elicitation/create"))
      for (let seen = -1; seen !== reads; ) {
        seen = reads
        yield* TestClock.adjust("1 second")
      }
      expect(reads - before).toBeLessThan(1_100)
      yield* Deferred.succeed(stuck, undefined)
      for (let at = 0; at < 10_000; at++) expect((yield* wire.take).id).toBe(at)
    }),
  )
})
