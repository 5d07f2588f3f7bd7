import { perlClass } from "./CharClass.ts"

/** `rust`: Unicode classes, inline flags, class sets, no look-around. `ecma`: what JSON Schema's `pattern` means, flag `u`, with look-around. */
export type Dialect = "rust" | "ecma"

/** The flags in force at a place of a pattern. */
export interface Flags {
  readonly ignoreCase: boolean
  readonly multiline: boolean
  readonly dotAll: boolean
  readonly extended: boolean
  readonly swapGreed: boolean
  readonly unicode: boolean
  readonly crlf: boolean
}

export const initialFlags: Flags = {
  ignoreCase: false,
  multiline: false,
  dotAll: false,
  extended: false,
  swapGreed: false,
  unicode: true,
  crlf: false,
}

export const flagNames: { readonly [letter: string]: keyof Flags } = {
  i: "ignoreCase",
  m: "multiline",
  s: "dotAll",
  x: "extended",
  U: "swapGreed",
  u: "unicode",
  R: "crlf",
}

/** `\d`, `\s`, `\w` of a dialect. */
export const shorthand = (dialect: Dialect, letter: string, flags: Flags): string => {
  if (dialect === "rust") return perlClass(letter, flags.unicode)
  return `\\${letter}`
}

/** `.` of a dialect. */
export const dot = (dialect: Dialect, flags: Flags): string => {
  if (flags.dotAll) return "[\\u{0}-\\u{10ffff}]"
  if (dialect === "ecma") return "[^\\n\\r\\u{2028}\\u{2029}]"
  return flags.crlf ? "[^\\n\\r]" : "[^\\n]"
}
