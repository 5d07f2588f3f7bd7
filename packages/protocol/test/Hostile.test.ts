import type { Json } from "@acp-kit/protocol/Json"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { initialized, result } from "./support/Frames.ts"
import { chunk, connected, initializedV1, limits, makeWire, opened, state, text, update, type Wire } from "./support/Wire.ts"

/** JSON that neither `String` nor `Number` can read. */
const unreadable = { toString: 1, valueOf: 1 }

const working = (version: 1 | 2, changes: Parameters<typeof opened>[2] = {}) =>
  Effect.gen(function* () {
    const wire = yield* makeWire
    const { client, session } = yield* opened(wire, initialized(version), changes)
    const turn = yield* Effect.forkChild(Effect.result(session.prompt([text("hi")])), { startImmediately: true })
    const { id } = yield* wire.take
    return { wire, client, session, turn, id }
  })

const stillWorks = (wire: Wire, client: Effect.Success<ReturnType<typeof connected>>) =>
  Effect.gen(function* () {
    const again = yield* Effect.forkChild(client.newSession({ cwd: "/p" }), { startImmediately: true })
    yield* wire.answer("session/new", { sessionId: "after" })
    expect((yield* Fiber.join(again)).id).toBe("after")
  })

describe("an agent that means harm", () => {
  it.effect("names values that cannot be read as a text or a number, and only its own turn fails", () =>
    Effect.gen(function* () {
      const idle = yield* working(2)
      idle.wire.send(result(idle.id, {}), update("s", state("running")), update("s", state("idle", { stopReason: unreadable })))
      expect(yield* Fiber.join(idle.turn)).toMatchObject({
        failure: { _tag: "TurnFailed", reason: "unknown", result: { stopReason: '{"toString":1,"valueOf":1}' } },
      })
      yield* stillWorks(idle.wire, idle.client)
      for (const code of [unreadable, null, [], "", true, "no"]) {
        const failed = yield* working(1)
        failed.wire.send({ jsonrpc: "2.0", id: failed.id as Json, error: { code, message: "x" } })
        expect(yield* Fiber.join(failed.turn)).toMatchObject({ failure: { _tag: "RpcError", code: -32603, message: "x" } })
        yield* stillWorks(failed.wire, failed.client)
      }
    }),
  )

  it.effect("S110 names a version that is no number: the error can be shown, and is short", () =>
    Effect.gen(function* () {
      for (const [protocolVersion, shown] of [
        [unreadable, '{"toString":1,"valueOf":1}'],
        [{ n: 12345678901234567890n }, '{"n":12345678901234567890}'],
        ["x".repeat(1_000), `"${"x".repeat(63)}`],
        [7, "7"],
      ] as const) {
        const error = yield* Effect.flip(connected(yield* makeWire, { protocolVersion }))
        expect(error).toMatchObject({
          _tag: "UnsupportedVersion",
          message: `the agent selected an unsupported protocol version: ${shown}`,
        })
      }
    }),
  )

  it.effect("answers what it was not asked yet: that is noise, and the request still goes out", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const held = yield* Deferred.make<void>()
      const noises: Array<string> = []
      const client = yield* connected(wire, initializedV1(), {
        onNoise: ({ why }) => Effect.sync(() => void noises.push(why)),
        observe: (frames) =>
          frames.some(({ direction, id }) => direction === "out" && id === 1) ? Deferred.await(held) : Effect.void,
      })
      const first = yield* Effect.forkChild(client.newSession({ cwd: "/p" }), { startImmediately: true })
      const second = yield* Effect.forkChild(client.newSession({ cwd: "/p" }), { startImmediately: true })
      wire.send(result(2, { sessionId: "early" }))
      yield* TestClock.adjust(1)
      yield* Deferred.succeed(held, undefined)
      yield* wire.answer("session/new", { sessionId: "a" })
      yield* wire.answer("session/new", { sessionId: "b" })
      expect([(yield* Fiber.join(first)).id, (yield* Fiber.join(second)).id]).toEqual(["a", "b"])
      expect(noises).toEqual(["stray"])
    }),
  )

  it.effect("asks thousands of times and leaves without reading one answer: nothing waits for it", () =>
    Effect.gen(function* () {
      const { wire, turn } = yield* working(1)
      wire.stopReading()
      wire.send(...Array.from({ length: 5_000 }, (_, id) => ({ jsonrpc: "2.0", id, method: "fs/read_text_file" })))
      wire.end({ exitCode: 7 })
      yield* TestClock.adjust("10 seconds")
      expect(yield* Fiber.join(turn)).toMatchObject({ failure: { _tag: "TransportClosed", exitCode: 7 } })
    }),
  )

  it.effect("leaves something behind that prints on its stdout for ever: the end is seen all the same", () =>
    Effect.gen(function* () {
      const { wire, turn } = yield* working(1)
      wire.exit({ exitCode: 7 })
      for (let tick = 0; tick < 40; tick++) {
        wire.send("tick")
        yield* TestClock.adjust("100 millis")
      }
      expect(yield* Fiber.join(turn)).toMatchObject({ failure: { _tag: "TransportClosed", exitCode: 7 } })
    }),
  )

  it.effect("leaves something behind that floods its stdout: no more is read than a pipe holds", () =>
    Effect.gen(function* () {
      let seen = 0
      let slow = false
      const { wire, turn } = yield* working(1, {
        observe: (frames) => {
          seen += frames.length
          return slow ? Effect.sleep("240 millis") : Effect.void
        },
      })
      slow = true
      wire.exit({ exitCode: 7 })
      const flood = chunk("x".repeat(500_000))
      for (let tick = 0; tick < 60; tick++) {
        wire.send(update("s", flood))
        yield* TestClock.adjust("100 millis")
      }
      expect(yield* Fiber.join(turn)).toMatchObject({ failure: { _tag: "TransportClosed", exitCode: 7 } })
      const atEnd = seen
      yield* TestClock.adjust("10 seconds")
      expect(seen - atEnd).toBeLessThanOrEqual(1)
    }),
  )

  it.effect(
    "nests its messages deeper than anybody should look: an answer fails its call, a request is refused, nothing hangs",
    () =>
      Effect.gen(function* () {
        const deep = (inner: string) => `${'{"a":['.repeat(50_000)}${inner}${"]}".repeat(50_000)}`
        for (const observe of [undefined, () => Effect.void]) {
          const noises: Array<string> = []
          const onNoise = ({ why }: { readonly why: string }) => Effect.sync(() => void noises.push(why))
          const { wire, client, turn, id } = yield* working(1, { onNoise, ...(observe === undefined ? {} : { observe }) })
          wire.send(
            `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"notice","x":${deep("1")}}}}`,
            `{"jsonrpc":"2.0","id":"q","method":"fs/read_text_file","params":${deep("1")}}`,
            `{"jsonrpc":"2.0","id":${deep("1")},"method":"fs/read_text_file"}`,
            deep("1"),
            `[${deep("1")},{"jsonrpc":"2.0","id":"r","method":"fs/read_text_file"}]`,
            `{"jsonrpc":"2.0","id":${id},"result":{"stopReason":"end_turn","_meta":${deep("12345678901234567890")}}}`,
          )
          expect(yield* wire.take).toMatchObject({ id: "q", error: { code: -32600 } })
          expect(yield* wire.take).toMatchObject({ id: "r", error: { code: -32601 } })
          expect(yield* Fiber.join(turn)).toMatchObject({ failure: { _tag: "MalformedResult", method: "session/prompt" } })
          expect(noises).toEqual(["depth", "depth", "depth", "depth", "depth", "depth"])
          yield* stillWorks(wire, client)
        }
      }),
  )

  it.effect("speaks for a session whose id is a million colons: that takes no time", () =>
    Effect.gen(function* () {
      const { wire, turn, id, client } = yield* working(1)
      const more = yield* Effect.forkChild(client.newSession({ cwd: "/p" }), { startImmediately: true })
      yield* wire.answer("session/new", { sessionId: "t" })
      yield* Fiber.join(more)
      const began = performance.now()
      wire.send(update(":".repeat(1_000_000), chunk("x")), result(id, { stopReason: "end_turn" }))
      yield* Fiber.join(turn)
      expect(performance.now() - began).toBeLessThan(5_000)
    }),
  )

  it.effect("fills what is kept for sessions that nobody knows: bytes are bounded, the latest stay", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire
      const client = yield* connected(wire, initializedV1(), { limits: { ...limits, orphanBytes: 1_000 } })
      const opening = yield* Effect.forkChild(client.newSession({ cwd: "/p" }), { startImmediately: true })
      const { id } = yield* wire.take
      const note = (size: number) => update("s", { sessionUpdate: "notice", title: "x".repeat(size) })
      wire.send(...Array.from({ length: 50 }, () => note(300)), note(5_000), note(200), result(id, { sessionId: "s" }))
      expect((yield* Fiber.join(opening)).replay.updates).toBe(1)
      const other = yield* Effect.forkChild(client.newSession({ cwd: "/p" }), { startImmediately: true })
      const second = yield* wire.take
      const late = (size: number) => update("t", { sessionUpdate: "notice", title: "x".repeat(size) })
      wire.send(...Array.from({ length: 50 }, () => late(300)), result(second.id, { sessionId: "t" }))
      expect((yield* Fiber.join(other)).replay.updates).toBe(2)
    }),
  )
})
