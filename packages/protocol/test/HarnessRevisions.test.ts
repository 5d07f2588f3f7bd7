import { writeFile } from "node:fs/promises"
import type { Mood } from "@acp-kit/testing/Mood"
import { describe, expect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { beginScript, live, script, startScripted, until } from "./support/Agents.ts"
import { limits, text } from "./support/Wire.ts"

describe("a harness of version 2", () => {
  const revisions: Readonly<Record<string, NonNullable<Mood["v2"]>>> = {
    "answers the prompt with {}": { answer: "empty" },
    "answers the prompt with null": { answer: "null" },
    "leaves message ids out": { noMessageIds: true },
    "is idle without having been running": { running: false },
    "is idle before it answers": { order: "last" },
    "answers after running": { order: "running" },
    "reports idle three times": { idle: 3 },
    "gives no stop reason": { noStopReason: true },
    "echoes nothing": { echo: false },
  }
  for (const [name, v2] of Object.entries(revisions)) {
    live(`S111 S112 ${name}`, () =>
      Effect.gen(function* () {
        const { session } = yield* startScripted(2, { v2 })
        for (const words of ["one", "two"]) expect((yield* session.prompt([text(words)])).text).toBe(`echo: ${words}`)
        expect(yield* Effect.flip(session.prompt(script({ say: "x" }, { stop: "refusal" })))).toMatchObject({
          reason: "refusal",
          result: { text: "x" },
        })
        const turn = yield* beginScript(session, { awaitCancel: true })
        expect(yield* turn.cancel).toBe("settled")
        expect((yield* session.prompt([text("three")])).text).toBe("echo: three")
      }),
    )
  }

  live("S153 stops with an error", () =>
    Effect.gen(function* () {
      const { session } = yield* startScripted(2, {})
      const error = yield* Effect.flip(
        session.prompt(script({ say: "x" }, { stop: "error", error: { code: -32603, message: "boom" } })),
      )
      expect(error).toMatchObject({
        _tag: "TurnFailed",
        reason: "error",
        message: "nested agent turn failed: boom",
        result: { text: "x", idle: { error: { message: "boom" } } },
      })
    }),
  )

  live("S112 replaces whole messages", () =>
    Effect.gen(function* () {
      const { session } = yield* startScripted(2, {})
      const turn = yield* session.prompt(
        script(
          { say: "draft", messageId: "a" },
          { say: "second", messageId: "b" },
          { message: { messageId: "a", content: [{ type: "text", text: "final" }] } },
          { message: { messageId: "b" } },
          { say: "!", messageId: "a" },
          { say: "gone", messageId: "c" },
          { message: { messageId: "c", content: null } },
        ),
      )
      expect(turn.text).toBe("final!second")
    }),
  )

  live("S30 S31 S33 is steered while it works", () =>
    Effect.gen(function* () {
      const { session } = yield* startScripted(2, {})
      const turn = yield* beginScript(session, { say: "waiting" }, { awaitInject: true })
      const receipt = yield* session.steer([text("left")])
      expect(receipt).toMatchObject({ messageId: expect.any(String) })
      expect((yield* turn.result).text).toContain("steered: left")
      expect(yield* Effect.flip(session.steer([text("late")]))).toMatchObject({ _tag: "NotWorking" })
    }),
  )

  live("S33 acknowledges steering late or never; the turn goes on", () =>
    Effect.gen(function* () {
      const { cwd, session } = yield* startScripted(
        2,
        { on: { "session/inject": { silent: true } } },
        { limits: { ...limits, steer: "100 millis" } },
      )
      const turn = yield* beginScript(session, { say: "x" }, { gate: `go` })
      yield* until(session, ({ state }) => state === "working")
      expect(yield* Effect.flip(session.steer([text("left")]))).toMatchObject({ _tag: "DeadlineExceeded", delivery: "unknown" })
      yield* Effect.promise(() => writeFile(`${cwd}/go`, ""))
      expect((yield* turn.result).text).toBe("xsteered: left")
    }),
  )
})
