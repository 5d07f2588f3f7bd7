import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { Hunks } from "../src/Hunks.ts"

const Line = Schema.Literals(["a", "b", "c", "", "aa", "\r"])
const LineEnd = Schema.Literals(["\n", "\r\n"])
const Text = Schema.Array(Schema.Struct({ line: Line, end: LineEnd })).check(Schema.isMaxLength(8))

/** Text whose only carriage returns belong to line ends. */
const Tidy = Schema.Array(Schema.Struct({ line: Schema.Literals(["x", "", "yy"]), end: LineEnd })).check(Schema.isMaxLength(4))

const join = (text: ReadonlyArray<{ readonly line: string; readonly end: string }>) =>
  text.map(({ line, end }) => line + end).join("")

const toLineFeeds = (text: string) => text.replaceAll("\r\n", "\n")

/** How often the part stands in the text, overlaps counted. */
const occurrences = (text: string, part: string) => {
  let count = 0
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) count++
  return count
}

describe("Hunks", () => {
  it.effect.prop(
    "replaces exactly the one place where the anchor stands, and touches nothing else",
    { text: Text, before: Text, old: Text, after: Text, replacement: Tidy },
    ({ text, before, old, after, replacement }) =>
      Effect.gen(function* () {
        const whole = join(text) + join(before) + join(old) + join(after)
        const hunk = { context_before: join(before), old: join(old), new: join(replacement), context_after: join(after) }
        const anchor = toLineFeeds(hunk.context_before + hunk.old + hunk.context_after)
        const exit = yield* Effect.exit(Hunks.apply(whole, [hunk]))
        const count = anchor === "" ? 0 : occurrences(toLineFeeds(whole), anchor)
        expect(Exit.isSuccess(exit)).toBe(count === 1)
        if (!Exit.isSuccess(exit)) return
        const prefix = join(text) + hunk.context_before
        expect(exit.value.startsWith(prefix)).toBe(true)
        expect(exit.value.endsWith(hunk.context_after)).toBe(true)
        const inserted = exit.value.slice(prefix.length, exit.value.length - hunk.context_after.length)
        expect(toLineFeeds(inserted)).toBe(toLineFeeds(hunk.new))
      }),
  )

  it.effect.prop(
    "gives text of one line end back in that line end",
    { text: Text, line: Line, end: LineEnd },
    ({ text, line, end }) =>
      Effect.gen(function* () {
        const uniform = text.map((part) => part.line.replace("\r", "") + end).join("")
        const changed = yield* Hunks.apply(`${uniform}#MARK${end}`, [{ old: "MARK", new: `x\n${line.replace("\r", "")}\ny` }])
        expect(changed).toBe(`${uniform}#x${end}${line.replace("\r", "")}${end}y${end}`)
      }),
  )

  it.effect("inserts several at one place in their order", () =>
    Effect.gen(function* () {
      const hunks = [
        { context_before: "a", old: "", new: "1" },
        { context_before: "a", old: "", new: "2", context_after: "b" },
      ]
      expect(yield* Hunks.apply("ab", hunks)).toBe("a12b")
    }),
  )
})
