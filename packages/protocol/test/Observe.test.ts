import type * as AgentClient from "@acp-kit/protocol/AgentClient"
import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import type { WireFrame } from "@acp-kit/protocol/WireFrame"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { chunk, connected, initializedV1, makeWire, opened, text, update } from "./support/Wire.ts"

const request = (id: Json, method: string, params: JsonObject = {}): JsonObject => ({ jsonrpc: "2.0", id, method, params })

describe("observe", () => {
  const watched = (frames: Array<WireFrame>): Pick<AgentClient.Options, "observe"> => ({
    observe: (batch) => Effect.sync(() => void frames.push(...batch)),
  })

  it.effect("tells each frame in wire order with method, id and session, an answer where its request went", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const frames: Array<WireFrame> = []
      const { session } = yield* opened(wire, initializedV1({ sessionCapabilities: { fork: {} } }), watched(frames))
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]))
      const { id } = yield* wire.take
      wire.send(update("s", chunk("a")), request("p", "session/request_permission", { sessionId: "s" }), "noise", {
        jsonrpc: "2.0",
        id: id as Json,
        result: { stopReason: "end_turn" },
      })
      yield* Fiber.join(turn)
      yield* wire.take
      const forking = yield* Effect.forkChild(session.fork({ cwd: "/p" }))
      yield* wire.answer("session/fork", { sessionId: "s2" })
      yield* Fiber.join(forking)
      const brief = frames.map(({ line: _line, message: _message, ...rest }) => rest)
      expect(brief).toEqual([
        { direction: "out", kind: "request", id: 0, method: "initialize" },
        { direction: "in", kind: "response", id: 0, method: "initialize" },
        { direction: "out", kind: "request", id: 1, method: "session/new" },
        { direction: "in", kind: "response", id: 1, method: "session/new", createdSessionId: "s" },
        { direction: "out", kind: "request", id: 2, method: "session/prompt", sessionId: "s" },
        { direction: "in", kind: "notification", method: "session/update", sessionId: "s" },
        { direction: "in", kind: "request", id: "p", method: "session/request_permission", sessionId: "s" },
        { direction: "in", kind: "noise" },
        { direction: "in", kind: "response", id: 2, method: "session/prompt", sessionId: "s" },
        { direction: "out", kind: "response", id: "p", method: "session/request_permission", sessionId: "s" },
        { direction: "out", kind: "request", id: 3, method: "session/fork", sessionId: "s" },
        { direction: "in", kind: "response", id: 3, method: "session/fork", sessionId: "s", createdSessionId: "s2" },
      ])
      for (const frame of frames) if (frame.kind !== "noise") expect(JSON.parse(frame.line)).toEqual(frame.message)
    }),
  )

  it.effect("is awaited before an outbound frame is written and before an inbound one is folded", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      let held: Deferred.Deferred<void> | undefined
      const { session } = yield* opened(wire, initializedV1(), {
        observe: () => (held === undefined ? Effect.void : Deferred.await(held)),
      })
      held = yield* Deferred.make<void>()
      const turn = yield* Effect.forkChild(session.prompt([text("hi")]), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      expect(wire.written.at(-1)?.method).toBe("session/new")
      yield* Deferred.succeed(held, undefined)
      const { id } = yield* wire.take
      held = yield* Deferred.make<void>()
      wire.send(update("s", { sessionUpdate: "session_info_update", title: "T" }), {
        jsonrpc: "2.0",
        id: id as Json,
        result: { stopReason: "end_turn" },
      })
      yield* TestClock.adjust("1 second")
      expect((yield* session.view).title).toBeUndefined()
      yield* Deferred.succeed(held, undefined)
      yield* Fiber.join(turn)
      expect((yield* session.view).title).toBe("T")
    }),
  )

  it.effect("marks authentication errors and keeps the line as it came", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const frames: Array<WireFrame> = []
      const client = yield* connected(wire, initializedV1(), watched(frames))
      const opening = yield* Effect.forkChild(Effect.flip(client.newSession({ cwd: "/p" })))
      const { id } = yield* wire.take
      const line = `{"jsonrpc":"2.0", "id":${id}, "error":{"code":-32000,"message":"secret","n":12345678901234567890}}`
      wire.send(line)
      yield* Fiber.join(opening)
      expect(frames.at(-1)).toMatchObject({ line, errorCode: -32000, method: "session/new" })
    }),
  )

  it.effect("breaks the connection where it dies, and nothing hangs", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      let broken = false
      const { session } = yield* opened(wire, initializedV1(), {
        observe: () => (broken ? Effect.die("the log is broken") : Effect.void),
      })
      broken = true
      expect(yield* Effect.flip(session.prompt([text("hi")]))).toMatchObject({ _tag: "TransportClosed", reason: "io" })
    }),
  )
})
