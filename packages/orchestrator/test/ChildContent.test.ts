import { ChildContents, limit } from "@acp-kit/orchestrator/ChildContent"
import { Compose } from "@acp-kit/orchestrator/Compose"
import { SubagentTools, type TurnOfCall } from "@acp-kit/orchestrator/SubagentTools"
import type { JsonObject } from "@acp-kit/runlet/Host"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { script, World } from "./support/World.ts"

const of = (items: ReadonlyArray<JsonObject>, truncated = false) =>
  ChildContents.of({ id: "s-1", updates: { items, truncated } }, "call-1")

const update = (toolCallId: string, content: unknown): JsonObject =>
  ({ sessionUpdate: "tool_call_update", toolCallId, content }) as JsonObject
const chunk = (toolCallId: string, content: unknown): JsonObject =>
  ({ sessionUpdate: "tool_call_content_chunk", toolCallId, content }) as JsonObject
const snapshot = (path: string, oldText: string | null, newText: string) => ({
  type: "diff",
  path,
  ...(oldText === null ? {} : { oldText }),
  newText,
})
const native = { type: "diff", changes: [{ operation: "delete", path: "/gone" }] }
const terminal = (fields: Record<string, unknown>): JsonObject => ({ sessionUpdate: "terminal_update", ...fields }) as JsonObject

describe("ChildContent", () => {
  it("takes the last content of each call: updates replace, null clears, chunks append; text is not shown", () => {
    const text = { type: "content", content: { type: "text", text: "x" } }
    const shown = of([
      update("a", [snapshot("/old", "1", "2"), text]),
      update("b", [snapshot("/cleared", "1", "2")]),
      update("a", [snapshot("/new", "1", "2")]),
      update("b", null),
      chunk("a", snapshot("/more", "1", "2")),
      { sessionUpdate: "plan", entries: [] },
    ])
    expect(shown.v1.map(({ path }) => path)).toEqual(["/new", "/more"])
    expect(shown.meta).toBeUndefined()
    expect(ChildContents.of({ id: "s-1" }, "call-1")).toEqual({ v1: [], v2: [], terminals: [], meta: undefined })
  })

  it("maps v1 snapshots to v2 file changes; v2 changes without whole text stay v2-only", () => {
    const shown = of([update("a", [snapshot("/dir/file", "one\ntwo\n", "one\n2\n"), snapshot("/made", null, "new\n"), native])])
    expect(shown.v1).toEqual([snapshot("/dir/file", "one\ntwo\n", "one\n2\n"), snapshot("/made", null, "new\n")])
    expect(shown.v2).toEqual([
      {
        type: "diff",
        changes: [{ operation: "modify", path: "/dir/file" }],
        patch: {
          format: "git_patch",
          text: "diff --git a/dir/file b/dir/file\n--- a/dir/file\n+++ b/dir/file\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
        },
      },
      {
        type: "diff",
        changes: [{ operation: "add", path: "/made" }],
        patch: {
          format: "git_patch",
          text: "diff --git a/made b/made\nnew file mode 100644\n--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+new\n",
        },
      },
      native,
    ])
  })

  it("replays terminals under ids of the call's own, without metadata, and says what is missing", () => {
    const items = [
      update("a", [
        { type: "terminal", terminalId: "t1" },
        { type: "terminal", terminalId: "t2" },
        { type: "terminal", terminalId: "never" },
      ]),
      terminal({ terminalId: "t1", command: "ls", cwd: "/", _meta: { secret: 1 } }),
      { sessionUpdate: "terminal_output_chunk", terminalId: "t1", data: "aGk=" },
      { sessionUpdate: "terminal_output_chunk", terminalId: "t2", data: "aG8=" },
      terminal({ terminalId: "t1", exitStatus: { exitCode: 0, signal: "S".repeat(200) } }),
      terminal({ terminalId: "unnamed", command: "x" }),
    ]
    const shown = of(items)
    const [first, second] = shown.v2.map(({ terminalId }) => terminalId)
    expect(first).toMatch(/^child-[0-9a-f]{24}$/)
    expect(second).not.toBe(first)
    expect(shown.v1).toEqual([])
    expect(shown.terminals).toEqual([
      { sessionUpdate: "terminal_update", terminalId: first, command: "ls", cwd: "/" },
      { sessionUpdate: "terminal_output_chunk", terminalId: first, data: "aGk=" },
      { sessionUpdate: "terminal_update", terminalId: first, exitStatus: { exitCode: 0 } },
      { sessionUpdate: "terminal_update", terminalId: second },
      { sessionUpdate: "terminal_output_chunk", terminalId: second, data: "aG8=" },
      { sessionUpdate: "terminal_update", terminalId: second, _meta: { "kit/outputIncomplete": true } },
    ])
    const other = ChildContents.of({ id: "s-1", updates: { items, truncated: false } }, "call-2")
    expect(other.v2[0]?.terminalId).not.toBe(first)
  })

  it("shows 64 rich items at most and says that it cut some, as of a cut capture", () => {
    const many = Array.from({ length: 70 }, (_, at) => snapshot(`/f${at}`, "a", "b"))
    const shown = of([update("a", many)])
    expect([shown.v1.length, shown.v2.length]).toEqual([limit, limit])
    const meta = { "kit/outputIncomplete": true, "kit/parentToolCallId": "call-1" }
    expect(shown.meta).toEqual(meta)
    expect(of([update("a", [native])], true).meta).toEqual(meta)
  })

  it.live("is told of each successful turn, with the call that had it, and of no other", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const turns: Array<TurnOfCall> = []
      const tools = SubagentTools.make(parent, { onTurn: (turn) => Effect.sync(() => turns.push(turn)) })
      const edit = script(
        { toolUpdate: { toolCallId: "t", status: "completed", content: [snapshot("/a", "1", "2")] } },
        { say: "done" },
      )
      yield* Compose.run({
        source: `a = subagent({ prompt: edit })
b = prompt({ subagent: a, prompt: "x" })
c = boundary { return fork({ subagent: b, prompt: refuse }) } catch e { return e.code }
return c`,
        tools,
        inputs: [
          { name: "edit", schema: true, value: edit },
          { name: "refuse", schema: true, value: script({ stop: "refusal" }) },
        ],
        author: "person",
      })
      expect(turns.map(({ verb }) => verb)).toEqual(["subagent", "prompt"])
      expect(new Set(turns.map(({ call }) => call)).size).toBe(2)
      expect(ChildContents.of(turns[0]!.value, turns[0]!.call).v1).toEqual([snapshot("/a", "1", "2")])
      expect(ChildContents.of(turns[1]!.value, turns[1]!.call).v1).toEqual([])
    }),
  )
})
