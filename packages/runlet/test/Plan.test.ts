import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { GraphEvent } from "../src/Graph.ts"
import { GraphLine } from "../src/GraphLine.ts"
import { Plan } from "../src/Plan.ts"
import { compileRepairing } from "../src/Repair.ts"
import { compiled } from "./Programs.ts"
import { Stage, settle } from "./Scripted.ts"

const stage = new Stage()
const tools = [
  stage.tool({ name: "w.a", params: [true], required: 0, policy: "at_most_once", impl: { echo: 0 } }),
  stage.tool({ name: "p.b", params: [true], required: 0, impl: { echo: 0 } }),
]

const steps = (source: string) =>
  Plan.plan(compiled(source, { tools })).map(
    ({ id, label, parent, waitsFor }) => `${id} ${label}${parent === undefined ? "" : ` in ${parent}`} after [${waitsFor}]`,
  )

describe("the plan of a program", () => {
  it("lets independent calls wait for nothing, and dependent ones for those whose value they use, through names", () => {
    expect(steps("a = w.a(1)\nb = a + 1\nc = w.a(2)\nd = w.a([b, c])\nreturn d")).toEqual([
      "1 w.a after []",
      "2 w.a after []",
      "3 w.a after [1,2]",
    ])
  })

  it("keeps effects of one expression in order and lets pure calls overlap", () => {
    expect(steps("return [w.a(), p.b(), w.a(), p.b()]")).toEqual([
      "1 w.a after []",
      "2 p.b after []",
      "3 w.a after [1,2]",
      "4 p.b after []",
    ])
  })

  it("puts everything behind a guard that stands ahead of it", () => {
    expect(steps("a = w.a()\nassert(1 < 2)\nb = w.a()\nreturn b")).toEqual([
      "1 w.a after []",
      "2 assert(1 < 2) after [1]",
      "3 w.a after [2]",
    ])
  })

  it("nests what constructs hold, and leaves out those that hold no call", () => {
    expect(steps("xs = for x in [p.b()] { return w.a(x) }\nreturn after xs { return w.a(1 if true else 2) }")).toEqual([
      "1 for x in [p.b()] after [2]",
      "2 p.b after []",
      "3 w.a in 1 after []",
      "4 after xs after [1]",
      "5 w.a in 4 after []",
    ])
    expect(steps("x = if true { return 1 }\nreturn w.a(x)")).toEqual(["1 w.a after []"])
    expect(steps('return boundary { return w.a() } catch e { return fail(e.code, "x") }')).toEqual([
      "1 boundary after []",
      "2 w.a in 1 after []",
      '3 fail(e.code, "x") in 1 after []',
    ])
  })

  it("is written for people with places, names and when each step starts", () => {
    const source = "a = w.a(1)\nb = p.b(a)\nreturn after a { return w.a(b) }"
    expect(Plan.renderPlan(Plan.plan(compiled(source, { tools })))).toBe(
      [
        "1  1:5   a = w.a         at once",
        "2  2:5   b = p.b (pure)  after 1, only if needed",
        "3  3:8   after a         after 1",
        "4  3:25    w.a           after 2",
      ].join("\n"),
    )
  })

  it("calls nothing", () => {
    expect(stage.order).toEqual([])
  })
})

it.effect("writes each event of a run as one line of JSON, long outputs cut", () =>
  Effect.gen(function* () {
    const events: Array<GraphEvent> = []
    const source = 'a = p.b(text.join(for i in list.range(0, 3000) { return "x" }, ""))\nreturn [a, p.b("é\\n")]'
    yield* settle(compiled(source, { tools }), { observer: { onEvent: (event) => events.push(event) } })
    const lines = events.map(GraphLine.encode)
    const parsed = lines.map((line) => JSON.parse(line))
    expect(lines.join("").includes("\n")).toBe(false)
    expect(parsed.map(({ sequence }) => sequence)).toEqual(events.map(({ sequence }) => sequence))
    expect(parsed[0]).toEqual({
      sequence: 1,
      change: {
        type: "node_added",
        value: { id: "n00000001", kind: "root", label: "return", span: { start: 75, end: 90 }, state: "ready", attempt: 0 },
      },
    })
    expect(parsed.some(({ change }) => change.type === "edge_added" && change.value.kind === "contains")).toBe(true)
    const long = parsed.find(({ change }) => change.value.truncated !== undefined)
    expect(long.change.value.output).toHaveLength(GraphLine.MAX_OUTPUT)
    expect(
      parsed.find(({ change }) => change.value.label === "p.b · é\n" && change.value.state === "succeeded").change.value.output,
    ).toBe("é\n")
  }),
)

describe("compiling with repair", () => {
  it("checks what was healed and says what was done", () => {
    const repaired = compileRepairing("w.a(1)\nif true { return 1 }\nreturn 2", { tools })
    expect(repaired.source).toBe("fixed_1 = w.a(1)\nfixed_2 = if true { return 1 }\nreturn 2")
    expect(repaired.notes).toHaveLength(2)
    expect(repaired.compilation.ok && repaired.compilation.warnings.map(({ code }) => code)).toEqual(["RL1205"])
  })

  it("leaves sources alone that parse or cannot be healed", () => {
    expect(compileRepairing("return nope", { tools })).toMatchObject({
      source: "return nope",
      notes: [],
      compilation: { ok: false },
    })
    expect(compileRepairing("return (", { tools })).toMatchObject({
      source: "return (",
      notes: [],
      compilation: { diagnostics: [{ code: "RL1008" }] },
    })
  })
})
