import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { script, touch, World, watch } from "./support/World.ts"

const tool = (title: string, status: string) => ({ toolCallId: "t", title, kind: "edit", status })

describe.each([1, 2] as const)("watching a child that speaks v%i", (version) => {
  const review = { harnesses: { review: { mood: { versions: [version] } } } }

  it.live("S51 S52 S54 shows tool, plan, title or task as activity, and usage, whatever the capture holds", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ ...review, limits: { updateItems: 1 } })
      const parent = yield* world.open()
      const events = yield* watch(parent)
      const activity = (text: string) => events.until((event) => event.type === "changed" && event.row.activity === text)
      const gate = (name: string) => world.file(name)
      const running = yield* Effect.forkChild(
        parent.subagent({
          prompt: [
            {
              type: "text",
              text: "do it",
              _meta: {
                script: [
                  { think: "secret thought" },
                  { gate: gate("a") },
                  { title: "Parser work" },
                  { gate: gate("b") },
                  { plan: [{ content: "second step", priority: "high", status: "in_progress" }] },
                  { gate: gate("c") },
                  { tool: tool("Edit parser.ts", "in_progress") },
                  { usage: { used: 50, size: 200 } },
                  { gate: gate("d") },
                  { toolUpdate: { toolCallId: "t", status: "completed" } },
                  { say: "done" },
                ],
              },
            },
          ],
        }),
      )
      yield* activity("do it")
      yield* touch(gate("a"))
      yield* activity("Parser work")
      yield* touch(gate("b"))
      yield* activity("second step")
      yield* touch(gate("c"))
      yield* activity("Edit parser.ts")
      yield* events.until((event) => event.type === "changed" && event.row.usage?.used === 50 && event.row.usage.size === 200)
      yield* touch(gate("d"))
      const child = yield* Fiber.join(running)
      const idle = yield* events.until(
        (event) => event.type === "changed" && event.row.id === child.id && event.row.status === "idle",
      )
      expect(idle).toMatchObject({ row: { activity: "Parser work", usage: { used: 50, size: 200 }, harness: "acp.review" } })
      expect(JSON.stringify(events.seen)).not.toContain("secret thought")
    }),
  )

  it.live("S70 S71 S73 captures tool calls, plans and rich content beside the text, and no thoughts", () =>
    Effect.gen(function* () {
      const world = yield* World.make(review)
      const parent = yield* world.open()
      const image = { type: "image", data: "AAAA", mimeType: "image/png" }
      const child = yield* parent.subagent({
        prompt: script(
          { think: "hm" },
          { say: "text " },
          { tool: tool("Edit", "in_progress") },
          { block: image },
          { plan: [{ content: "p", priority: "low", status: "pending" }] },
          { usage: { used: 1, size: 2, cost: { amount: 3, currency: "USD" } } },
          { say: "more" },
        ),
      })
      expect(child.output).toBe("text more")
      const items = (child.updates as { items: ReadonlyArray<{ sessionUpdate: string }> }).items
      expect(items.map((item) => item.sessionUpdate)).toEqual([
        version === 1 ? "tool_call" : "tool_call_update",
        "agent_message_chunk",
        version === 1 ? "plan" : "plan_update",
        "usage_update",
      ])
      expect(child.updates).toMatchObject({ truncated: false })
      const plain = yield* parent.prompt({
        subagent: child,
        prompt: script({ usage: { used: 2, size: 2 } }, { title: "t" }, { say: "x" }),
      })
      expect(plain).toEqual({ id: child.id, name: child.name, output: "x", generation: 2 })
    }),
  )

  it.live("S75 reports usage and cost as the child does, turn by turn, and sums nothing", () =>
    Effect.gen(function* () {
      const world = yield* World.make(review)
      const parent = yield* world.open()
      const usage = (used: number, amount: number) => ({ used, size: 1_000, cost: { amount, currency: "USD" } })
      const first = yield* parent.subagent({
        prompt: script({ usage: usage(100, 1) }, { tool: tool("Edit", "completed") }, { say: "x" }),
      })
      const second = yield* parent.prompt({
        subagent: first,
        prompt: script({ usage: usage(150, 1.5) }, { tool: tool("Edit", "completed") }, { say: "y" }),
      })
      const reported = [first, second].map(({ updates }) =>
        (updates as { items: ReadonlyArray<{ sessionUpdate: string }> }).items.filter(
          (item) => item.sessionUpdate === "usage_update",
        ),
      )
      expect(reported).toEqual([
        [{ sessionUpdate: "usage_update", ...usage(100, 1) }],
        [{ sessionUpdate: "usage_update", ...usage(150, 1.5) }],
      ])
      expect(yield* parent.roster).toMatchObject([{ usage: { used: 150, size: 1_000 } }])
    }),
  )

  it.live("S71 keeps at most 64 items and says that it left some out", () =>
    Effect.gen(function* () {
      const world = yield* World.make(review)
      const parent = yield* world.open()
      const many = { repeat: 80, steps: [{ tool: tool("Edit", "pending") }] }
      const child = yield* parent.subagent({ prompt: script(many, { say: "x" }) })
      expect((child.updates as { items: ReadonlyArray<unknown> }).items).toHaveLength(64)
      expect(child.updates).toMatchObject({ truncated: true })
    }),
  )

  it.live("S72 empties tool content that only repeats rawOutput", () =>
    Effect.gen(function* () {
      const world = yield* World.make(review)
      const parent = yield* world.open()
      const content = [{ type: "content", content: { type: "text", text: '{"ok":true}' } }]
      const child = yield* parent.subagent({
        prompt: script({ toolUpdate: { toolCallId: "t", status: "completed", rawOutput: { ok: true }, content } }),
      })
      expect(child.updates).toMatchObject({ items: [{ rawOutput: { ok: true }, content: [] }] })
    }),
  )

  it.live("S140 S141 allows what a child asks permission for, and cancels what it elicits", () =>
    Effect.gen(function* () {
      const world = yield* World.make(review)
      const parent = yield* world.open()
      const child = yield* parent.subagent({
        prompt: script(
          { permission: "usual" },
          { say: " " },
          { permission: "once" },
          { say: " " },
          { permission: "reject-only" },
        ),
      })
      expect(child.output).toBe("permission: allow_always permission: yes permission: cancelled")
      const asked = yield* parent.prompt({ subagent: child, prompt: script({ elicit: "form" }, { say: " " }, { elicit: "url" }) })
      expect(asked.output).toBe("elicitation: cancel elicitation: cancel")
    }),
  )
})
