import type { Effects } from "../Effects.ts"
import type { Code, Frame, Task } from "../Frame.ts"
import { force } from "../Frame.ts"
import { Outcome, type Result } from "../Outcome.ts"
import type { Registry } from "../Registry.ts"
import type { Lines, Span } from "../Span.ts"
import type { Block, Expr, Fold, Name } from "../Syntax.ts"
import type { Type } from "../Types.ts"

/** The names of one block while it is lowered: each stands for a slot of its frame. */
export class Scope {
  readonly parent: Scope | undefined
  readonly slots = new Map<string, number>()
  /** The expression behind each slot; none for names that the construct itself binds. */
  readonly sources: Array<Expr | undefined> = []
  /** Slots whose bindings are evaluated whether needed or not, and once: they have effects. */
  readonly roots = new Set<number>()

  constructor(parent: Scope | undefined, names: ReadonlyArray<string>) {
    this.parent = parent
    for (const name of names) this.declare(name, undefined)
  }

  declare(name: string | undefined, source: Expr | undefined, root = false): number {
    const slot = this.sources.length
    if (root) this.roots.add(slot)
    this.sources.push(source)
    if (name !== undefined) this.slots.set(name, slot)
    return slot
  }

  /** How many frames up, and which slot. */
  resolve(name: string): { readonly hops: number; readonly slot: number; readonly scope: Scope } | undefined {
    let hops = 0
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.parent) {
      const slot = scope.slots.get(name)
      if (slot !== undefined) return { hops, slot, scope }
      hops++
    }
    return undefined
  }
}

/** A block ready to run in frames of its own. */
export interface Body {
  readonly thunks: ReadonlyArray<Code | undefined>
  readonly run: Code
  /** Graph: the nodes that made the result, once the block has run in a frame. */
  readonly made: (frame: Frame) => ReadonlyArray<string>
}

/** What the parts of the lowering share. */
export interface Lowering {
  readonly registry: Registry
  readonly effects: Effects
  readonly lines: Lines
  /** Folds whose body value is converted to a type at every step. */
  readonly foldTypes: ReadonlyMap<Fold, Type>
  readonly expr: (expr: Expr, scope: Scope) => Code
  readonly block: (block: Block, scope: Scope, names: ReadonlyArray<string>) => Body
}

/** Reads a name. */
export const reference = ({ name, span }: Name, scope: Scope): Code => {
  const found = scope.resolve(name)
  if (found === undefined) throw new Error(`unresolved name ${name}`)
  const { hops, slot } = found
  const pure = !found.scope.roots.has(slot)
  if (hops === 0) return (frame, task, depth) => readSlot(frame, slot, task, depth, span, pure)
  if (hops === 1) return (frame, task, depth) => readSlot(frame.parent!, slot, task, depth, span, pure)
  return (frame, task, depth) => readSlot(up(frame, hops), slot, task, depth, span, pure)
}

export const up = (frame: Frame, hops: number): Frame => {
  let at = frame
  for (let hop = 0; hop < hops; hop++) at = at.parent!
  return at
}

const readSlot = (frame: Frame, slot: number, task: Task, depth: number, span: Span, pure: boolean): Result => {
  const known = frame.slots[slot]
  return known === undefined || known instanceof Outcome ? force(frame, slot, task, depth, span, pure) : known
}

/** The nodes that made the value of an expression, looked up through names and through what has no node of its own. */
export const producers = (expr: Expr, scope: Scope, frame: Frame): ReadonlyArray<string> => {
  const own = frame.noted(expr)
  if (own !== undefined) return [own]
  switch (expr.kind) {
    case "name": {
      const found = scope.resolve(expr.name)
      const source = found?.scope.sources[found.slot]
      return found === undefined || source === undefined ? [] : producers(source, found.scope, up(frame, found.hops))
    }
    case "member":
    case "index":
      return producers(expr.target, scope, frame)
    case "unary":
      return producers(expr.operand, scope, frame)
    case "binary":
      return [...producers(expr.left, scope, frame), ...producers(expr.right, scope, frame)]
    case "list":
      return expr.items.flatMap((item) => producers(item, scope, frame))
    case "object":
      return expr.entries.flatMap((entry) => producers(entry.value, scope, frame))
    default:
      return []
  }
}
