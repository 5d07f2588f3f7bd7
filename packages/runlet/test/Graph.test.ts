import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import type { GraphEdge, GraphEvent, GraphNode } from "../src/Graph.ts"
import { run } from "../src/Runlet.ts"
import { compiled } from "./Programs.ts"
import { type ScriptedTool, Stage, settle } from "./Scripted.ts"

const tools = (...scripts: ReadonlyArray<ScriptedTool>) => {
  const stage = new Stage()
  return { stage, options: { tools: scripts.map((script) => stage.tool(script)) } }
}

/** What an observer makes of a run. */
const watch = (detail?: "calls" | "all") => {
  const events: Array<GraphEvent> = []
  const nodes = new Map<string, GraphNode>()
  const edges: Array<GraphEdge> = []
  const states = new Map<string, Array<string>>()
  return {
    events,
    nodes,
    edges,
    states,
    observer: {
      ...(detail === undefined ? {} : { detail }),
      onEvent: (event: GraphEvent) => {
        events.push(event)
        const { change } = event
        if (change.type === "edge_added") edges.push(change.value)
        else {
          nodes.set(change.value.id, change.value)
          states.set(change.value.id, [...(states.get(change.value.id) ?? []), change.value.state])
        }
      },
    },
    labels: (kind: string) => [...nodes.values()].filter((node) => node.kind === kind).map((node) => node.label),
    find: (label: string) => [...nodes.values()].filter((node) => node.label === label),
    between: (kind: string) =>
      edges.filter((edge) => edge.kind === kind).map((edge) => `${nodes.get(edge.from)!.label} -> ${nodes.get(edge.to)!.label}`),
  }
}

const echo: ScriptedTool = { name: "p.echo", params: [true], impl: { sleepMs: 1, echo: 0 } }
const write: ScriptedTool = { name: "w.put", params: [true], policy: "idempotent", impl: { echo: 0 } }

describe("events", () => {
  it.effect("are numbered from 1 without gaps, the root first, every node settled at the end", () =>
    Effect.gen(function* () {
      const seen = watch("all")
      yield* settle(compiled("a = p.echo(1)\nreturn for i in [a, 2] { return { v: i + 1 } }", tools(echo).options), {
        observer: seen.observer,
      })
      expect(seen.events.map(({ sequence }) => sequence)).toEqual(seen.events.map((_, index) => index + 1))
      expect(seen.events[0]!.change).toMatchObject({
        type: "node_added",
        value: { id: "n00000001", kind: "root", label: "return" },
      })
      expect([...seen.nodes.values()].map(({ state }) => state)).toEqual([...seen.nodes.values()].map(() => "succeeded"))
      for (const { from, to } of seen.edges) expect(seen.nodes.has(from) && seen.nodes.has(to)).toBe(true)
    }),
  )

  it.effect("show a call ready, blocked, dispatching, running and settled, with its first argument in the label", () =>
    Effect.gen(function* () {
      const seen = watch()
      yield* settle(compiled('return p.echo("hello")', tools(echo).options), { observer: seen.observer })
      const [call] = seen.find("p.echo · hello")
      expect(call).toMatchObject({ kind: "call", state: "succeeded", output: "hello", attempt: 0, span: { start: 7, end: 22 } })
      expect(seen.states.get(call!.id)).toEqual(["ready", "ready", "blocked", "dispatching", "running", "succeeded"])
    }),
  )

  it.effect("leave out operators, projections, literals and conversions unless asked for all", () =>
    Effect.gen(function* () {
      const source = "x = { a: [1] }\ny = text.length(5 + x.a[0])\nreturn y if y > 0 and true else -y"
      const coarse = watch()
      yield* settle(compiled(source), { observer: coarse.observer })
      expect(new Set([...coarse.nodes.values()].map(({ kind }) => kind))).toEqual(new Set(["root", "branch", "call"]))
      const fine = watch("all")
      yield* settle(compiled(source), { observer: fine.observer })
      expect(fine.labels("compute")).toEqual(["Greater", "Add"])
      expect(fine.labels("project")).toEqual(["index", ".a"])
      expect(fine.labels("composite")).toEqual(["object", "list"])
      expect(fine.labels("convert")).toEqual(["convert"])
      expect(fine.labels("branch")).toEqual(["if", "And"])
    }),
  )

  it.effect("tell loops, their iterations by item or name, folds and what each owns", () =>
    Effect.gen(function* () {
      const seen = watch()
      const source =
        'xs = for p in [{ name: "ada" }, { name: "bob" }] { return p.echo(p.name) }\nreturn fold a = "" for x in xs { return a + x }'
      yield* settle(compiled(source, tools(echo).options), { observer: seen.observer })
      expect(seen.labels("loop")).toEqual(["fold", "for concurrency 16"])
      expect(seen.labels("iteration")).toEqual(["p[0] ada", "p[1] bob", "x[0] ada", "x[1] bob"])
      expect(seen.between("contains")).toEqual([
        "for concurrency 16 -> p[0] ada",
        "p[0] ada -> p.echo · ada",
        "for concurrency 16 -> p[1] bob",
        "p[1] bob -> p.echo · bob",
        "fold -> x[0] ada",
        "fold -> x[1] bob",
      ])
    }),
  )

  it.effect("draw data to each argument from the call that made it, through names and what has no node", () =>
    Effect.gen(function* () {
      const seen = watch()
      const source = "a = p.echo(1)\nb = a + 1\nc = w.put({ x: b, y: [a] })\nreturn c"
      yield* settle(compiled(source, tools(echo, write).options), { observer: seen.observer })
      expect(seen.between("data")).toEqual(["p.echo -> w.put", "p.echo -> w.put", "w.put -> return"])
      expect(seen.edges.find(({ kind }) => kind === "data")).toMatchObject({ fromPath: "output", toPath: "argument[0]" })
      expect(seen.edges.at(-1)).toMatchObject({ kind: "data", fromPath: "result", toPath: "return" })
    }),
  )

  it.effect("order every call under a gate behind it", () =>
    Effect.gen(function* () {
      const seen = watch()
      const source = "a = p.echo(1)\nreturn after a { x = for i in [1, 2] { return w.put(i) }; return x }"
      yield* settle(compiled(source, tools(echo, write).options), { observer: seen.observer })
      expect(seen.between("orders")).toEqual(["after -> w.put", "after -> w.put"])
    }),
  )

  it.effect("link a repeated call to its attempt before, under its boundary", () =>
    Effect.gen(function* () {
      const flaky: ScriptedTool = {
        name: "w.flaky",
        policy: "idempotent",
        impl: { failFirst: 1, fail: { code: "BUSY", message: "m", retryable: true }, return: 1 },
      }
      const seen = watch()
      yield* settle(compiled("return boundary retry 1 { return w.flaky() } catch e { return 0 }", tools(flaky).options), {
        observer: seen.observer,
      })
      expect(seen.labels("boundary")).toEqual(["boundary retry 1"])
      expect(seen.between("retry_of")).toEqual(["w.flaky -> w.flaky"])
      expect(seen.between("contains")).toEqual(["boundary retry 1 -> w.flaky", "boundary retry 1 -> w.flaky"])
      expect(seen.find("w.flaky").map(({ attempt, error, state }) => [attempt, state, error?.code])).toEqual([
        [0, "failed", "BUSY"],
        [1, "succeeded", undefined],
      ])
    }),
  )

  it.effect("show what failed and what was cancelled", () =>
    Effect.gen(function* () {
      const bad: ScriptedTool = { name: "w.bad", policy: "idempotent", impl: { fail: { code: "BAD", message: "m" } } }
      const seen = watch()
      const slow: ScriptedTool = { name: "w.slow", policy: "idempotent", impl: { sleepMs: 99 } }
      yield* settle(compiled("a = w.bad()\nb = w.slow()\nreturn [a, b]", tools(bad, slow).options), { observer: seen.observer })
      expect(seen.find("w.bad")[0]).toMatchObject({ state: "failed", error: { code: "BAD", message: "m" } })
      expect(seen.find("return")[0]).toMatchObject({ state: "failed" })
    }),
  )

  it.effect("show a run that is interrupted as cancelled", () =>
    Effect.gen(function* () {
      const { options, stage } = tools({ name: "w.slow", policy: "idempotent", impl: { sleepMs: 99 } })
      const seen = watch()
      const fiber = yield* Effect.forkChild(run(compiled("a = w.slow()\nreturn a", options), { observer: seen.observer }))
      while (stage.active === 0) yield* TestClock.adjust(1)
      yield* Fiber.interrupt(fiber)
      expect([...seen.nodes.values()].map(({ label, state }) => [label, state])).toEqual([
        ["return", "cancelled"],
        ["w.slow", "cancelled"],
      ])
    }),
  )

  it.effect("a guard's outcome is a branch of its own", () =>
    Effect.gen(function* () {
      const seen = watch()
      yield* settle(compiled('assert(1 < 2)\nassert(2 < 1, "no")\nreturn 1'), { observer: seen.observer })
      expect(seen.find("assert").map(({ state }) => state)).toEqual(["succeeded", "failed"])
    }),
  )
})
