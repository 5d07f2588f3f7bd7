import type { Intrinsic } from "../Registry.ts"
import { scalarLength, scalarSlice } from "../Text.ts"
import * as Types from "../Types.ts"
import { type List, list } from "../Value.ts"
import { define, failed, roomFor, sliceBounds } from "./Signature.ts"

const { boolean, integer, string } = Types

const isSpace = (code: number) =>
  (code >= 9 && code <= 13) ||
  code === 0x20 ||
  code === 0x85 ||
  code === 0xa0 ||
  code === 0x1680 ||
  (code >= 0x2000 && code <= 0x200a) ||
  code === 0x2028 ||
  code === 0x2029 ||
  code === 0x202f ||
  code === 0x205f ||
  code === 0x3000

/** Without the Unicode White_Space at both ends, which is not what `String.prototype.trim` takes away. */
export const trim = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

export const text: ReadonlyArray<Intrinsic> = [
  define("text.length", "Number of characters", { s: string }, integer, ([s]) => scalarLength(s as string)),
  define("text.lower", "Lower case", { s: string }, string, ([s]) => (s as string).toLowerCase()),
  define("text.upper", "Upper case", { s: string }, string, ([s]) => (s as string).toUpperCase()),
  define("text.trim", "Without white space at both ends", { s: string }, string, ([s]) => trim(s as string)),
  define("text.starts_with", "Whether s begins with prefix", { s: string, prefix: string }, boolean, ([s, prefix]) =>
    (s as string).startsWith(prefix as string),
  ),
  define("text.ends_with", "Whether s ends with suffix", { s: string, suffix: string }, boolean, ([s, suffix]) =>
    (s as string).endsWith(suffix as string),
  ),
  define(
    "text.slice",
    "Characters from start to end; negative counts from the end",
    { s: string, start: integer, "end?": integer },
    string,
    ([s, start, end]) => {
      const [from, to] = sliceBounds(scalarLength(s as string), start!, end)
      return scalarSlice(s as string, from, to)
    },
  ),
  define("text.split", "Parts between separators", { s: string, separator: string }, Types.list(string), ([s, separator]) =>
    separator === ""
      ? failed("RL5201", "the separator of text.split must not be empty")
      : list((s as string).split(separator as string)),
  ),
  define(
    "text.join",
    "Strings with a separator between",
    { parts: Types.list(string), separator: string },
    string,
    ([parts, separator], run) => {
      const items = (parts as List).toArray() as Array<string>
      const between = separator as string
      let length = between.length * Math.max(0, items.length - 1)
      for (const item of items) length += item.length
      return roomFor(length, run) ?? items.join(between)
    },
  ),
  define(
    "text.replace",
    "Every occurrence of from replaced by to",
    { s: string, from: string, to: string },
    string,
    ([s, from, to], run) => {
      if (from === "") return failed("RL5201", "the text that text.replace looks for must not be empty")
      const parts = (s as string).split(from as string)
      const length = (s as string).length + (parts.length - 1) * ((to as string).length - (from as string).length)
      return roomFor(length, run) ?? parts.join(to as string)
    },
  ),
]
