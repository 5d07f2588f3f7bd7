/**
 * A JSON number with one form for each value: a double where a double of at most 2^53 holds it or it is no integer, else a bigint. So `===`
 * is equality of numbers, and `<` compares them exactly.
 */
export type Exact = number | bigint

/** Integers beyond it, and below its negation, are not read: arithmetic on them takes too long. */
export const MAX_INTEGER = 2n ** 4096n

/** The one form of a finite JSON number. */
export const exact = (value: Exact): Exact => {
  if (typeof value === "bigint") {
    const double = Number(value)
    return Number.isSafeInteger(double) ? double : value
  }
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value
}

/** Coefficient and power of ten of the shortest decimal that names a number. */
const decimal = (value: Exact): readonly [coefficient: bigint, exponent: number] => {
  const [digits, exponent = "0"] = String(value).replace("-", "").split("e") as [string, string?]
  const point = digits.indexOf(".")
  const places = point === -1 ? 0 : digits.length - point - 1
  return [BigInt(digits.replace(".", "")), Number(exponent.replace("+", "")) - places]
}

/** Whether a number is a whole multiple of a positive one, in decimal arithmetic: 0.3 is one of 0.1. */
export const isMultiple = (value: Exact, of: Exact): boolean => {
  const [coefficient, exponent] = decimal(value)
  const [divisor, power] = decimal(of)
  const shift = BigInt(Math.abs(exponent - power))
  return exponent >= power ? (coefficient * 10n ** shift) % divisor === 0n : coefficient % (divisor * 10n ** shift) === 0n
}

/**
 * The text of a JSON value whose numbers are {@link exact}: the same text for the same value, whatever the order of keys and the spelling
 * of numbers.
 */
export const textOf = (value: unknown): string => {
  if (typeof value === "bigint") return value.toString()
  if (typeof value !== "object" || value === null) return JSON.stringify(value === 0 ? 0 : value)
  if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${textOf(item)}`).join(",")}}`
}

/** Whether two JSON values whose numbers are {@link exact} are equal. */
export const same = (left: unknown, right: unknown): boolean => {
  if (left === right) return true
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false
  if (Array.isArray(left) || Array.isArray(right))
    return (
      Array.isArray(left) &&
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, at) => same(item, right[at]))
    )
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && same(left[key as never], right[key as never]))
  )
}
