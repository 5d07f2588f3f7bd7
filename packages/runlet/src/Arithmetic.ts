import { NotPresentable, present } from "./Canonical.ts"
import { Failed } from "./Outcome.ts"
import type { BinaryOperator } from "./Syntax.ts"
import {
  compareText,
  concat,
  Float,
  float,
  integer,
  isInteger,
  kindOf,
  List,
  MAX_INTEGER,
  MIN_INTEGER,
  merge,
  Obj,
  same,
  type Value,
} from "./Value.ts"

/** What an operator gives: a value, or a failure that has no place yet. */
export type Computed = Value | Failed

const fail = (code: string, message: string) => new Failed(code, message, undefined)

const overflow = () => fail("RL5101", "NUMERIC_OVERFLOW: the result is outside the signed 64-bit range")

/** Operands of the wrong kinds. */
export const mismatch = (op: string, left: Value, right: Value): Failed =>
  fail("RL5201", `\`${op}\` does not accept ${kindOf(left)} and ${kindOf(right)} operands`)

/** A 64-bit result, or the overflow. */
export const checked = (value: bigint): Computed => (value < MIN_INTEGER || value > MAX_INTEGER ? overflow() : integer(value))

/** A finite Number, or RL5103. */
export const finite = (value: number): Computed =>
  Number.isFinite(value) ? float(value) : fail("RL5103", "NON_FINITE_NUMBER: the result is not a finite number")

/** The double of a numeric value; RL5208 when an Integer has none. */
export const widen = (value: number | bigint | Float): number | Failed => {
  if (typeof value === "number") return value
  if (value instanceof Float) return value.value
  const double = Number(value)
  return BigInt(double) === value ? double : fail("RL5208", `LOSSY_NUMERIC_WIDENING: ${value} has no exact binary64 form`)
}

export const isNumeric = (value: Value): value is number | bigint | Float => isInteger(value) || value instanceof Float

/** Compares numbers exactly, whatever their kinds. */
export const compareNumbers = (left: number | bigint | Float, right: number | bigint | Float): number => {
  const a = left instanceof Float ? left.value : left
  const b = right instanceof Float ? right.value : right
  return a < b ? -1 : a > b ? 1 : 0
}

/** Text of a value for `+` and for String parameters; Null and Bytes have none. */
export const format = (value: Value): string | Failed => {
  if (typeof value === "string") return value
  if (value === null || value instanceof Uint8Array)
    return fail("RL5207", `NOT_JSON_REPRESENTABLE: a ${kindOf(value)} value has no text form`)
  const text = present(value)
  return text instanceof NotPresentable ? fail("RL5207", `NOT_JSON_REPRESENTABLE: ${text.message}`) : text
}

const add = (left: Value, right: Value): Computed => {
  if (typeof left === "number" && typeof right === "number") {
    const sum = left + right
    return Number.isSafeInteger(sum) ? sum : checked(BigInt(left) + BigInt(right))
  }
  if (typeof left === "string" || typeof right === "string") {
    const a = format(left)
    if (a instanceof Failed) return a
    const b = format(right)
    return b instanceof Failed ? b : a + b
  }
  if (isNumeric(left) && isNumeric(right)) return numeric("+", left, right)
  if (left instanceof List && right instanceof List) return concat(left, right)
  if (left instanceof Obj && right instanceof Obj) return merge(left, right)
  return mismatch("+", left, right)
}

const numeric = (op: "+" | "-" | "*", left: number | bigint | Float, right: number | bigint | Float): Computed => {
  if (!(left instanceof Float) && !(right instanceof Float)) {
    const a = BigInt(left)
    const b = BigInt(right)
    return checked(op === "+" ? a + b : op === "-" ? a - b : a * b)
  }
  const a = widen(left)
  if (a instanceof Failed) return a
  const b = widen(right)
  if (b instanceof Failed) return b
  return finite(op === "+" ? a + b : op === "-" ? a - b : a * b)
}

const isZero = (value: Value) => value === 0 || (value instanceof Float && value.value === 0)

const divide = (left: Value, right: Value): Computed => {
  if (isZero(right)) return fail("RL5102", "DIVISION_BY_ZERO: the right operand is zero")
  if (!isNumeric(left) || !isNumeric(right)) return mismatch("/", left, right)
  const a = widen(left)
  if (a instanceof Failed) return a
  const b = widen(right)
  return b instanceof Failed ? b : finite(a / b)
}

const remainder = (left: Value, right: Value): Computed => {
  if (isZero(right)) return fail("RL5102", "DIVISION_BY_ZERO: the right operand is zero")
  if (!isInteger(left) || !isInteger(right)) return mismatch("%", left, right)
  if (typeof left === "number" && typeof right === "number") return left % right || 0
  if (BigInt(left) === MIN_INTEGER && BigInt(right) === -1n) return overflow()
  return integer(BigInt(left) % BigInt(right))
}

const equal = (left: Value, right: Value): boolean | Failed => {
  if (left instanceof Float ? isInteger(right) : isInteger(left) && right instanceof Float) {
    const a = widen(left as number | bigint | Float)
    if (a instanceof Failed) return a
    const b = widen(right as number | bigint | Float)
    return b instanceof Failed ? b : a === b
  }
  return same(left, right)
}

const order = (op: "<" | "<=" | ">" | ">=", left: Value, right: Value): Computed => {
  let sign: number
  if (typeof left === "number" && typeof right === "number") sign = left - right
  else if (isNumeric(left) && isNumeric(right)) sign = compareNumbers(left, right)
  else if (typeof left === "string" && typeof right === "string") sign = compareText(left, right)
  else
    return fail(
      "RL5201",
      `INVALID_NUMERIC_OPERANDS: \`${op}\` needs two numbers or two strings, got ${kindOf(left)} and ${kindOf(right)}`,
    )
  return op === "<" ? sign < 0 : op === "<=" ? sign <= 0 : op === ">" ? sign > 0 : sign >= 0
}

const member = (left: Value, right: Value): Computed => {
  if (right instanceof List) {
    for (let at = 0; at < right.length; at++) if (same(left, right.buffer[at]!)) return true
    return false
  }
  if (typeof left === "string" && typeof right === "string") return right.includes(left)
  if (typeof left === "string" && right instanceof Obj) return right.has(left)
  return mismatch("in", left, right)
}

/** Every binary operator but `and` and `or`, which evaluate their right side themselves. */
export const binary = (op: Exclude<BinaryOperator, "and" | "or">, left: Value, right: Value): Computed => {
  switch (op) {
    case "+":
      return add(left, right)
    case "-":
    case "*": {
      if (typeof left === "number" && typeof right === "number") {
        const result = op === "-" ? left - right : left * right
        if (Number.isSafeInteger(result)) return result === 0 ? 0 : result
      }
      return isNumeric(left) && isNumeric(right) ? numeric(op, left, right) : mismatch(op, left, right)
    }
    case "/":
      return divide(left, right)
    case "%":
      return remainder(left, right)
    case "==":
      return equal(left, right)
    case "!=": {
      const result = equal(left, right)
      return result instanceof Failed ? result : !result
    }
    case "in":
      return member(left, right)
    default:
      return order(op, left, right)
  }
}

export const negate = (value: Value): Computed => {
  if (typeof value === "number") return value === 0 ? 0 : -value
  if (typeof value === "bigint") return checked(-value)
  if (value instanceof Float) return float(-value.value)
  return fail("RL5201", `cannot negate a ${kindOf(value)} value`)
}

export const not = (value: Value): Computed =>
  typeof value === "boolean" ? !value : fail("RL5202", `\`not\` needs a boolean, got ${kindOf(value)}`)

/** What happens when a condition is no Boolean. */
export const notBoolean = (value: Value): Failed =>
  fail(
    "RL5202",
    `condition must be a boolean, got ${kindOf(value)}; there is no truthiness: compare explicitly, for example \`x != null\` or \`list.length(xs) > 0\``,
  )
