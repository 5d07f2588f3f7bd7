import type { Match, Regexp } from "@acp-kit/json-schema/Regexp"
import { Failed } from "../Outcome.ts"
import type { Intrinsic } from "../Registry.ts"
import type { Run } from "../Run.ts"
import * as Types from "../Types.ts"
import { list, object, type Value } from "../Value.ts"
import { compilePattern, searched } from "./Patterns.ts"
import { define, roomFor } from "./Signature.ts"

const { boolean, string } = Types
const maybe = Types.union(string, Types.nothing)
const captured = Types.union(
  Types.object(
    new Map([
      ["full", string],
      ["groups", Types.list(maybe)],
      ["names", Types.map(maybe)],
    ]),
  ),
  Types.nothing,
)

const matches = (text: Value | undefined, pattern: Value | undefined, run: Run): ReadonlyArray<Match> | Failed =>
  searched(pattern, run, (compiled, spent) => compiled.all(text as string, spent))

const reference = /\$(?:\$|\{([^}]*)\}|([0-9A-Za-z_]+))/g

const expand = (replacement: string, match: Match, names: Regexp["names"]): string =>
  replacement.replace(reference, (whole, braced: string | undefined, bare: string | undefined) => {
    if (whole === "$$") return "$"
    const name = braced ?? bare ?? ""
    const index = /^\d+$/.test(name) ? Number(name) : (names.get(name) ?? -1)
    return index === 0 ? match.text : (match.groups[index - 1] ?? "")
  })

const replaced = (
  text: string,
  compiled: Regexp,
  replacement: string,
  found: ReadonlyArray<Match>,
  limit: (length: number) => Failed | undefined,
) => {
  const parts: Array<string> = []
  let from = 0
  let length = text.length
  for (const match of found) {
    const put = expand(replacement, match, compiled.names)
    parts.push(text.slice(from, match.start), put)
    length += put.length
    const full = limit(length)
    if (full !== undefined) return full
    from = match.end
  }
  return parts.join("") + text.slice(from)
}

export const regex: ReadonlyArray<Intrinsic> = [
  define("regex.test", "Whether some part of s matches", { s: string, pattern: string }, boolean, ([s, pattern], run) =>
    searched(pattern, run, (compiled, spent) => compiled.test(s as string, spent)),
  ),
  define("regex.find_all", "Every match in full", { s: string, pattern: string }, Types.list(string), ([s, pattern], run) => {
    const found = matches(s, pattern, run)
    return found instanceof Failed ? found : list(found.map((match) => match.text))
  }),
  define(
    "regex.captures",
    "The first match: full, groups 1 to n, names; null without",
    { s: string, pattern: string },
    captured,
    ([s, pattern], run) => {
      const compiled = compilePattern(pattern as string, run)
      if (compiled instanceof Failed) return compiled
      const match = searched(pattern, run, (_, spent) => compiled.first(s as string, spent))
      if (match instanceof Failed) return match
      if (match === undefined) return null
      const names = new Map<string, Value>([...compiled.names].map(([name, index]) => [name, match.groups[index - 1] ?? null]))
      return object(
        new Map<string, Value>([
          ["full", match.text],
          ["groups", list([...match.groups])],
          ["names", object(names)],
        ]),
      )
    },
  ),
  define(
    "regex.replace",
    "Every match replaced; the replacement may name groups: $1, $name, $$",
    { s: string, pattern: string, replacement: string },
    string,
    ([s, pattern, replacement], run) => {
      const compiled = compilePattern(pattern as string, run)
      if (compiled instanceof Failed) return compiled
      const found = matches(s, pattern, run)
      return found instanceof Failed
        ? found
        : replaced(s as string, compiled, replacement as string, found, (length) => roomFor(length, run))
    },
  ),
  define("regex.split", "Parts between matches", { s: string, pattern: string }, Types.list(string), ([s, pattern], run) => {
    const found = matches(s, pattern, run)
    if (found instanceof Failed) return found
    const parts: Array<Value> = []
    let from = 0
    for (const match of found) {
      parts.push((s as string).slice(from, match.start))
      from = match.end
    }
    return list([...parts, (s as string).slice(from)])
  }),
]
