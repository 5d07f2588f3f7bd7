import type { JsonObject } from "@acp-kit/protocol/Json"
import type { Mood, Step } from "@acp-kit/testing/Mood"
import { describe, expect } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { beginScript, live, script, startScripted, until } from "./support/Agents.ts"
import { text } from "./support/Wire.ts"

/** What real harnesses do to a client, each done by a real process. */
describe.each([1, 2] as const)("a harness that speaks version %d", (version) => {
  const start = (mood: Mood = {}, changes: Parameters<typeof startScripted>[2] = {}) => startScripted(version, mood, changes)

  for (const busy of ["queue", "reject", "cancel-first", "mute"] as const) {
    live(`R8 would ${busy} a second prompt: it never sees two at once`, () =>
      Effect.gen(function* () {
        const { session } = yield* start({ busy })
        const turns = yield* Effect.forEach([1, 2, 3], (n) => session.prompt([text(String(n))]), { concurrency: "unbounded" })
        expect(turns.map((turn) => turn.text)).toEqual(["echo: 1", "echo: 2", "echo: 3"])
      }),
    )
  }

  live("R9 goes on talking after the end of the turn", () =>
    Effect.gen(function* () {
      const after: ReadonlyArray<Step> = [
        { say: "afterthought" },
        { notify: { method: "qwen/notify/session/prompt-suggestion" } },
        { tool: { toolCallId: "late", title: "Late" } },
        { title: "After" },
      ]
      const { session } = yield* start({ on: { "session/prompt": { after } } })
      expect(yield* session.prompt([text("one")])).toMatchObject({ text: "echo: one", items: [], tools: [] })
      yield* until(session, (view) => view.title === "After")
      expect(yield* session.view).toMatchObject({ state: "idle", tool: undefined, title: "After" })
      expect((yield* session.prompt([text("two")])).text).toBe("echo: two")
    }),
  )

  live("R10 ends a turn well that said nothing", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      expect(yield* session.prompt(script({ stop: "end_turn" }))).toMatchObject({ empty: true, text: "" })
      expect(yield* session.prompt(script({ usage: { used: 1, size: 2 } }))).toMatchObject({ empty: true })
      expect(yield* session.prompt(script({ say: "x" }))).toMatchObject({ empty: false })
    }),
  )

  live("R11 ends a turn as cancelled though nobody cancelled it", () =>
    Effect.gen(function* () {
      const { frames, session } = yield* start()
      const error = yield* Effect.flip(session.prompt(script({ permission: "reject-only" }, { stop: "cancelled" })))
      expect(error).toMatchObject({ _tag: "TurnFailed", reason: "cancelled", result: { text: "permission: cancelled" } })
      expect(frames.some(({ method }) => method === "session/cancel")).toBe(false)
      expect((yield* session.prompt([text("hi")])).text).toBe("echo: hi")
    }),
  )

  live("R12 fails with codes and data of every kind", () =>
    Effect.gen(function* () {
      const errors = [
        { code: 400, message: "Bad Request" },
        { code: 500, message: "Internal error", data: {} },
        { code: -32603, message: "Internal error", data: { details: "Session not found" } },
        { code: -32603, message: "x", data: "text" },
      ]
      const { session } = yield* start({ on: { "session/prompt": errors.map((error, at) => ({ call: at + 1, error })) } })
      for (const error of errors) {
        expect(yield* Effect.flip(session.prompt([text("hi")]))).toMatchObject({
          _tag: "RpcError",
          method: "session/prompt",
          ...error,
        })
      }
      expect((yield* session.prompt([text("hi")])).text).toBe("echo: hi")
    }),
  )

  live("R13 says nothing until it is cancelled", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      const turn = yield* beginScript(session, { awaitCancel: true })
      expect(yield* turn.cancel).toBe("settled")
      expect(yield* Effect.flip(turn.result)).toMatchObject({ reason: "cancelled" })
    }),
  )

  live("R18 does not stream: everything comes in one piece at the end, the answer with it", () =>
    Effect.gen(function* () {
      const { session } = yield* start({ coalesce: true })
      const words = "0123456789".repeat(100)
      for (let at = 0; at < 20; at++) {
        const turn = yield* session.prompt(
          script({ say: words, chunks: 200 }, { tool: { toolCallId: "t", title: "T", status: "completed" } }),
        )
        expect(turn).toMatchObject({ text: words, tools: [{ id: "t", status: "completed" }] })
      }
    }),
  )

  live("R14 S153 ends with every stop reason there is", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      for (const stop of ["max_turn_requests", "refusal"]) {
        expect(yield* Effect.flip(session.prompt(script({ say: "x" }, { stop })))).toMatchObject({
          _tag: "TurnFailed",
          reason: stop,
          result: { text: "x" },
        })
      }
      expect(yield* Effect.flip(session.prompt(script({ stop: "_tired" })))).toMatchObject({ reason: "unknown" })
      expect(yield* session.prompt(script({ say: "x" }, { stop: "max_tokens" }))).toMatchObject({
        stopReason: "max_tokens",
        text: "x",
      })
    }),
  )

  live("R15 would never recover from an empty prompt, which is never sent", () =>
    Effect.gen(function* () {
      const { frames, session } = yield* start()
      expect(yield* Effect.flip(session.prompt([]))).toMatchObject({ _tag: "ContentRefused", reason: "empty" })
      expect(frames.some(({ method }) => method === "session/prompt")).toBe(false)
    }),
  )

  live("R16 reports usage in the answer and in updates, which are different things", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
      const turn = yield* session.prompt(
        script(
          { usage: { used: 100, size: 200, cost: { amount: 1.5, currency: "USD" } } },
          { say: "x" },
          { stop: "end_turn", usage },
        ),
      )
      expect(turn.usage).toEqual({ used: 100, size: 200, cost: { amount: 1.5, currency: "USD" } })
      expect(version === 1 ? turn.answer : turn.idle).toMatchObject({ usage })
    }),
  )

  live("R17 mixes its own words into the answer", () =>
    Effect.gen(function* () {
      const { session } = yield* start({ on: { "session/new": { after: [{ say: "Info: welcome" }, { title: "said" }] } } })
      yield* until(session, (view) => view.title === "said")
      expect(
        (yield* session.prompt(script({ say: "**Warning:** x\n" }, { think: "secret thought" }, { say: "answer" }))).text,
      ).toBe("**Warning:** x\nanswer")
    }),
  )

  live("R19 shows tool calls late, twice, backwards, and through permission requests first", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      const raw = (update: JsonObject): Step => ({ update })
      const { tools } = yield* session.prompt(
        script(
          { permission: { options: "usual", toolCall: { toolCallId: "gemini", title: "Edit", kind: "edit" } } },
          raw({ sessionUpdate: "tool_call_update", toolCallId: "gemini", status: "completed" }),
          raw({ sessionUpdate: "tool_call_update", toolCallId: "cline", status: "pending" }),
          raw({ sessionUpdate: "tool_call_update", toolCallId: "cline", status: "completed" }),
          raw({ sessionUpdate: "tool_call", toolCallId: "cline", title: "Run", status: "pending" }),
          raw({ sessionUpdate: "tool_call", toolCallId: "claude", title: "Read", status: "pending" }),
          raw({ sessionUpdate: "tool_call", toolCallId: "claude", title: "Read", status: "pending" }),
          raw({ sessionUpdate: "tool_call", toolCallId: "nano", title: "Write", status: "completed" }),
        ),
      )
      expect(tools.map(({ id, status, title }) => [id, title, status])).toEqual([
        ["gemini", "Edit", "completed"],
        ["cline", "Run", "completed"],
        ["claude", "Read", "pending"],
        ["nano", "Write", "completed"],
      ])
    }),
  )

  live("R20 leaves tool calls open for ever when it is cancelled", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      const turn = yield* beginScript(
        session,
        { tool: { toolCallId: "t", title: "Sleep", status: "in_progress" } },
        { awaitCancel: true },
      )
      yield* until(session, (view) => view.tool === "Sleep")
      expect(yield* turn.cancel).toBe("settled")
      expect(yield* Effect.flip(turn.result)).toMatchObject({
        result: { tools: [{ id: "t", status: "in_progress", open: true }] },
      })
      expect((yield* session.view).tool).toBeUndefined()
    }),
  )

  live("R21 uses the same tool call ids in every turn", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      const first = yield* session.prompt(
        script(
          { tool: { toolCallId: "call_1", title: "A", status: "pending" } },
          { toolUpdate: { toolCallId: "call_1", status: "completed" } },
        ),
      )
      const second = yield* session.prompt(
        script({ tool: { toolCallId: "call_1", title: "B", status: "pending" } }, { toolUpdate: { toolCallId: "call_1" } }),
      )
      expect(first.tools).toMatchObject([{ title: "A", status: "completed", open: false }])
      expect(second.tools).toMatchObject([{ title: "B", status: "pending", open: true }])
    }),
  )

  for (const withdraw of [true, false]) {
    live(
      `R22 ${withdraw ? "withdraws its permission request" : "waits for the answer to its permission request"} when it is cancelled`,
      () =>
        Effect.gen(function* () {
          const asked = yield* Deferred.make<void>()
          const go = yield* Deferred.make<void>()
          let held = true
          const { session } = yield* start(
            { cancelled: { withdraw } },
            {
              observe: (frames) => {
                const answers = frames.some(
                  ({ direction, kind, method }) =>
                    direction === "out" && kind === "response" && method === "session/request_permission",
                )
                if (!answers || !held) return Effect.void
                held = false
                return Effect.andThen(Deferred.succeed(asked, undefined), Deferred.await(go))
              },
            },
          )
          const turn = yield* beginScript(session, { permission: "usual" }, { permission: "usual" }, { awaitCancel: true })
          yield* Deferred.await(asked)
          const cancelling = yield* Effect.forkChild(turn.cancel, { startImmediately: true })
          yield* Deferred.succeed(go, undefined)
          expect(yield* Fiber.join(cancelling)).toBe("settled")
          expect((yield* session.prompt([text("hi")])).text).toBe("echo: hi")
        }),
    )
  }

  live("R23 fails the prompt after a cancelled one", () =>
    Effect.gen(function* () {
      const { session } = yield* start({
        on: { "session/prompt": { call: 2, error: { code: -32603, message: "Tool result is missing" } } },
      })
      const turn = yield* beginScript(session, { awaitCancel: true })
      expect(yield* turn.cancel).toBe("settled")
      expect(yield* Effect.flip(session.prompt([text("hi")]))).toMatchObject({
        _tag: "RpcError",
        message: "Tool result is missing",
      })
      expect((yield* session.prompt([text("hi")])).text).toBe("echo: hi")
    }),
  )

  live("R24b S113 is offered neither files nor terminals nor elicitation", () =>
    Effect.gen(function* () {
      const { frames } = yield* start()
      const params = (frames[0]?.message as JsonObject | undefined)?.params
      expect(JSON.stringify(params)).not.toMatch(/elicitation|"terminal":true|"(read|write)TextFile":true/)
    }),
  )
})
