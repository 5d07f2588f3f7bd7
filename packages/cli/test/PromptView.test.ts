import type { SessionEvent } from "@acp-kit/agent/AgentSession"
import { PromptView } from "@acp-kit/cli/PromptView"
import { Terminal } from "@acp-kit/cli/Terminal"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

const say = (id: string, text: string): SessionEvent => ({ type: "delta", kind: "answer", id, text })
const call: SessionEvent = { type: "item", item: { type: "call", id: "c", name: "compose", input: { script: "\n return 1\n" } } }
const result = (status: "completed" | "detached"): SessionEvent => ({
  type: "item",
  item: { type: "result", id: "c", status, output: 1 },
})
const stopped = (...background: ReadonlyArray<string>): SessionEvent => ({
  type: "stopped",
  stop: { type: "stop", reason: "end_turn" },
  background,
})

const shown = (events: ReadonlyArray<SessionEvent>, terminal: Parameters<typeof Terminal.layerMemory>[0] = {}, quiet = false) =>
  Effect.gen(function* () {
    const [layer, recording] = Terminal.layerMemory(terminal)
    const view = yield* Effect.provide(PromptView.make(quiet), layer)
    const ended = yield* Effect.forkChild(view.ended)
    yield* Effect.forEach(events, view.show)
    return { out: recording.out(), err: recording.err(), ended: ended.pollUnsafe(), view, fiber: ended }
  })

describe("PromptView", () => {
  it.effect("puts each message of the model on lines of its own, and the last one into the result", () =>
    Effect.gen(function* () {
      const { out, err, fiber } = yield* shown([
        say("a", "on"),
        say("a", "e"),
        call,
        result("completed"),
        say("b", "two"),
        stopped(),
      ])
      expect(out).toBe("one\ntwo\n")
      expect(err).toBe("compose: return 1\ncompose: return 1: done, 0.0s\n")
      expect(yield* Fiber.join(fiber)).toEqual({ answer: "two", stop: { type: "stop", reason: "end_turn" } })
    }),
  )

  it.effect("shows the turns of children below the program that has them, by name once it is known", () =>
    Effect.gen(function* () {
      const card = (id: string) => ({ type: "child", id, verb: "subagent" }) as const
      const value = { id: "s-1", name: "Ann", output: "x", generation: 1 }
      const { err } = yield* shown([
        call,
        { ...card("c:compose:1"), state: "started", title: "subagent", input: {} },
        { ...card("c:compose:2"), state: "started", title: "subagent Bob", input: {} },
        { ...card("c:compose:3"), state: "started", title: "subagent Cas", input: {} },
        { ...card("c:compose:2"), state: "failed", code: "REFUSED", message: "no\u001b[2J" },
        { ...card("c:compose:1"), state: "completed", title: "subagent Ann", value },
        { ...card("c:compose:3"), state: "cancelled" },
        result("completed"),
        stopped(),
      ])
      expect(err.split("\n").slice(1, -2)).toEqual([
        "  subagent",
        "  subagent Bob",
        "  subagent Cas",
        "  subagent Bob: failed: REFUSED no\ufffd[2J, 0.0s",
        "  subagent Ann: done, 0.0s",
        "  subagent Cas: cancelled, 0.0s",
      ])
    }),
  )

  it.effect("ends an open line before a note where both streams are one terminal", () =>
    Effect.gen(function* () {
      const screen: Array<string> = []
      const [layer] = Terminal.layerMemory()
      const write = (text: string) => Effect.sync(() => void screen.push(text))
      const terminal = { ...(yield* Effect.provide(Terminal.Service, layer)), out: write, err: write }
      const view = yield* Effect.provideService(PromptView.make(false), Terminal.Service, {
        ...terminal,
        outIsTerminal: true,
        errIsTerminal: true,
      })
      yield* Effect.forEach([say("a", "one"), call, result("detached"), stopped("c")], view.show)
      expect(screen.join("")).toBe("one\ncompose: return 1\ncompose: return 1: goes on in the background, 0.0s\n")
    }),
  )

  it.effect("passes an answer on as it is, but on a terminal without what could move its cursor", () =>
    Effect.gen(function* () {
      const events = [say("a", "a\u001b[2Jb\n\tc"), stopped()]
      expect((yield* shown(events)).out).toBe("a\u001b[2Jb\n\tc\n")
      const seen = yield* shown(events, { outIsTerminal: true })
      expect(seen.out).toBe("a\ufffd[2Jb\n\tc\n")
      expect((yield* Fiber.join(seen.fiber)).answer).toBe("a\u001b[2Jb\n\tc")
    }),
  )

  it.effect("waits for what goes on in the background, and for the turn that it wakes", () =>
    Effect.gen(function* () {
      const events = [call, result("detached"), say("a", "started"), stopped("c")]
      const { ended, fiber, view, out } = yield* shown(events)
      expect([ended, out]).toEqual([undefined, "started\n"])
      yield* Effect.forEach([result("completed"), say("b", "done"), stopped()], view.show)
      expect((yield* Fiber.join(fiber)).answer).toBe("done")
    }),
  )

  it.effect("drops an answer that is taken back, and says so", () =>
    Effect.gen(function* () {
      const back: SessionEvent = { type: "superseded", items: [{ type: "answer", id: "a", text: "hal" }] }
      const { out, err, fiber } = yield* shown([say("a", "hal"), back, say("b", "whole"), stopped()])
      expect(out).toBe("hal\nwhole\n")
      expect(err).toContain("asked again")
      expect((yield* Fiber.join(fiber)).answer).toBe("whole")
    }),
  )

  it.effect("prints no answer when it is quiet, but knows it", () =>
    Effect.gen(function* () {
      const { out, fiber } = yield* shown([say("a", "one"), stopped()], {}, true)
      expect([out, (yield* Fiber.join(fiber)).answer]).toEqual(["", "one"])
    }),
  )
})
