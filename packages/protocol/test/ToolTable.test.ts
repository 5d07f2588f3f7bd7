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

  it("passes over what names no call", () => {
    expect(table({ title: "x" }, { toolCallId: 7 }, {}).list()).toEqual([])
  })
})
