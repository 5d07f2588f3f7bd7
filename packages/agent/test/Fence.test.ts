import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Fences } from "../src/Fence.ts"

const block = (info: string, body: string, fence = "```") => `${fence}${info}\n${body}\n${fence}`

describe("Fence", () => {
  it.effect("finds every block with its language, options and body, in order", () =>
    Effect.sync(() => {
      const text = `before\n${block('runlet background=5 intent="list \\"all\\" files" quick', "return 1")}\nbetween\n${block("sh", "ls")}`
      expect(Fences.fences(text)).toEqual([
        { language: "runlet", options: { background: 5, intent: 'list "all" files', quick: true }, body: "return 1" },
        { language: "sh", options: {}, body: "ls" },
      ])
    }),
  )

  it.effect("opens and closes a block at the start of a line only", () =>
    Effect.sync(() => {
      expect(Fences.fences("  ```runlet\nreturn 1\n```\n")).toEqual([])
      expect(Fences.fences("```runlet\na\n ```\nb\n```")).toEqual([{ language: "runlet", options: {}, body: "a\n ```\nb" }])
      expect(Fences.fences("text ```runlet\nreturn 1\n```")).toEqual([])
    }),
  )

  it.effect("lets a longer fence hold blocks of its own", () =>
    Effect.sync(() => {
      const inner = block("runlet", "return 2")
      expect(Fences.fences(block("runlet", inner, "````"))).toEqual([{ language: "runlet", options: {}, body: inner }])
    }),
  )

  it.effect("takes a block that never closes for text", () =>
    Effect.sync(() => {
      expect(Fences.fences("````runlet\nreturn 1\n```\nmore")).toEqual([])
      expect(Fences.fences("````a\n```runlet\nreturn 1\n```")).toEqual([{ language: "runlet", options: {}, body: "return 1" }])
    }),
  )

  it.effect("stays linear on a text of unclosed fences", () =>
    Effect.sync(() => {
      expect(Fences.fences("```a\n".repeat(200_000))).toEqual([])
    }),
  )

  it.prop("gives back any body that was put between long enough fences", { body: Schema.String }, ({ body }) => {
    const lines = body.split(/\r?\n/).join("\n")
    const fence = "`".repeat(3 + Math.max(0, ...[...lines.matchAll(/`+/g)].map((run) => run[0].length)))
    expect(Fences.fences(`${fence}runlet\n${lines}\n${fence}`)).toEqual([{ language: "runlet", options: {}, body: lines }])
  })
})
