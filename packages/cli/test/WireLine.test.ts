import { kindOf, wireLine } from "@acp-kit/cli/WireLine"
import type { Json } from "@acp-kit/runlet/Host"
import type { LogRecord } from "@acp-kit/store/Record"
import { describe, expect, it } from "@effect/vitest"

const record = (body: Json): LogRecord => ({ seq: 1, time: 3_723_004, kind: "event", version: 1, body })

const frame = (dir: "in" | "out", message: Json): LogRecord => record({ dir, frame: message })

const update = (fields: Readonly<Record<string, Json>>): LogRecord =>
  frame("in", { method: "session/update", params: { update: fields } })

describe("wireLine", () => {
  it("shows the time, the direction and what a reader wants to know of each frame", () => {
    const lines: ReadonlyArray<readonly [LogRecord, string, string]> = [
      [frame("out", { id: 0, method: "initialize", params: {} }), "→ initialize", "initialize"],
      [
        frame("out", { method: "session/prompt", params: { prompt: [{ type: "text", text: "hi\nyou" }, { type: "image" }] } }),
        "→ session/prompt hi you [image]",
        "session/prompt",
      ],
      [
        update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "well" } }),
        "← agent_message_chunk well",
        "agent_message_chunk",
      ],
      [
        update({ sessionUpdate: "tool_call", title: "run tests", status: "in_progress" }),
        "← tool_call run tests (in_progress)",
        "tool_call",
      ],
      [update({ sessionUpdate: "state_update", state: "idle" }), "← state_update idle", "state_update"],
      [frame("in", { id: 1, result: { stopReason: "end_turn" } }), "← result end_turn", "result"],
      [frame("in", { id: 1, error: { code: -32603, message: "no" } }), "← error -32603 no", "error"],
      [record({ note: "exit", data: { code: 1 } }), '· exit {"code":1}', "note"],
    ]
    for (const [each, text, kind] of lines) {
      expect(wireLine(each)).toBe(`01:02:03.004 ${text}`)
      expect(kindOf(each)).toBe(kind)
    }
  })

  it("neutralises control characters, takes frames of any shape, and names a gap", () => {
    expect(
      wireLine(update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "\u001b[2J" } })),
    ).not.toContain("\u001b")
    for (const body of [null, 1, "x", [], {}, { frame: null }, { frame: [1] }, { dir: "in", frame: { params: 1 } }]) {
      expect(wireLine(record(body))).toMatch(/^01:02:03\.004 /)
    }
    expect(wireLine({ gap: true, segment: 1, from: 0, to: 9, firstSeq: 3, lastSeq: 4 })).toContain("lines 3 to 4 cannot be read")
  })
})
