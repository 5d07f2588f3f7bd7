import type { JsonObject } from "@acp-kit/protocol/Json"
import { ToolTable } from "@acp-kit/protocol/ToolTable"
import { describe, expect, it } from "@effect/vitest"

const table = (...calls: ReadonlyArray<JsonObject>) => {
  const tools = new ToolTable()
  for (const call of calls) tools.upsert(call)
  return tools
}

describe("ToolTable", () => {
  it("knows a call from whatever comes first and never lets a status go back from its end", () => {
    const rows = table(
      { toolCallId: "t", status: "in_progress" },
      { toolCallId: "t", title: "Edit", kind: "edit" },
      { toolCallId: "t", status: "pending" },
      { toolCallId: "t", status: "completed" },
      { toolCallId: "t", status: "pending", title: "Edit again" },
    ).list()
    expect(rows).toEqual([{ id: "t", title: "Edit again", kind: "edit", status: "completed", open: false }])
  })

  it("says which calls were never ended", () => {
    const rows = table(
      { toolCallId: "a", status: "in_progress" },
      { toolCallId: "b" },
      { toolCallId: "c", status: "failed" },
    ).list()
    expect(rows.map(({ id, open }) => [id, open])).toEqual([
      ["a", true],
      ["b", true],
      ["c", false],
    ])
  })

  it("shows the latest call in progress, else the latest that waits", () => {
    expect(table({ toolCallId: "a", title: "A", status: "in_progress" }, { toolCallId: "b", title: "B" }).running()).toBe("A")
    expect(table({ toolCallId: "a", title: "A" }, { toolCallId: "b", title: "B" }).running()).toBe("B")
    expect(table({ toolCallId: "a", title: "A", status: "completed" }).running()).toBeUndefined()
    expect(table({ toolCallId: "a", title: "A", status: "paused" }, { toolCallId: "a", title: null }).running()).toBeUndefined()
  })

  it("stops growing in a turn without end, and still ends the calls that it knows", () => {
    const calls = new ToolTable()
    for (let at = 0; at < 200_000; at++) calls.upsert({ toolCallId: `call-${at}`, status: "pending" })
    const many = calls.list().length
    expect(many).toBeLessThan(60_000)
    calls.upsert({ toolCallId: "call-0", title: "x".repeat(10_000_000), status: "completed" })
    expect(calls.list()[0]).toEqual({ id: "call-0", title: undefined, kind: undefined, status: "completed", open: false })
    const one = new ToolTable()
    for (let at = 0; at < 100; at++) one.upsert({ toolCallId: "t", title: `${at} ${"x".repeat(3_000_000)}` })
    expect(one.list()[0]?.title?.slice(0, 3)).toBe("99 ")
  })

  it("passes over what names no call", () => {
    expect(table({ title: "x" }, { toolCallId: 7 }, {}).list()).toEqual([])
  })
})
