import * as Semaphore from "effect/Semaphore"
import type { Recorder } from "./Graph.ts"
import type { Limits } from "./Host.ts"
import type { Journal } from "./Journal.ts"
import { Failed } from "./Outcome.ts"
import type { Span } from "./Span.ts"
import { sizeOf, type Value } from "./Value.ts"

/** Delay before re-attempt k of a boundary: `min(capMs, baseMs * factor^(k-1))`, a tool's `retryAfterMs` going before it. */
export interface Backoff {
  readonly baseMs: number
  readonly factor: number
  readonly capMs: number
}

/** Work between two pauses, in nodes and in units of 64 bytes looked at. */
const STRETCH = 8_192
/** Fibers started inside one another before one is started from the event loop instead. */
const MAX_FORKS = 24
/** Levels of nesting of any value. */
const MAX_VALUE_DEPTH = 1_024

/** What one run counts, and whom it tells. */
export class Run {
  readonly limits: Limits
  readonly source: string
  readonly graph: Recorder | undefined
  readonly journal: Journal
  /** The journal outlives the run, so that every call needs its identity. */
  readonly durable: boolean
  readonly backoff: Backoff | undefined
  readonly permits: Semaphore.Semaphore
  /** Dispatches so far of each operation. */
  readonly generations = new Map<string, number>()
  /** Graph: the last node of each operation. */
  readonly lastNode = new Map<string, string>()
  calls = 0
  #nodes = 0
  #work = 0
  #forks = 0
  digest: string | undefined

  constructor(options: Pick<Run, "limits" | "source" | "graph" | "journal" | "durable" | "backoff">) {
    this.limits = options.limits
    this.source = options.source
    this.graph = options.graph
    this.journal = options.journal
    this.durable = options.durable
    this.backoff = options.backoff
    this.permits = Semaphore.makeUnsafe(Math.max(1, options.limits.dispatchLimit) || 1)
  }

  /** Counts one node of the execution graph, at `depth` nested evaluations. */
  node(depth: number, span: Span): Failed | undefined {
    this.#work++
    if (++this.#nodes > this.limits.graphNodes)
      return new Failed("RL4105", `execution graph exceeded the host limit of ${this.limits.graphNodes} nodes`, span)
    return depth > this.limits.evaluationDepth ? this.tooDeep(span) : undefined
  }

  /** Counts bytes looked at by one operation. */
  charge(bytes: number): void {
    this.#work += bytes >> 6
  }

  /** Whether it is time to let other fibers run; answering yes starts the next stretch. */
  readonly due = (): boolean => {
    if (this.#work < STRETCH) return false
    this.#work = 0
    return true
  }

  tooDeep(span: Span): Failed {
    return new Failed("RL4106", `evaluation exceeded the host limit of ${this.limits.evaluationDepth} nested evaluations`, span)
  }

  /** A value just built, unless it is larger than any may be. */
  bounded<A extends Value>(value: A): A | Failed {
    if (sizeOf(value) > this.limits.valueBytes)
      return new Failed("RL4111", `a value exceeded the host limit of ${this.limits.valueBytes} bytes`, undefined)
    if (typeof value === "object" && value !== null && "depth" in value && value.depth > MAX_VALUE_DEPTH)
      return new Failed("RL4111", `a value is nested deeper than ${MAX_VALUE_DEPTH} levels`, undefined)
    return value
  }

  enterFork(): boolean {
    return ++this.#forks <= MAX_FORKS
  }

  leaveFork(): void {
    this.#forks--
  }
}
