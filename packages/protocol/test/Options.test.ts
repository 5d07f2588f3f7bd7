import type { Json } from "@acp-kit/protocol/Json"
import { chooseOption, modelOption, readOptions } from "@acp-kit/protocol/Options"
import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"

const select = (id: string, category?: string): Json => ({
  id,
  name: id,
  type: "select",
  currentValue: "a",
  options: [{ value: "a", name: "A" }],
  ...(category === undefined ? {} : { category }),
})

const choose = (snapshot: ReadonlyArray<Json>, key: string, value: string | boolean) => {
  const chosen = chooseOption(readOptions(snapshot), key, value)
  return Result.isSuccess(chosen) ? chosen.success.id : chosen.failure.reason
}

describe("Options", () => {
  it("S124 reads id and configId, flat and grouped choices alike", () => {
    const grouped = {
      type: "select",
      currentValue: "b",
      options: [{ group: "g", groupId: "g", name: "G", options: [{ value: "b" }, { value: "c" }] }],
    }
    const [v1, v2] = readOptions([
      { id: "effort", category: "thought_level", ...grouped },
      { configId: "effort", category: "thought_level", ...grouped },
    ])
    expect(v1).toMatchObject({ id: "effort", category: "thought_level", type: "select", values: ["b", "c"], currentValue: "b" })
    expect(v2).toMatchObject({ id: "effort", values: ["b", "c"] })
  })

  it("passes over what has no id and survives any shape", () => {
    expect(
      readOptions([null, 1, "x", [], {}, { id: 7 }, { id: "a", options: "x" }, { id: "b", options: [null, { value: 1 }] }]),
    ).toMatchObject([
      { id: "a", values: [] },
      { id: "b", values: [] },
    ])
    expect(readOptions(undefined)).toEqual([])
    const deep = Array.from({ length: 50_000 }).reduce<Json>((inner) => ({ options: [inner] }), { value: "x" })
    expect(readOptions([{ id: "c", options: [deep, { value: "y" }] }])).toMatchObject([{ id: "c", values: ["y"] }])
  })

  it("S22 takes the option with id model, else the only select of category model", () => {
    const model = (...snapshot: ReadonlyArray<Json>) => modelOption(readOptions(snapshot))?.id
    expect(model(select("m1", "model"), select("model"))).toBe("model")
    expect(model(select("llm", "model"), select("mode", "mode"))).toBe("llm")
    expect(model(select("m1", "model"), select("m2", "model"))).toBeUndefined()
    expect(model({ id: "model", type: "boolean", currentValue: true })).toBeUndefined()
    expect(model()).toBeUndefined()
  })

  it("S124 finds by id, else by an unambiguous category; missing, ambiguous and incompatible are refused", () => {
    const snapshot = [
      select("effort", "thought_level"),
      select("a", "mode"),
      select("b", "mode"),
      { id: "auto", type: "boolean", currentValue: false },
    ]
    expect(choose(snapshot, "effort", "x")).toBe("effort")
    expect(choose(snapshot, "thought_level", "x")).toBe("effort")
    expect(choose(snapshot, "a", "x")).toBe("a")
    expect(choose(snapshot, "mode", "x")).toBe("ambiguous")
    expect(choose(snapshot, "none", "x")).toBe("missing")
    expect(choose(snapshot, "auto", true)).toBe("auto")
    expect(choose(snapshot, "auto", "true")).toBe("incompatible")
    expect(choose(snapshot, "effort", true)).toBe("incompatible")
    expect(choose([{ id: "x", type: "_slider", currentValue: 1 }], "x", "1")).toBe("incompatible")
  })

  it("S124 refuses the model by id and by category", () => {
    expect(choose([select("model")], "model", "x")).toBe("model")
    expect(choose([select("llm", "model")], "llm", "x")).toBe("model")
    expect(choose([select("llm", "model")], "model", "x")).toBe("model")
  })
})
