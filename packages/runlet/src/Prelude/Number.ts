import { checked } from "../Arithmetic.ts"
import type { Failed } from "../Outcome.ts"
import type { Intrinsic } from "../Registry.ts"
import * as Types from "../Types.ts"
import { type Float, float, MAX_INTEGER, MIN_INTEGER, integer as narrow, type Value } from "../Value.ts"
import { define, failed } from "./Signature.ts"
import { trim } from "./Text.ts"

const whole = (value: Value | undefined, round: (x: number) => number): Value | Failed =>
  checked(BigInt(round((value as Float).value)))

const parse = (text: string): Value | Failed => {
  const trimmed = trim(text)
  if (/^[+-]?\d+$/.test(trimmed)) {
    const value = BigInt(trimmed.replace("+", ""))
    if (value >= MIN_INTEGER && value <= MAX_INTEGER) return narrow(value)
  }
  const value = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(trimmed) ? Number(trimmed) : Number.NaN
  return Number.isFinite(value) ? float(value) : failed("RL5212", `INVALID_NUMBER: \`${text.slice(0, 80)}\` is not a number`)
}

export const number: ReadonlyArray<Intrinsic> = [
  define("number.round", "Nearest Integer, halves away from zero", { x: Types.number }, Types.integer, ([x]) =>
    whole(x, (value) => Math.sign(value) * Math.round(Math.abs(value))),
  ),
  define("number.floor", "Largest Integer not above", { x: Types.number }, Types.integer, ([x]) => whole(x, Math.floor)),
  define("number.ceil", "Smallest Integer not below", { x: Types.number }, Types.integer, ([x]) => whole(x, Math.ceil)),
  define("number.parse", "The number a text spells", { s: Types.string }, Types.union(Types.integer, Types.number), ([s]) =>
    parse(s as string),
  ),
]
