import { Capture } from "@acp-kit/orchestrator/Capture"
import type { JsonObject } from "@acp-kit/runlet/Host"
import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

const limits = { updateItems: 64, updateBytes: 65_536 }

const turn = (
  items: ReadonlyArray<JsonObject>,
  more: { rich?: boolean; truncated?: boolean; configOptions?: ReadonlyArray<JsonObject> } = {},
) => ({
  items,
  truncated: more.truncated ?? false,
  rich: more.rich ?? items.length > 0,
  configOptions: more.configOptions,
})

const call = (text: string): JsonObject => ({ sessionUpdate: "tool_call", toolCallId: "c", title: text })
const usage: JsonObject = { sessionUpdate: "usage_update", used: 1, size: 2 }
const option = (value: string): ReadonlyArray<JsonObject> => [{ id: "model", type: "select", currentValue: value, options: [] }]
const snapshot = (value: string): JsonObject => ({ sessionUpdate: "config_option_update", configOptions: option(value) })

describe("Capture", () => {
  it("makes no updates of a turn with text and at most usage, titles, commands and an unchanged snapshot", () => {
    const baseline = Capture.snapshotText(option("a"))
    expect(Capture.updatesOf(turn([usage], { rich: false, configOptions: option("a") }), baseline, limits)).toBeUndefined()
  })

  it("makes updates where the snapshot changed, and then holds all that was captured", () => {
    const baseline = Capture.snapshotText(option("a"))
    expect(Capture.updatesOf(turn([usage], { rich: false, configOptions: option("b") }), baseline, limits)).toEqual({
      items: [usage, snapshot("b")],
      truncated: false,
    })
  })

  it("adds the latest snapshot to a rich turn, changed or not", () => {
    const baseline = Capture.snapshotText(option("a"))
    expect(Capture.updatesOf(turn([call("x")], { configOptions: option("a") }), baseline, limits)?.items).toEqual([
      call("x"),
      snapshot("a"),
    ])
  })

  it("keeps 64 items, the snapshot among them, and says that it left some out", () => {
    const many = Array.from({ length: 70 }, (_, at) => call(String(at)))
    const updates = Capture.updatesOf(turn(many, { configOptions: option("b") }), undefined, limits)
    expect(updates?.items).toEqual([...many.slice(0, 63), snapshot("b")])
    expect(updates?.truncated).toBe(true)
  })

  it("skips an item that does not fit, and still takes a smaller later one", () => {
    const updates = Capture.updatesOf(turn([call("x".repeat(65_000)), call("y".repeat(2_000)), call("z")]), undefined, limits)
    expect(updates?.items).toEqual([call("x".repeat(65_000)), call("z")])
    expect(updates?.truncated).toBe(true)
  })

  it("leaves out a snapshot that alone is too large", () => {
    const updates = Capture.updatesOf(turn([call("x")], { configOptions: option("y".repeat(70_000)) }), undefined, limits)
    expect(updates).toEqual({ items: [call("x")], truncated: true })
  })

  it("passes on that the wire left something out", () => {
    expect(Capture.updatesOf(turn([call("x")], { truncated: true }), undefined, limits)?.truncated).toBe(true)
  })

  it.prop(
    "stays within items and bytes, and keeps the order of what it keeps",
    {
      sizes: Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20_000 }))), {
        maxLength: 90,
      }),
    },
    ({ sizes }) => {
      const items = sizes.map((size, at) => ({ sessionUpdate: "plan", at, text: "x".repeat(size) }))
      const updates = Capture.updatesOf(turn(items, { rich: true }), undefined, limits)
      const kept = updates?.items ?? []
      expect(kept.length).toBeLessThanOrEqual(64)
      expect(kept.reduce((sum, item) => sum + JSON.stringify(item).length, 0)).toBeLessThanOrEqual(65_536)
      expect(kept).toEqual(items.filter((item) => kept.includes(item)))
      expect(updates?.truncated).toBe(kept.length < items.length)
    },
  )
})
