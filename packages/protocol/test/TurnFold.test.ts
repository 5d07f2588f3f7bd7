import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import { TurnFold } from "@acp-kit/protocol/TurnFold"
import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"

const bounds = { items: 64, itemBytes: 65_536, answerBytes: 65_536 }

const fold = (updates: ReadonlyArray<JsonObject>, limits = bounds) => {
  const turn = new TurnFold(limits)
  for (const update of updates) turn.add(String(update.sessionUpdate), update)
  return turn
}

const textBlock = (text: string): JsonObject => ({ type: "text", text })
const chunk = (text: string, messageId?: string): JsonObject => ({
  sessionUpdate: "agent_message_chunk",
  content: textBlock(text),
  ...(messageId === undefined ? {} : { messageId }),
})
const whole = (messageId: string, content?: Json): JsonObject => ({
  sessionUpdate: "agent_message",
  messageId,
  ...(content === undefined ? {} : { content }),
})
const image: JsonObject = { type: "image", data: "aGk=", mimeType: "image/png" }

describe("TurnFold", () => {
  it("S112 replaces by message id; omitted keeps, null and empty clear, later chunks append", () => {
    const text = (...updates: ReadonlyArray<JsonObject>) => fold(updates).text.text()
    expect(text(chunk("old", "m"), whole("m", [textBlock("new")]))).toBe("new")
    expect(text(chunk("old", "m"), whole("m"))).toBe("old")
    expect(text(chunk("old", "m"), whole("m", null))).toBe("")
    expect(text(chunk("old", "m"), whole("m", []))).toBe("")
    expect(text(chunk("old", "m"), whole("m", [textBlock("a"), textBlock("b")]), chunk("c", "m"))).toBe("abc")
    expect(text(chunk("1", "m"), chunk("2", "n"), whole("m", [textBlock("one ")]), chunk("3", "n"))).toBe("one 23")
    expect(text(whole("m"), chunk("2", "n"), chunk("1", "m"))).toBe("12")
  })

  it("S112 holds no more text than the limit, in bytes of JSON, and says so; text that is replaced counts no more", () => {
    const limited = { ...bounds, answerBytes: 10 }
    const folded = (...updates: ReadonlyArray<JsonObject>) => {
      const { text } = fold(updates, limited)
      return [text.text(), text.exceeded]
    }
    expect(folded(chunk("12345"), chunk("67890"))).toEqual(["1234567890", false])
    expect(folded(chunk("12345"), chunk("678901"), chunk("x"))).toEqual(["12345", true])
    expect(folded(chunk("\n\n\n\n\n"))).toEqual(["\n\n\n\n\n", false])
    expect(folded(chunk("\n\n\n\n\n\n"))).toEqual(["", true])
    expect(folded(chunk("ééé"), chunk("éé"))).toEqual(["ééééé", false])
    expect(folded(chunk("ééé"), chunk("ééé"))).toEqual(["ééé", true])
    expect(folded(chunk("123456789", "m"), whole("m", [textBlock("1")]), chunk("23456789", "n"))).toEqual(["123456789", false])
    expect(folded(chunk("1", "m"), whole("m", [textBlock("12345678901")]))).toEqual(["", true])
  })

  it("appends chunks without ids in the order of arrival", () => {
    expect(fold([chunk("a"), chunk("b"), chunk("c", "m"), chunk("d"), chunk("e", "m")]).text.text()).toBe("abced")
  })

  it("captures content that is not text, and gives it back when its message is replaced", () => {
    const rich = (id: string): JsonObject => ({ sessionUpdate: "agent_message_chunk", messageId: id, content: image })
    expect(fold([chunk("a", "m"), rich("m"), chunk("b", "m")])).toMatchObject({ rich: true })
    expect(fold([chunk("a", "m"), rich("m"), chunk("b", "m")]).captured.items()).toEqual([rich("m")])
    expect(fold([rich("m"), rich("n"), whole("m", null)]).captured.items()).toEqual([rich("n")])
    expect(fold([rich("m"), whole("m", [textBlock("t"), image])]).captured.items()).toEqual([
      { sessionUpdate: "agent_message_chunk", messageId: "m", content: image },
    ])
    expect(fold([rich("m"), whole("m")]).captured.items()).toEqual([rich("m")])
    expect(fold([rich("m"), whole("m", [textBlock("t")])])).toMatchObject({ rich: false })
    expect(fold([rich("m"), rich("n"), whole("m", null)])).toMatchObject({ rich: true })
    const huge = (id: string) => ({ ...rich(id), content: { type: "image", data: "x".repeat(70_000) } })
    expect(fold([huge("m"), whole("m", null)])).toMatchObject({ rich: true, captured: { truncated: true } })
  })

  it("captures what belongs to a turn in the order of arrival, and neither thoughts nor echoes nor modes nor configuration", () => {
    const kinds = [
      "tool_call",
      "agent_thought_chunk",
      "tool_call_update",
      "user_message_chunk",
      "tool_call_content_chunk",
      "plan",
      "current_mode_update",
      "plan_update",
      "usage_update",
      "config_option_update",
      "session_info_update",
      "available_commands_update",
      "notice",
      "user_message",
      "compaction_update",
      "compaction_summary_chunk",
      "agent_thought",
      "terminal_update",
      "terminal_output_chunk",
      "state_update",
      "subagent_update",
      "session_message",
    ]
    const passed = /thought|user_message|mode|config_option|state_update|subagent|session_message/
    const turn = fold(kinds.map((sessionUpdate) => ({ sessionUpdate })))
    expect(turn.captured.items().map((item) => item.sessionUpdate)).toEqual(kinds.filter((kind) => !passed.test(kind)))
    expect(turn.unknown.items()).toEqual([])
  })

  it("keeps kinds that nobody knows, apart from what a turn returns", () => {
    const strange = [
      { sessionUpdate: "_hologram", x: 1 },
      { sessionUpdate: "toString" },
      { sessionUpdate: "", n: 12345678901234567890n },
    ]
    const turn = fold(strange)
    expect(turn.unknown.items()).toEqual(strange)
    expect(turn.captured.items()).toEqual([])
    expect(turn.rich).toBe(false)
  })

  it("is rich by anything but text, usage, session info and commands", () => {
    const richBy = (sessionUpdate: string) => fold([{ sessionUpdate }]).rich
    for (const kind of ["usage_update", "session_info_update", "available_commands_update", "config_option_update"])
      expect(richBy(kind)).toBe(false)
    for (const kind of ["tool_call", "tool_call_update", "plan", "plan_update", "notice", "compaction_update", "terminal_update"])
      expect(richBy(kind)).toBe(true)
  })

  it("S72 empties content that only repeats rawOutput as JSON, and only that", () => {
    const tool = (content: Json, rawOutput: Json): JsonObject => ({
      sessionUpdate: "tool_call_update",
      toolCallId: "t",
      content,
      rawOutput,
    })
    const wrapped = (text: string): Json => [{ type: "content", content: textBlock(text) }]
    const contentOf = (content: Json, rawOutput: Json) => fold([tool(content, rawOutput)]).captured.items()[0]?.content
    expect(contentOf(wrapped('{"b":[1],"a":"x"}'), { a: "x", b: [1] })).toEqual([])
    expect(contentOf(wrapped("12345678901234567890"), 12345678901234567890n)).toEqual([])
    expect(contentOf([textBlock("[1,2]")], [1, 2])).toEqual([])
    for (const [content, rawOutput] of [
      [wrapped('{"a":2}'), { a: 1 }],
      [wrapped("not json"), "not json"],
      [
        [
          { type: "content", content: textBlock("[1]") },
          { type: "content", content: image },
        ],
        [1],
      ],
      [[{ type: "content", content: { ...textBlock("[1]"), annotations: {} } }], [1]],
      [[{ type: "diff", path: "/a", newText: "[1]" }], [1]],
      [[], [1]],
      [null, null],
    ] as ReadonlyArray<[Json, Json]>) {
      expect(contentOf(content, rawOutput)).toEqual(content)
    }
    const deep = Array.from({ length: 20_000 }).reduce<Json>((inner) => [inner], "[1]")
    expect(fold([tool(deep, [1])]).captured.items()[0]?.content === deep).toBe(true)
    expect(
      fold([{ sessionUpdate: "tool_call_update", toolCallId: "t", content: wrapped("[1]") }]).captured.items()[0]?.content,
    ).toEqual(wrapped("[1]"))
  })

  it("keeps within items and bytes; what does not fit is left out, smaller ones after it still fit", () => {
    const notice = (size: number): JsonObject => ({ sessionUpdate: "notice", title: "x".repeat(size) })
    const many = fold(Array.from({ length: 70 }, () => notice(1)))
    expect(many.captured.items()).toHaveLength(64)
    expect(many.captured.truncated).toBe(true)
    const tight = fold([notice(10), notice(500), notice(20)], { ...bounds, items: 64, itemBytes: 200 })
    expect(tight.captured.items()).toEqual([notice(10), notice(20)])
    expect(tight.captured.truncated).toBe(true)
    expect(fold([notice(10)]).captured.truncated).toBe(false)
  })

  it("gives the bytes of a replaced message back to what comes after", () => {
    const rich = (id: string): JsonObject => ({
      sessionUpdate: "agent_message_chunk",
      messageId: id,
      content: { ...image, data: "a".repeat(80) },
    })
    const room = { ...bounds, items: 64, itemBytes: 250 }
    expect(fold([rich("m"), rich("n")], room).captured.truncated).toBe(true)
    expect(fold([rich("m"), whole("m", null), rich("n")], room).captured.items()).toEqual([rich("n")])
  })

  it("survives updates of every shape", () => {
    const junk: ReadonlyArray<Json> = [
      null,
      1,
      "x",
      [],
      {},
      [[]],
      { type: "text" },
      { type: "text", text: 1 },
      [{ type: "text", text: "t" }],
    ]
    for (const kind of ["agent_message_chunk", "agent_message", "tool_call", "tool_call_update", "plan", "usage_update"]) {
      for (const value of junk)
        fold([
          { sessionUpdate: kind, content: value, messageId: value, toolCallId: value, status: value, entries: value },
        ]).text.text()
    }
  })
})

const Op = Schema.Union([
  Schema.Struct({ op: Schema.Literal("chunk"), text: Schema.String }),
  Schema.Struct({ op: Schema.Literal("whole"), text: Schema.String }),
  Schema.Struct({ op: Schema.Literal("clear") }),
  Schema.Struct({ op: Schema.Literal("keep") }),
])

const updateOf = (id: string, op: typeof Op.Type): JsonObject => {
  switch (op.op) {
    case "chunk":
      return chunk(op.text, id)
    case "whole":
      return whole(id, [textBlock(op.text)])
    case "clear":
      return whole(id, null)
    case "keep":
      return whole(id)
  }
}

const alone = (ops: ReadonlyArray<typeof Op.Type>): string =>
  ops.reduce((text, op) => (op.op === "chunk" ? text + op.text : op.op === "whole" ? op.text : op.op === "clear" ? "" : text), "")

it.prop(
  "S112 folds each message the same under any interleaving, in order of first sight",
  {
    messages: Schema.Array(Schema.Array(Op).check(Schema.isMinLength(1))).check(Schema.isMinLength(1), Schema.isMaxLength(4)),
    picks: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 }))),
  },
  ({ messages, picks }) => {
    const left = messages.map((ops, at) => ({ id: `m${at}`, ops: [...ops] }))
    const seen: Array<string> = []
    const updates: Array<JsonObject> = []
    for (let turn = 0; left.some(({ ops }) => ops.length > 0); turn++) {
      const open = left.filter(({ ops }) => ops.length > 0)
      const { id, ops } = open[(picks[turn] ?? turn) % open.length] as (typeof left)[number]
      if (!seen.includes(id)) seen.push(id)
      updates.push(updateOf(id, ops.shift() as typeof Op.Type))
    }
    expect(fold(updates).text.text()).toBe(seen.map((id) => alone(messages[Number(id.slice(1))] ?? [])).join(""))
  },
  { arbitrary: { runs: 500 } },
)
