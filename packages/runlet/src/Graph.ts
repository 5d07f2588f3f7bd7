import type { Span } from "./Span.ts"
import type { Value } from "./Value.ts"

export type NodeKind =
  | "root"
  | "call"
  | "compute"
  | "branch"
  | "convert"
  | "project"
  | "composite"
  | "loop"
  | "iteration"
  | "boundary"

/**
 * A call goes ready, blocked, dispatching, running, then succeeded or failed; what has steps inside is running until then; operators,
 * projections, literals and conversions only ready and settled. `cancelled` when it was interrupted.
 */
export type NodeState = "ready" | "blocked" | "dispatching" | "running" | "succeeded" | "failed" | "cancelled"

export interface GraphNode {
  /** `n` and eight hexadecimal digits, in creation order. */
  readonly id: string
  readonly kind: NodeKind
  readonly label: string
  readonly span: Span
  readonly state: NodeState
  readonly attempt: number
  readonly output?: Value
  readonly error?: { readonly code: string; readonly message: string }
}

/**
 * `contains` an iteration or a boundary owns a node · `data` from the producer of an argument, or of the result · `orders` a completed
 * `after` gate before a call under it · `retry_of` a repeated call to the attempt before.
 */
export interface GraphEdge {
  readonly kind: "contains" | "data" | "orders" | "retry_of"
  readonly from: string
  readonly to: string
  /** For `data`: `output` to `argument[i]`, or `result` to `return`. */
  readonly fromPath?: string
  readonly toPath?: string
}

export type GraphChange =
  | { readonly type: "node_added"; readonly value: GraphNode }
  | { readonly type: "node_updated"; readonly value: GraphNode }
  | { readonly type: "edge_added"; readonly value: GraphEdge }

/** `sequence` starts at 1 and increases by one. */
export interface GraphEvent {
  readonly sequence: number
  readonly change: GraphChange
}

export interface Observer {
  readonly onEvent: (event: GraphEvent) => void
  /** `all` adds a node for every operator, projection, literal and conversion; `calls` by default. */
  readonly detail?: "calls" | "all"
}

const coarse: ReadonlySet<NodeKind> = new Set(["root", "call", "branch", "loop", "iteration", "boundary"])

/** Tells an observer about a run. Holds on to nodes only until they settle. */
export class Recorder {
  readonly #observer: Observer
  readonly #all: boolean
  readonly #open = new Map<string, GraphNode>()
  #sequence = 0
  #count = 0
  #lost = false

  constructor(observer: Observer) {
    this.#observer = observer
    this.#all = observer.detail === "all"
  }

  #emit(change: GraphChange): void {
    if (this.#lost) return
    try {
      this.#observer.onEvent({ sequence: ++this.#sequence, change })
    } catch {
      this.#lost = true
    }
  }

  /** Adds a node in state ready under its owner; undefined when this kind is not asked for. */
  add(kind: NodeKind, label: string, span: Span, attempt: number, owner: string | undefined): string | undefined {
    if (!this.#all && !coarse.has(kind)) return undefined
    const id = `n${(++this.#count).toString(16).padStart(8, "0")}`
    const node: GraphNode = { id, kind, label, span, state: "ready", attempt }
    this.#open.set(id, node)
    this.#emit({ type: "node_added", value: node })
    if (owner !== undefined) this.edge({ kind: "contains", from: owner, to: id })
    return id
  }

  /** Adds a node that has completed already, such as a passed gate. */
  gate(label: string, span: Span, attempt: number, owner: string | undefined): string {
    const id = `n${(++this.#count).toString(16).padStart(8, "0")}`
    this.#emit({ type: "node_added", value: { id, kind: "compute", label, span, state: "succeeded", attempt } })
    if (owner !== undefined) this.edge({ kind: "contains", from: owner, to: id })
    return id
  }

  update(
    id: string | undefined,
    state: NodeState,
    more: Pick<GraphNode, "output" | "error"> & { readonly label?: string } = {},
  ): void {
    const known = id === undefined ? undefined : this.#open.get(id)
    if (known === undefined) return
    const { attempt, id: own, kind, span } = known
    const { error, label = known.label, output } = more
    const node: GraphNode =
      error === undefined
        ? output === undefined
          ? { id: own, kind, label, span, state, attempt }
          : { id: own, kind, label, span, state, attempt, output }
        : { id: own, kind, label, span, state, attempt, error }
    if (state === "succeeded" || state === "failed" || state === "cancelled") this.#open.delete(known.id)
    else this.#open.set(known.id, node)
    this.#emit({ type: "node_updated", value: node })
  }

  edge(edge: GraphEdge): void {
    this.#emit({ type: "edge_added", value: edge })
  }
}
