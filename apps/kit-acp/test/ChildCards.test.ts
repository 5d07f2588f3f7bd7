import { join } from "node:path"
import { Processes } from "@acp-kit/platform/Processes"
import type { WireFrame } from "@acp-kit/protocol/WireFrame"
import { appears } from "@acp-kit/testing/Appears"
import type { Step } from "@acp-kit/testing/Mood"
import { ScriptedAgent } from "@acp-kit/testing/ScriptedAgent"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { block, machine, text } from "./Machine.ts"
import { observed } from "./Parent.ts"

/** As it stood on the wire. */
type Update = any

/** A prompt with one program; its child plays these steps, which stand for `STEPS`. */
const content = (program: string, steps: ReadonlyArray<Step>) =>
  text(block(program.replace("STEPS", JSON.stringify(ScriptedAgent.script(...steps)))))

/** A client of `kit acp` whose children are scripted agents, and every update as it stood on the wire. */
const client = Effect.fnUntraced(function* (offer: 1 | 2, child: 1 | 2) {
  const here = yield* machine
  yield* here.agent("demo", { versions: [child] }, `protocol_version = ${child}`)
  const updates: Array<Update> = []
  const observe = (frames: ReadonlyArray<WireFrame>) =>
    Effect.sync(() => {
      for (const { direction, kind, line } of frames) {
        if (direction === "in" && kind === "notification") updates.push(JSON.parse(line).params.update)
      }
    })
  const kit = yield* observed(here, { offer, observe })
  const session = yield* kit.open
  return {
    updates,
    run: (program: string, ...steps: ReadonlyArray<Step>) => session.prompt(content(program, steps)),
    begin: (program: string, ...steps: ReadonlyArray<Step>) => session.begin(content(program, steps)),
    root: here.root,
    /** What was told of the cards of children, and of terminals. */
    told: () => updates.filter(({ toolCallId, terminalId }) => terminalId !== undefined || toolCallId?.includes(":compose:")),
  }
})

const snapshot = { type: "diff", path: "/a", oldText: "1\n", newText: "2\n" }
const change = {
  type: "diff",
  changes: [{ operation: "modify", path: "/a" }],
  patch: { format: "git_patch", text: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n" },
}
const native = { type: "diff", changes: [{ operation: "delete", path: "/gone" }] }

const edits = (...content: ReadonlyArray<unknown>): Step => ({
  tool: { toolCallId: "t", title: "Edit", status: "completed", content },
})

const start = 'return subagent({ name: "Ann", prompt: STEPS, harness: "acp.demo" })'

it.layer(Processes.layer, { excludeTestServices: true })("the card of a child's turn", (it) => {
  it.effect("S80 appears with its verb and fills, in version 1, with the last snapshots: updates replace, chunks append", () =>
    Effect.gen(function* () {
      const { run, told, updates } = yield* client(1, 1)
      yield* run(
        `a = ${start.slice("return ".length)}\nreturn prompt({ subagent: a, prompt: "again" }).output`,
        { say: "done" },
        edits({ type: "diff", path: "/first", newText: "x" }),
        { toolUpdate: { toolCallId: "t", content: [snapshot] } },
      )
      const [started, ended, again, echoed] = told()
      const compose = updates.find(({ title }) => title === "compose").toolCallId
      expect(started.toolCallId.startsWith(`${compose}:compose:`)).toBe(true)
      expect(again.toolCallId).not.toBe(started.toolCallId)
      expect(started).toMatchObject({
        sessionUpdate: "tool_call",
        title: "subagent Ann",
        status: "in_progress",
        rawInput: { name: "Ann", harness: "acp.demo" },
      })
      expect(ended).toMatchObject({ toolCallId: started.toolCallId, title: "subagent Ann", status: "completed" })
      expect(ended.content).toEqual([{ type: "content", content: { type: "text", text: "done" } }, snapshot])
      expect(ended.rawOutput).toMatchObject({ name: "Ann", output: "done", generation: 1 })
      expect(again).toMatchObject({ sessionUpdate: "tool_call", title: "prompt Ann", status: "in_progress" })
      expect(echoed.content).toEqual([{ type: "content", content: { type: "text", text: "echo: again" } }])
    }),
  )

  it.effect("S80 appends the chunks of a child of version 2", () =>
    Effect.gen(function* () {
      const { run, told } = yield* client(2, 2)
      yield* run(start, edits(snapshot), { toolChunk: { toolCallId: "t", content: native } })
      const [started, ended] = told()
      expect(started).toMatchObject({ sessionUpdate: "tool_call_update", name: "subagent", title: "subagent Ann" })
      expect(ended.content).toEqual([change, native])
    }),
  )

  it.effect("S81 shows snapshots of a version 1 child as changes in version 2", () =>
    Effect.gen(function* () {
      const { run, told } = yield* client(2, 1)
      yield* run(start, edits(snapshot))
      expect(told().at(-1).content).toEqual([change])
    }),
  )

  it.effect("S81 leaves changes without whole texts and terminals of an agent to version 2", () =>
    Effect.gen(function* () {
      const { run, told } = yield* client(1, 2)
      yield* run(
        start,
        { say: "done" },
        { terminal: { terminalId: "t1", command: "ls", exitStatus: { exitCode: 0 } } },
        edits(native, snapshot, { type: "terminal", terminalId: "t1" }),
      )
      expect(told().length).toBe(2)
      expect(told()[1].content).toEqual([{ type: "content", content: { type: "text", text: "done" } }, snapshot])
    }),
  )

  it.effect("S82 replays terminals under ids of the card before it names them; the raw output keeps the child's own", () =>
    Effect.gen(function* () {
      const { run, told, updates } = yield* client(2, 2)
      const terminals = [
        { type: "terminal", terminalId: "t1" },
        { type: "terminal", terminalId: "t2" },
      ]
      yield* run(
        start,
        edits(...terminals),
        { terminal: { terminalId: "t1", command: "touch never", cwd: "/" } },
        { terminalChunk: { terminalId: "t1", data: "aGk=" } },
        { terminal: { terminalId: "t1", exitStatus: { exitCode: 3 } } },
        { terminalChunk: { terminalId: "t2", data: "aG8=" } },
      )
      const [started, ...replayed] = told()
      const ended = replayed.pop()
      const [first, second] = ended.content.map(({ terminalId }: Update) => terminalId)
      expect([first, second]).toEqual([expect.stringMatching(/^child-/), expect.stringMatching(/^child-/)])
      expect(replayed).toEqual([
        { sessionUpdate: "terminal_update", terminalId: first, command: "touch never", cwd: "/" },
        { sessionUpdate: "terminal_output_chunk", terminalId: first, data: "aGk=" },
        { sessionUpdate: "terminal_update", terminalId: first, exitStatus: { exitCode: 3 } },
        { sessionUpdate: "terminal_update", terminalId: second },
        { sessionUpdate: "terminal_output_chunk", terminalId: second, data: "aG8=" },
        { sessionUpdate: "terminal_update", terminalId: second, _meta: { "kit/outputIncomplete": true } },
      ])
      expect(ended.toolCallId).toBe(started.toolCallId)
      expect(JSON.stringify(ended.rawOutput)).toContain('"terminalId":"t1"')
      const compose = updates.findLast(({ toolCallId, status }) => status === "completed" && !toolCallId.includes(":compose:"))
      expect(JSON.stringify(compose.rawOutput)).toContain('"terminalId":"t2"')
      expect(JSON.stringify(compose)).not.toContain("child-")
    }),
  )

  it.effect("S83 shows 64 rich items and says that there were more, in both versions", () =>
    Effect.gen(function* () {
      for (const version of [1, 2] as const) {
        const { run, told } = yield* client(version, 1)
        yield* run(start, edits(...Array.from({ length: 70 }, (_, at) => ({ ...snapshot, path: `/${at}` }))))
        const { content, _meta, toolCallId } = told().at(-1)
        expect(content.length).toBe(64)
        expect(_meta).toEqual({ "kit/outputIncomplete": true, "kit/parentToolCallId": toolCallId })
      }
    }),
  )

  it.effect("S83 shows nothing of a turn that failed or was cancelled", () =>
    Effect.gen(function* () {
      for (const [version, cancelled] of [
        [1, "failed"],
        [2, "cancelled"],
      ] as const) {
        const { run, begin, told, root } = yield* client(version, 1)
        yield* run(`return boundary { ${start} } catch e { return e.code }`, edits(snapshot), { stop: "refusal" })
        expect(told().at(-1)).toMatchObject({
          status: "failed",
          content: [{ content: { text: expect.stringMatching(/^REFUSED: /) } }],
        })
        const started = join(root, `started-${version}`)
        const turn = yield* begin(start, edits(snapshot), { touch: started }, { awaitCancel: true })
        yield* appears(started)
        expect(yield* turn.cancel).toBe("settled")
        expect(told().at(-1).status).toBe(cancelled)
        expect(JSON.stringify(told().map(({ content }) => content))).not.toContain("newText")
      }
    }),
  )
})
