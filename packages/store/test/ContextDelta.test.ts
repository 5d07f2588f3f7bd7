import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { apply, diff, equal } from "../src/ContextDelta.ts"
import { type JsonObject, parse, stringify } from "../src/Json.ts"

const member = Schema.Literals(["messages", "usage", "__proto__", "constructor", "0", "a"])
const State = Schema.Array(Schema.Tuple([member, Schema.Json]))

const stateOf = (members: typeof State.Type): JsonObject => {
  const text = members.map(([name, value]) => `${JSON.stringify(name)}:${stringify(value as never)}`).join(",")
  return parse(`{${text}}`) as JsonObject
}

const copy = (state: JsonObject): JsonObject => parse(stringify(state)) as JsonObject

describe("changes", () => {
  it.prop(
    "turn the state before into the state after, and are none between equal states",
    [Schema.Json, Schema.Json],
    ([a, b]) => {
      const before = copy({ value: a as never, list: [a as never] })
      const after = copy({ value: b as never, list: [a as never, b as never] })
      const changes = parse(stringify(diff(before, after) as never)) as ReadonlyArray<never>
      const state = copy(before)
      for (const change of changes) expect(apply(state, change)).toBe(true)
      expect(equal(state, after)).toBe(true)
      expect(diff(after, copy(after))).toEqual([])
    },
  )

  it.prop("are right for every name a member can have", [State, State], ([a, b]) => {
    const before = stateOf(a)
    const after = stateOf(b)
    const state = copy(before)
    for (const change of diff(before, after)) expect(apply(state, change as never)).toBe(true)
    expect(equal(state, after)).toBe(true)
    expect(Object.getPrototypeOf(state)).toBe(Object.prototype)
  })

  it("cost what an array gained at its end", () => {
    const messages = Array.from({ length: 1000 }, (_, index) => ({ index, text: "x".repeat(100) }))
    const changes = diff({ messages }, { messages: [...messages, { index: 1000, text: "new" }] })
    expect(changes).toEqual([["cut", ["messages"], 1000, [{ index: 1000, text: "new" }]]])
  })

  it("of a newer version are refused and change nothing", () => {
    const state = { a: 1 }
    for (const change of [
      null,
      "x",
      [],
      ["move", ["a"], "b"],
      ["set", [], 1],
      ["set", "a", 1],
      ["cut", ["a"], "1", []],
      ["set", ["a"]],
    ]) {
      expect(apply(state, change as never)).toBe(false)
    }
    expect(state).toEqual({ a: 1 })
  })
})
