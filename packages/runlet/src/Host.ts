import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/** A JSON value whose integers are exact: integers beyond 2^53 are bigints. */
export type Json = null | boolean | number | bigint | string | ReadonlyArray<Json> | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

/** A JSON Schema (2020-12), as written; `true` accepts everything. */
export type JsonSchema = boolean | JsonObject

/** `pure` calls may be pruned, shared and repeated; only the first three may be retried by `boundary retry`. */
export type Policy = "pure" | "idempotent" | "recoverable" | "at_most_once" | "unsafe"

/** What a tool reports instead of a value. `code` is stable and reaches the program as `e.code`. */
export class ToolFailure extends Data.TaggedError("ToolFailure")<{
  readonly code: string
  readonly message: string
  /** Honoured only under a policy that may be retried. */
  readonly retryable?: boolean
  /** The effect may have happened. */
  readonly uncertain?: boolean
  readonly details?: JsonObject
  readonly retryAfterMs?: number
}> {}

export interface ToolContext {
  /** Hash of where and with what the call was made; equal for a repeated attempt of the same call. */
  readonly operationId: string
  /** `operationId:n`, n counting dispatches from 0. */
  readonly dispatchId: string
  /** Zero-based attempt of the enclosing `boundary`. */
  readonly attempt: number
  /** Position in the program: 1-based line and column of the call. */
  readonly line: number
  readonly column: number
}

export interface Parameter {
  readonly name: string
  /** What Runlet checks before the call; `true` passes any value unchanged. */
  readonly schema: JsonSchema
}

export interface Tool {
  /** Dot-separated path, as called. */
  readonly name: string
  readonly summary: string
  readonly parameters: ReadonlyArray<Parameter>
  /** How many leading parameters are required; all by default. */
  readonly required?: number
  readonly output: JsonSchema
  readonly policy: Policy
  readonly schemaVersion: string
  /** Interrupted when the program is cancelled. Arguments arrive exactly as the program made them. */
  readonly handler: (args: ReadonlyArray<Json>, context: ToolContext) => Effect.Effect<Json, ToolFailure>
}

/** A value the host gives to the program by name. */
export interface Input {
  readonly name: string
  readonly schema: JsonSchema
  readonly value: Json
}

/** All counts are per run; bytes are UTF-8. Defaults in `defaultLimits`. */
export interface Limits {
  readonly loopConcurrency: number
  readonly dispatchLimit: number
  readonly graphNodes: number
  readonly evaluationDepth: number
  readonly sourceBytes: number
  /** Host tool calls; `Infinity` for none. */
  readonly calls: number
  readonly wallMs: number
  readonly valueBytes: number
  readonly outputBytes: number
}

/** 16 iterations and 64 calls at a time, 250 000 nodes, 1 MiB of source, 64 MiB per value, 16 MiB of output; calls and time unbounded. */
export const defaultLimits: Limits = {
  loopConcurrency: 16,
  dispatchLimit: 64,
  graphNodes: 250_000,
  evaluationDepth: 512,
  sourceBytes: 1_048_576,
  calls: Number.POSITIVE_INFINITY,
  wallMs: Number.POSITIVE_INFINITY,
  valueBytes: 67_108_864,
  outputBytes: 16_777_216,
}
