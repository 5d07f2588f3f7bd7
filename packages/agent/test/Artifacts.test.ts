import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Files } from "@acp-kit/platform/Files"
import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { SessionArtifacts } from "../src/Artifacts.ts"
import { CompactJson } from "../src/CompactJson.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "kit-artifacts-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
)

const context = { operationId: "o", dispatchId: "o:0", attempt: 0, line: 1, column: 1 }

const bytesOf = (value: Json) => new TextEncoder().encode(CompactJson.encode(value)).length

interface Spilled extends JsonObject {
  readonly preview: string
  readonly artifact: string | null
  readonly original_bytes: number
  readonly artifact_error: string | null
}

it.layer(Files.layer)("artifacts", (it) => {
  it.effect("gives a result of up to 8 KiB as it is", () =>
    Effect.gen(function* () {
      const { spill } = yield* SessionArtifacts.make(yield* directory)
      const fits = "x".repeat(8 * 1024 - 2)
      expect(yield* spill("call-1", fits)).toBe(fits)
      expect(yield* spill("call-1", `${fits}x`)).not.toBe(`${fits}x`)
    }),
  )

  it.effect("keeps a longer one whole in a file of our own, and gives head, marker and tail of at most 8 KiB", () =>
    Effect.gen(function* () {
      const root = join(yield* directory, "artifacts")
      const { spill } = yield* SessionArtifacts.make(root)
      const whole = { lines: Array.from({ length: 5000 }, (_, index) => `line "${index}" é𝔸`) }
      const spilled = (yield* spill("call-1", whole)) as Spilled
      expect(spilled).toMatchObject({
        artifact: "call-1/compose-output.json",
        original_bytes: bytesOf(whole),
        artifact_error: null,
      })
      expect(spilled.preview).toContain(`...[compose output spilled: ${bytesOf(whole)} bytes; read with artifact(path)]...`)
      expect(spilled.preview).toMatch(/^\{"lines":\["line /)
      expect(spilled.preview.endsWith('é𝔸"]}')).toBe(true)
      expect(bytesOf(spilled)).toBeLessThanOrEqual(8 * 1024)
      expect(bytesOf(spilled)).toBeGreaterThan(6 * 1024)
      expect(readFileSync(join(root, "call-1/compose-output.json"), "utf8")).toBe(CompactJson.encode(whole))
      expect([statSync(root).mode & 0o777, statSync(join(root, "call-1/compose-output.json")).mode & 0o777]).toEqual([
        0o700, 0o600,
      ])
    }),
  )

  it.effect("never fails: where nothing can be stored the result is cut and says so", () =>
    Effect.gen(function* () {
      const file = join(yield* directory, "file")
      writeFileSync(file, "")
      const { spill } = yield* SessionArtifacts.make(file)
      const spilled = (yield* spill("call-1", "\\".repeat(100_000))) as Spilled
      expect(spilled.artifact).toBeNull()
      expect(spilled.artifact_error!.length).toBeLessThanOrEqual(256)
      expect(spilled.preview).toContain("...[tool completed; output truncated: 200002 bytes; artifact storage failed]...")
      expect(bytesOf(spilled)).toBeLessThanOrEqual(8 * 1024)
    }),
  )

  it.effect.prop(
    "reads back in pieces exactly what was spilled, and never half a character",
    { text: Schema.String, limit: Schema.Int.check(Schema.isBetween({ minimum: 4, maximum: 1024 })) },
    ({ text, limit }) =>
      Effect.gen(function* () {
        const { spill, tool } = yield* SessionArtifacts.make(yield* directory, { resultBytes: 16, pieceBytes: 1024 })
        const whole = `${text}${"é𝔸".repeat(50)}`.toWellFormed().replaceAll("\ufffd", "")
        yield* spill("call-1", whole)
        let read = ""
        for (let offset = 0, more = true; more; ) {
          const input = { path: "call-1/compose-output.json", offset, limit }
          const piece = (yield* tool.handler([input], context)) as { content: string; next_offset: number; eof: boolean }
          expect(piece.content).not.toContain("\ufffd")
          expect(piece.next_offset).toBeGreaterThan(offset)
          read += piece.content
          offset = piece.next_offset
          more = !piece.eof
        }
        expect(read).toBe(CompactJson.encode(whole))
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 40 } },
  )

  it.effect("refuses what is no artifact of the session", () =>
    Effect.gen(function* () {
      const { tool } = yield* SessionArtifacts.make(yield* directory)
      const refusal = (input: JsonObject) => Effect.map(Effect.flip(tool.handler([input], context)), ({ message }) => message)
      for (const path of ["../x", "a/../b", "/etc/passwd", "call/..", "plain"])
        expect(yield* refusal({ path })).toBe("invalid artifact path")
      expect(yield* refusal({ path: "call-9/compose-output.json" })).toBe("artifact must belong to this session")
      expect(yield* refusal({ path: "a/b", limit: 3 })).toContain("outside bounds")
    }),
  )
})
