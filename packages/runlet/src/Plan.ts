import { Effects } from "./Effects.ts"
import type { Policy } from "./Host.ts"
import type { Registry } from "./Registry.ts"
import { isTool } from "./Registry.ts"
import type { Program } from "./Runlet.ts"
import type { Lines } from "./Span.ts"
import { type Block, blocks, type Expr, operands, type Statement } from "./Syntax.ts"

export type StepKind = "call" | "if" | "for" | "fold" | "after" | "boundary" | "guard" | "fail"

/** One thing that a run may do, and what has to have happened before. */
export interface Step {
  /** Position in the plan, from 1. */
  readonly id: number
  readonly kind: StepKind
  /** The tool, or the construct as the source writes its head. */
  readonly label: string
  /** The name its value is bound to. */
  readonly binding: string | undefined
  readonly line: number
  readonly column: number
  /** The construct it stands in; it runs only if and as often as that does. */
  readonly parent: number | undefined
  /** Steps whose value or completion it needs; without any it starts as soon as its construct does. */
  readonly waitsFor: ReadonlyArray<number>
  readonly policy: Policy | undefined
  /** Evaluated only if something needs its value. */
  readonly lazy: boolean
}

type Ids = ReadonlySet<number>

const none: Ids = new Set()
const join = (...sets: ReadonlyArray<Ids>): Ids => new Set(sets.flatMap((set) => [...set]))

interface Place {
  readonly names: Map<string, Ids>
  readonly parent: number | undefined
  /** Guards and gates that everything here waits for. */
  readonly gates: Ids
  readonly binding: string | undefined
  readonly lazy: boolean
}

class Planner {
  readonly steps: Array<Step> = []
  readonly registry: Registry
  readonly effects: Effects
  readonly lines: Lines
  readonly source: string

  constructor(program: Program) {
    this.registry = program.registry
    this.effects = new Effects(program.registry)
    this.lines = program.lines
    this.source = program.source
  }

  step(
    kind: StepKind,
    label: string,
    expr: { readonly span: Expr["span"] },
    place: Place,
    waitsFor: Ids,
    policy?: Policy,
  ): number {
    const id = this.steps.length + 1
    const { column, line } = this.lines.place(expr.span.start)
    const { binding, lazy, parent } = place
    this.steps.push({
      id,
      kind,
      label,
      binding,
      line,
      column,
      parent,
      waitsFor: [...join(waitsFor, place.gates)].sort((a, b) => a - b),
      policy,
      lazy,
    })
    return id
  }

  /** Reserves a step before its parts are walked, so that steps stand in source order. */
  ahead(kind: StepKind, label: string, expr: Expr, place: Place): { readonly id: number; readonly wait: (ids: Ids) => void } {
    const id = this.step(kind, label, expr, place, none)
    return {
      id,
      wait: (ids) => {
        const step = this.steps[id - 1]!
        this.steps[id - 1] = { ...step, waitsFor: [...join(new Set(step.waitsFor), ids)].sort((a, b) => a - b) }
      },
    }
  }

  block(block: Block, outer: Place, bound: ReadonlyArray<readonly [string, Ids]>): Ids {
    const names = new Map([...outer.names, ...bound])
    let gates = none
    let roots: Array<number> = []
    for (const statement of block.statements) {
      const from = this.steps.length
      const place: Place = { ...outer, names, gates, binding: undefined, lazy: false }
      switch (statement.kind) {
        case "bind": {
          const lazy = !this.effects.isRoot(statement)
          names.set(statement.name.name, this.expr(statement.value, { ...place, binding: statement.name.name, lazy }))
          if (!lazy) roots.push(...this.own(from, outer.parent))
          break
        }
        case "discard":
          this.expr(statement.value, place)
          roots.push(...this.own(from, outer.parent))
          break
        default: {
          const id = this.guard(statement, place, new Set(roots))
          gates = new Set([id])
          roots = []
        }
      }
    }
    return this.expr(block.result, { ...outer, names, gates, binding: undefined, lazy: false })
  }

  own(from: number, parent: number | undefined): ReadonlyArray<number> {
    return this.steps.slice(from).flatMap((step) => (step.parent === parent ? [step.id] : []))
  }

  guard(statement: Statement & { kind: "skip" | "assert" }, place: Place, roots: Ids): number {
    const { condition } = statement
    const needs = condition === undefined ? none : this.expr(condition, place)
    return this.step("guard", this.head(statement.span.start, statement.span.end), statement, place, join(needs, roots))
  }

  head(start: number, end: number): string {
    const text = this.source.slice(start, end).replace(/\s+/g, " ").trim()
    return text.length > 60 ? `${text.slice(0, 57)}...` : text
  }

  /** Walks what is needed together; an effect waits for the steps ahead of it in the same expression. */
  parts(exprs: ReadonlyArray<Expr>, place: Place): Ids {
    let before = none
    let ids = none
    for (const expr of exprs) {
      const gates = this.effects.effectful(expr) ? join(place.gates, before) : place.gates
      const found = this.expr(expr, { ...place, gates })
      ids = join(ids, found)
      before = join(before, found)
    }
    return ids
  }

  expr(expr: Expr, place: Place): Ids {
    switch (expr.kind) {
      case "name":
        return place.names.get(expr.name) ?? none
      case "call": {
        const needs = this.parts(expr.args, place)
        const callable = expr.path === undefined ? undefined : this.registry.lookup(expr.path)
        if (callable === undefined || !isTool(callable.implementation)) return needs
        return new Set([this.step("call", callable.name, expr, place, needs, callable.policy)])
      }
      case "fail":
        return new Set([this.step("fail", this.head(expr.span.start, expr.span.end), expr, place, this.parts(expr.args, place))])
      case "conditional": {
        const { id, wait } = this.ahead("if", this.head(expr.condition.span.start, expr.condition.span.end), expr, place)
        wait(this.expr(expr.condition, place))
        const inner = { ...place, parent: id, gates: none, binding: undefined, lazy: false }
        this.expr(expr.value, inner)
        if (expr.other !== undefined) this.expr(expr.other, inner)
        return this.kept(id, place)
      }
      case "if":
      case "for":
      case "fold":
      case "after":
      case "boundary":
        return this.construct(expr, place)
      default:
        return this.parts(operands(expr), place)
    }
  }

  construct(expr: Expr & { kind: "if" | "for" | "fold" | "after" | "boundary" }, place: Place): Ids {
    const first = blocks(expr)[0]!
    const { id, wait } = this.ahead(expr.kind, this.head(expr.span.start, first.span.start), expr, place)
    const inner: Place = { ...place, parent: id, gates: none, binding: undefined, lazy: false }
    switch (expr.kind) {
      case "if":
        for (const arm of expr.arms) {
          wait(this.expr(arm.condition, place))
          this.block(arm.body, inner, [])
        }
        if (expr.otherwise !== undefined) this.block(expr.otherwise, inner, [])
        break
      case "for":
        wait(this.expr(expr.collection, place))
        this.block(expr.body, inner, [[expr.item.name, none]])
        break
      case "fold":
        wait(this.parts([expr.seed, expr.collection], place))
        this.block(expr.body, inner, [
          [expr.accumulator.name, none],
          [expr.item.name, none],
        ])
        break
      case "after":
        wait(this.expr(expr.gate, place))
        this.block(expr.body, inner, [])
        break
      case "boundary":
        this.block(expr.body, inner, [])
        this.block(expr.handler, inner, [[expr.error.name, none]])
    }
    return this.kept(id, place)
  }

  /** A construct that holds no step of its own is no step either: what it needs goes through. */
  kept(id: number, place: Place): Ids {
    if (this.steps.length > id) return new Set([id])
    const { waitsFor } = this.steps.pop()!
    return new Set(waitsFor.filter((each) => !place.gates.has(each)))
  }
}

/** What a program would do, without running it: its calls and constructs in source order, each with what it waits for. */
export const plan = (program: Program): ReadonlyArray<Step> => {
  const planner = new Planner(program)
  planner.block(program.syntax, { names: new Map(), parent: undefined, gates: none, binding: undefined, lazy: false }, [])
  return planner.steps
}

const when = (step: Step): string => {
  const { lazy, parent, waitsFor } = step
  const others = waitsFor.filter((id) => id !== parent)
  const start = others.length > 0 ? `after ${others.join(", ")}` : parent === undefined ? "at once" : "with its block"
  return lazy ? `${start}, only if needed` : start
}

/** A plan as lines for people: number, place, what, and when. */
export const renderPlan = (steps: ReadonlyArray<Step>): string => {
  const depths = new Map<number | undefined, number>([[undefined, 0]])
  const rows = steps.map((step) => {
    const depth = depths.get(step.parent) ?? 0
    depths.set(step.id, depth + 1)
    const name = step.binding === undefined ? step.label : `${step.binding} = ${step.label}`
    const what = `${"  ".repeat(depth)}${name}${step.policy === "pure" ? " (pure)" : ""}`
    return [String(step.id), `${step.line}:${step.column}`, what, when(step)] as const
  })
  const widths = [0, 1, 2].map((column) => Math.max(0, ...rows.map((row) => row[column]!.length)))
  return rows
    .map(
      ([id, place, what, start]) =>
        `${id.padStart(widths[0]!)}  ${place.padEnd(widths[1]!)}  ${what.padEnd(widths[2]!)}  ${start}`,
    )
    .join("\n")
}

export * as Plan from "./Plan.ts"
