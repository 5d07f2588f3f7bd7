import type { Failed } from "../Outcome.ts"
import type { Intrinsic } from "../Registry.ts"
import * as Types from "../Types.ts"
import type { Value } from "../Value.ts"
import { define, failed } from "./Signature.ts"
import { trim } from "./Text.ts"

const DAY = 86_400_000
/** Milliseconds of 0000-01-01 and of the end of 9999. */
const FIRST = -62_167_219_200_000
const LAST = 253_402_300_799_999

const isLeap = (year: number) => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

const daysIn = (year: number, month: number) => (month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31)

/** Days since 1970-01-01 in the proleptic Gregorian calendar. */
const dayNumber = (year: number, month: number, day: number): number => {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const ofEra = shifted - era * 400
  const ofYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  return era * 146_097 + ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear - 719_468
}

const calendar = (days: number): readonly [year: number, month: number, day: number] => {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const ofEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1_460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  )
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * ofYear + 2) / 153)
  const month = shiftedMonth + (shiftedMonth < 10 ? 3 : -9)
  return [yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, ofYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1]
}

/** Epoch milliseconds, or what is wrong with the text. */
const read = (text: string): number | string => {
  const date = /^(\d{4})-(\d{2})-(\d{2})/.exec(text)
  if (date === null) return "malformed date"
  const [year, month, day] = date.slice(1).map(Number) as [number, number, number]
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return "no such calendar date"
  const midnight = dayNumber(year, month, day) * DAY
  if (text.length === 10) return midnight
  if (!/[Tt ]/.test(text[10]!)) return "expected `T` between date and time"
  const time = /^(\d{2}):(\d{2}):(\d{2})/.exec(text.slice(11))
  if (time === null) return "malformed time"
  const [hour, minute, second] = time.slice(1).map(Number) as [number, number, number]
  if (hour > 23 || minute > 59 || second > 60) return "no such time of day"
  let rest = text.slice(19)
  let millis = 0
  if (rest.startsWith(".")) {
    const digits = /^\.(\d*)/.exec(rest)![1]!
    if (digits === "") return "empty fractional seconds"
    millis = Number(digits.slice(0, 3).padEnd(3, "0"))
    rest = rest.slice(1 + digits.length)
  }
  const utc = midnight + ((hour * 60 + minute) * 60 + Math.min(second, 59)) * 1_000 + millis
  if (rest === "") return "missing timezone (append `Z`)"
  if (rest === "Z" || rest === "z") return utc
  if (rest[0] !== "+" && rest[0] !== "-") return "malformed timezone"
  const offset = /^[+-](\d{2}):(\d{2})$/.exec(rest)
  if (offset === null || Number(offset[1]) > 23 || Number(offset[2]) > 59) return "malformed UTC offset"
  const shift = (Number(offset[1]) * 60 + Number(offset[2])) * 60_000
  return rest[0] === "+" ? utc - shift : utc + shift
}

const parse = (text: string): Value | Failed => {
  const result = read(trim(text))
  if (typeof result === "number") return result || 0
  return failed(
    "RL5213",
    `INVALID_TIMESTAMP: \`${text.slice(0, 80)}\` — ${result}; expected RFC 3339 such as \`2024-02-29T12:00:00Z\``,
  )
}

const pad = (value: number, width = 2) => String(value).padStart(width, "0")

const format = (ms: Value): Value | Failed => {
  if (typeof ms !== "number" || ms < FIRST || ms > LAST)
    return failed("RL5213", `INVALID_TIMESTAMP: ${ms} lies outside the years 0000 to 9999`)
  const days = Math.floor(ms / DAY)
  const [year, month, day] = calendar(days)
  const left = ms - days * DAY
  const seconds = Math.floor(left / 1_000)
  const millis = left % 1_000
  const time = `${pad(Math.floor(seconds / 3_600))}:${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`
  return `${pad(year, 4)}-${pad(month)}-${pad(day)}T${time}${millis === 0 ? "" : `.${pad(millis, 3)}`}Z`
}

export const time: ReadonlyArray<Intrinsic> = [
  define("time.parse", "Epoch milliseconds of an RFC 3339 timestamp or a date", { s: Types.string }, Types.integer, ([s]) =>
    parse(s as string),
  ),
  define("time.format", "RFC 3339 in UTC of epoch milliseconds", { ms: Types.integer }, Types.string, ([ms]) => format(ms!)),
]
