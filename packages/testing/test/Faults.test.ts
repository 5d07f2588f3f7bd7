import { readFileSync } from "node:fs"
import { join } from "node:path"
import { system } from "@acp-kit/platform/ProcessTable"
import { describe, expect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Appears from "../src/Appears.ts"
import { launch, script } from "../src/ScriptedAgent.ts"
import { fields } from "../src/scripted-agent/Value.ts"
import { connect, folder, live, opened, started } from "./Client.ts"

const running = (pid: number) => Effect.map(system.lookup(pid), (entry) => entry !== undefined)
const result = (message: unknown) => fields(fields(message).result)
const error = (message: unknown) => fields(fields(message).error)
const cancel = (sessionId: string) => ({ method: "session/cancel", params: { sessionId } })

describe("a scripted agent commits", () => {
  live("silence at one method, from the n-th call on", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1, { on: { "session/prompt": [{ call: 2, silent: true }] } })
      yield* agent.prompt("first")
      yield* agent.beginPrompt("second")
      yield* agent.request("session/list", {})
      expect(agent.text()).toBe("echo: first")
    }),
  )

  live("an error, another result, more fields, steps around the answer", () =>
    Effect.gen(function* () {
      const on = {
        initialize: { extra: { _meta: { x: 1 } } },
        "session/new": { before: [{ title: "early" }], after: [{ title: "late" }] },
        "session/fork": { error: { code: 400, message: "bad" } },
        "session/close": { result: null },
      } as const
      const agent = yield* opened(1, { on })
      expect(result(agent.messages[0])._meta).toEqual({ x: 1 })
      yield* agent.until(({ params }) => fields(fields(params).update).title === "late")
      const names = agent.messages.map((message) => fields(fields(message.params).update).title ?? "answer")
      expect(names).toEqual(["answer", "early", "answer", "late"])
      expect(error(yield* agent.request("session/fork", { sessionId: agent.sessionId }))).toEqual({ code: 400, message: "bad" })
      expect((yield* agent.request("session/close", { sessionId: agent.sessionId })).result).toBeNull()
    }),
  )

  live("noise on stdout before and between frames, bytes that are no UTF-8, half a line at the end", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1, { start: [{ line: "Welcome!" }], eof: [{ raw: "half a li" }] })
      yield* agent.prompt(script({ line: "noise" }, { badUtf8: true }, { longLine: 200_000 }))
      yield* agent.child.endInput
      yield* agent.closed
      expect(agent.lines[0]).toBe("Welcome!")
      expect(agent.lines).toContain("noise")
      expect(agent.lines.some((line) => line.includes("\xc3("))).toBe(true)
      expect(agent.lines.some((line) => line.length > 200_000)).toBe(true)
      expect(agent.lines.at(-1)).toBe("half a li")
    }),
  )

  live("a flood that waits for its reader and is complete", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1)
      yield* agent.prompt(script({ flood: 20_000, bytes: 100 }))
      expect(agent.updates()).toHaveLength(20_000)
    }),
  )

  live("everything of a turn in one write with the answer", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const gate = join(cwd, "gate")
      const agent = yield* opened(1, { coalesce: true }, cwd)
      const id = yield* agent.beginPrompt(script({ say: "a" }, { touch: join(cwd, "said") }, { gate }))
      yield* Appears.appears(join(cwd, "said"))
      expect(agent.messages).toHaveLength(2)
      yield* Appears.touch(gate)
      yield* agent.answerTo(id)
      expect(agent.text()).toBe("a")
    }),
  )

  live("the end by exit code and by signal, in the middle of a turn", () =>
    Effect.gen(function* () {
      const leaving = yield* opened(1)
      yield* leaving.beginPrompt(script({ say: "bye" }, { exit: 3 }))
      expect(yield* leaving.child.exit).toEqual({ code: 3, signal: undefined })
      yield* leaving.closed
      expect(leaving.text()).toBe("bye")
      const killed = yield* opened(1)
      yield* killed.beginPrompt(script({ signal: "SIGKILL" }))
      expect(yield* killed.child.exit).toEqual({ code: undefined, signal: "SIGKILL" })
    }),
  )

  live("deafness to cancel, to the end of input and to TERM", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1, { deaf: ["cancel", "eof", "SIGTERM"] })
      const cwd = agent.cwd
      const id = yield* agent.beginPrompt(script({ gate: join(cwd, "gate") }, { say: "done" }))
      yield* agent.send(cancel(agent.sessionId))
      yield* agent.agent.recording.untilReceived("session/cancel")
      yield* Appears.touch(join(cwd, "gate"))
      expect(result(yield* agent.answerTo(id))).toEqual({ stopReason: "end_turn" })
      process.kill(agent.child.pid, "SIGTERM")
      yield* agent.agent.recording.until(({ events }) => events.find(({ event }) => event === "SIGTERM"))
      yield* agent.child.endInput
      yield* agent.agent.recording.until(({ events }) => events.find(({ event }) => event === "eof"))
      expect(yield* running(agent.child.pid)).toBe(true)
      expect(yield* agent.child.stop({ eof: "50 millis", term: "50 millis" })).toEqual({ code: undefined, signal: "SIGKILL" })
    }),
  )

  live("grandchildren, one of which leaves the group", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1)
      const pidFile = join(agent.cwd, "pids")
      yield* agent.prompt(script({ grandchild: { pidFile } }, { grandchild: { pidFile, leaves: true, stubborn: true } }))
      const [near = 0, far = 0] = readFileSync(pidFile, "utf8").trim().split("\n").map(Number)
      const entries = yield* Effect.all([system.lookup(near), system.lookup(far)])
      expect(entries.map((entry) => entry?.group === agent.child.pid)).toEqual([true, false])
      yield* agent.child.stop({ eof: "1 second", term: "100 millis" })
      expect([yield* running(near), yield* running(far)]).toEqual([false, false])
    }),
  )

  live("a second prompt that fails, ends the first, or is never answered", () =>
    Effect.gen(function* () {
      const hold = script({ awaitCancel: true })
      const rejecting = yield* opened(1, { busy: "reject" })
      yield* rejecting.beginPrompt(hold)
      expect(error(yield* rejecting.prompt("second")).code).toBe(-32603)
      const ending = yield* opened(1, { busy: "cancel-first" })
      const first = yield* ending.beginPrompt(hold)
      expect(result(yield* ending.prompt("second"))).toEqual({ stopReason: "end_turn" })
      expect(result(yield* ending.answerTo(first))).toEqual({ stopReason: "cancelled" })
    }),
  )

  live("a second prompt that is never answered", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1, { busy: "mute" })
      const first = yield* agent.beginPrompt(script({ awaitCancel: true }))
      const second = yield* agent.beginPrompt("second")
      yield* agent.send(cancel(agent.sessionId))
      yield* agent.answerTo(first)
      yield* agent.request("session/list", {})
      expect(agent.messages.some((message) => message.id === second)).toBe(false)
    }),
  )

  live("the end of output while the agent lives on", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1)
      yield* agent.beginPrompt(script({ say: "last" }, { closeOutput: true }, { awaitCancel: true }))
      yield* agent.closed
      expect(agent.text()).toBe("last")
      expect(yield* running(agent.child.pid)).toBe(true)
    }),
  )

  live("an agent that stops reading", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1)
      yield* agent.prompt(script({ stopReading: true }))
      const write = Effect.as(agent.child.write(new Uint8Array(8 << 20).fill(120)), "taken")
      expect(yield* Effect.timeoutOption(Effect.orDie(write), "300 millis")).toMatchObject({ _tag: "None" })
    }),
  )

  live("steps that a cancel does not stop, and what comes after it", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const gate = join(cwd, "gate")
      const agent = yield* opened(1, { cancelled: { before: [{ say: "late" }], stop: "end_turn" } }, cwd)
      const steps = [{ deafly: [{ say: "on" }, { gate }, { say: " and on, " }] }, { say: "never" }]
      const id = yield* agent.beginPrompt(script(...steps))
      yield* agent.until(({ method }) => method === "session/update")
      yield* agent.send(cancel(agent.sessionId))
      yield* agent.agent.recording.untilReceived("session/cancel")
      yield* Appears.touch(gate)
      expect(result(yield* agent.answerTo(id))).toEqual({ stopReason: "end_turn" })
      expect(agent.text()).toBe("on and on, late")
    }),
  )

  live("a crash at any method, by exit code and after an answer", () =>
    Effect.gen(function* () {
      const agent = yield* started(1, { on: { "session/new": { before: [{ stderr: "out of memory" }, { exit: 9 }] } } })
      yield* agent.begin("session/new", { cwd: agent.cwd })
      expect((yield* agent.child.exit).code).toBe(9)
      const after = yield* started(1, { on: { "session/new": { after: [{ signal: "SIGABRT" }] } } })
      expect(result(yield* after.request("session/new", { cwd: after.cwd })).sessionId).toEqual(expect.any(String))
      expect((yield* after.child.exit).signal).toBe("SIGABRT")
    }),
  )

  live("a crash before anything is read", () =>
    Effect.gen(function* () {
      const agent = yield* connect(launch({ start: [{ exit: 1 }] }), yield* folder)
      expect((yield* agent.child.exit).code).toBe(1)
    }),
  )

  live("an unknown step is an error that names it", () =>
    Effect.gen(function* () {
      const agent = yield* opened(1, { reply: [{ sing: "a song" } as never] })
      expect(error(yield* agent.prompt("x"))).toEqual({ code: -32602, message: 'unknown step: {"sing":"a song"}' })
    }),
  )
})
