import { LanguageValue } from "@acp-kit/orchestrator/LanguageValue"
import type { Json } from "@acp-kit/runlet/Host"
import { fromJson, NotJson } from "@acp-kit/runlet/JsonValue"
import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"

const big = 2n ** 64n
const holds = (json: Json) => !(fromJson(json) instanceof NotJson)

describe("what a verb gives", () => {
  it("S61 S71 is held by a program whatever the child said: too large an output is text, too large an item is left out", () => {
    const item = (rawOutput: Json) => ({ sessionUpdate: "tool_call_update", toolCallId: "t", rawOutput })
    const given = {
      id: "s-1",
      generation: 1,
      output: { n: big },
      updates: { items: [item(1), item(big), item(Infinity), item(2n ** 63n - 1n)], truncated: false },
    }
    const held = {
      id: "s-1",
      generation: 1,
      output: '{"n":18446744073709551616}',
      updates: { items: [item(1), item(2n ** 63n - 1n)], truncated: true },
    }
    expect(LanguageValue.toValue(given)).toEqual(held)
    expect(LanguageValue.toValue([given, { id: "s-2" }])).toEqual([held, { id: "s-2" }])
    expect(LanguageValue.toValue({ messageId: big })).toBe('{"messageId":18446744073709551616}')
    for (const value of [given, [given], { messageId: big }, big]) expect(holds(LanguageValue.toValue(value))).toBe(true)
  })

  it.prop("is given back as it is where a program can hold it", [Schema.Json], ([json]) => {
    const value = json as Json
    if (holds(value)) expect(LanguageValue.toValue(value)).toBe(value)
  })
})
