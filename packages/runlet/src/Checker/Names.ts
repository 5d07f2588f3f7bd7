import type { Span } from "../Span.ts"
import type { Expr, Statement } from "../Syntax.ts"
import type { Type } from "../Types.ts"

/** A name and what is known of it. */
export interface Binding {
  readonly name: string
  readonly type: Type
  readonly span: Span
  /** The statement that made it; none for inputs and for names that a construct binds. */
  readonly statement: Statement | undefined
}

/** The statement, or the result, that the checker is in. */
export type Place = Statement | Expr

/** The names of one block, and which of its statements reads which of its names. */
export class Names {
  readonly parent: Names | undefined
  readonly bindings = new Map<string, Binding>()
  readonly made = new Map<Statement, Binding>()
  readonly reads = new Map<Place, Set<Binding>>()
  /** The statement being checked. */
  place: Place | undefined
  /** The name that statement is about to bind. */
  pending: string | undefined

  constructor(parent: Names | undefined) {
    this.parent = parent
  }

  declare(name: string, type: Type, span: Span, statement?: Statement): Binding {
    const binding: Binding = { name, type, span, statement }
    this.bindings.set(name, binding)
    if (statement !== undefined) this.made.set(statement, binding)
    return binding
  }

  /** Finds a name and notes who read it. `itself` when the only binding of that name lies outside the one that is being made. */
  read(name: string): { readonly binding: Binding | undefined; readonly itself: boolean } {
    let itself = false
    for (let names: Names | undefined = this; names !== undefined; names = names.parent) {
      const binding = names.bindings.get(name)
      if (binding !== undefined) {
        if (names.place !== undefined) {
          const reads = names.reads.get(names.place) ?? new Set()
          names.reads.set(names.place, reads.add(binding))
        }
        return { binding, itself }
      }
      if (names.pending === name) itself = true
    }
    return { binding: undefined, itself: false }
  }

  /** Every visible name, innermost first. */
  *visible(): Generator<string> {
    for (let names: Names | undefined = this; names !== undefined; names = names.parent) yield* names.bindings.keys()
  }

  /** The bindings that some statements read, directly or through other bindings of this block. */
  reachable(from: Iterable<Place>): ReadonlySet<Binding> {
    const found = new Set<Binding>()
    const open = [...from]
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      for (const binding of this.reads.get(place) ?? []) {
        if (found.has(binding)) continue
        found.add(binding)
        if (binding.statement !== undefined) open.push(binding.statement)
      }
    }
    return found
  }
}
