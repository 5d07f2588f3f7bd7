import { Failed } from "../Outcome.ts"
import type { Intrinsic } from "../Registry.ts"
import type { Run } from "../Run.ts"
import type { Type } from "../Types.ts"
import type { Value } from "../Value.ts"

/** Declares a function; a parameter whose name ends in `?` is optional. Arguments arrive converted to their types. */
export const define = (
  name: string,
  summary: string,
  parameters: { readonly [name: string]: Type },
  output: Type,
  apply: (args: ReadonlyArray<Value>, run: Run) => Value | Failed,
): Intrinsic => {
  const entries = Object.entries(parameters)
  return {
    name,
    summary,
    parameters: entries.map(([key, type]) => [key.replace("?", ""), type] as const),
    required: entries.filter(([key]) => !key.endsWith("?")).length,
    output,
    apply,
  }
}

export const failed = (code: string, message: string): Failed => new Failed(code, message, undefined)

/** Positions of a slice: negative counts from the end, clamped, empty when crossed. */
export const sliceBounds = (length: number, start: Value, end: Value | undefined): readonly [number, number] => {
  const clamp = (value: Value | undefined, otherwise: number) => {
    if (value === undefined) return otherwise
    const at = Number(value)
    return Math.max(0, Math.min(length, at < 0 ? at + length : at))
  }
  const from = clamp(start, 0)
  return [from, Math.max(from, clamp(end, length))]
}

/** Text about to be built, refused before it is built when it would be larger than a value may be. */
export const roomFor = (length: number, run: Run): Failed | undefined =>
  length > run.limits.valueBytes
    ? failed("RL4111", `a value exceeded the host limit of ${run.limits.valueBytes} bytes`)
    : undefined
