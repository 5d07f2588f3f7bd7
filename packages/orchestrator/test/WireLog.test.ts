import type { Json } from "@acp-kit/runlet/Host"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { failure, isObject, World } from "./support/World.ts"

/** Methods of the frames in a child's log, answers as `method!`, what is no frame as `#note`. */
const logOf = (parent: World.Parent, id: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(Effect.orDie(parent.session.subagents.tail(id, 1_000)), (records) => {
    const asked = new Map<string, string>()
    return records.flatMap(({ body, kind }): ReadonlyArray<string> => {
      if (kind !== "event" || !isObject(body)) return []
      if (typeof body.note === "string") return [`#${body.note}`]
      const { frame } = body as { frame: Json }
      if (!isObject(frame)) return []
      const key = JSON.stringify(frame.id ?? null)
      if (typeof frame.method === "string") {
        if (frame.id !== undefined && body.dir === "out") asked.set(key, frame.method)
        return [frame.method]
      }
      return [`${asked.get(key) ?? "?"}!`]
    })
  })

const withoutUpdates = (log: ReadonlyArray<string>) => log.filter((entry) => entry !== "session/update")

describe("the wire log", () => {
  it.live("K04 files frames with their session, initialize with the starter, a fork with both", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const source = yield* parent.subagent({ prompt: "one" })
      const branch = yield* parent.fork({ subagent: source, prompt: "two" })
      yield* parent.prompt({ subagent: source, prompt: "three" })
      expect(withoutUpdates(yield* logOf(parent, source.id))).toEqual([
        "#start",
        "initialize",
        "initialize!",
        "session/new",
        "session/new!",
        "session/prompt",
        "session/prompt!",
        "session/fork",
        "session/fork!",
        "session/prompt",
        "session/prompt!",
      ])
      expect(withoutUpdates(yield* logOf(parent, branch.id))).toEqual([
        "session/fork",
        "session/fork!",
        "session/prompt",
        "session/prompt!",
      ])
      expect(yield* logOf(parent, branch.id)).toContain("session/update")
    }),
  )

  it.live("K04 S123 keeps no words of a failed login", () =>
    Effect.gen(function* () {
      const world = yield* World.make({
        harnesses: { review: { mood: { auth: { at: ["session/prompt"], message: "token hunter2", data: { key: "hunter2" } } } } },
      })
      const parent = yield* world.open()
      expect((yield* failure(parent.subagent({ prompt: "x" }))).code).toBe("AUTH_REQUIRED")
      const [agent] = yield* parent.session.subagents.list()
      const records = yield* parent.session.subagents.tail(agent!.id, 1_000)
      const text = JSON.stringify(records)
      expect(text).toContain("-32000")
      expect(text).not.toContain("hunter2")
    }),
  )

  it.live("K08 S103 holds what a child said up to its death, and its exit; a close that failed there is final", () =>
    Effect.gen(function* () {
      const world = yield* World.make({
        harnesses: { review: { mood: { on: { "session/delete": { error: { code: -32603, message: "no" } } } } } },
      })
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "x" })
      yield* failure(parent.prompt({ subagent: child, prompt: JSON.stringify({ script: [{ say: "last words" }, { exit: 7 }] }) }))
      const records = yield* parent.session.subagents.tail(child.id, 1_000)
      expect(JSON.stringify(records)).toContain("last words")
      expect(JSON.stringify(records)).toContain('"exitCode":7')
      const other = yield* parent.subagent({ prompt: "y" })
      expect((yield* failure(parent.close(other))).code).toBe("DELETE_FAILED")
      yield* parent.end
      const again = yield* world.open()
      expect(yield* again.subagents({})).toEqual([])
      expect((yield* failure(again.prompt({ subagent: other, prompt: "z" }))).code).toBe("SUBAGENT_RETIRED")
    }),
  )
})
