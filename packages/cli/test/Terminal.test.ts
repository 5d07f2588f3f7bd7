import { Terminal } from "@acp-kit/cli/Terminal"
import { Host } from "@acp-kit/platform/Host"
import { Stdio } from "@acp-kit/platform/Stdio"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const terminal = (options: {
  readonly env?: Readonly<Record<string, string>>
  readonly chunks?: ReadonlyArray<Uint8Array>
  readonly read?: Stdio.Interface["read"]
  readonly errIsTerminal?: boolean
  readonly size?: { readonly columns: number; readonly rows: number }
  /** Why nothing can be written. */
  readonly closed?: string
}) => {
  const chunks = [...(options.chunks ?? [])]
  const stdio = Layer.succeed(Stdio.Service, {
    read: options.read ?? Effect.sync(() => chunks.shift()),
    write: () => (options.closed === undefined ? Effect.void : Effect.fail(new Stdio.OutputClosed({ reason: options.closed }))),
    writeError: () => Effect.void,
  })
  const host = Host.layerWith({ env: options.env ?? {}, kitHome: "/", cwd: "/", self: ["kit"], version: "0" })
  const layer = Terminal.layerWith({
    inIsTerminal: false,
    outIsTerminal: false,
    errIsTerminal: options.errIsTerminal ?? true,
    size: () => options.size ?? {},
  })
  return Effect.provide(Terminal.Service, Layer.provide(layer, Layer.merge(stdio, host)))
}

describe("Terminal", () => {
  it.effect("colours and redraws on a terminal, unless it is dumb or NO_COLOR is set", () =>
    Effect.gen(function* () {
      const look = (env: Readonly<Record<string, string>>, errIsTerminal = true) =>
        Effect.map(terminal({ env, errIsTerminal }), ({ color, redraws }) => ({ color, redraws }))
      expect(yield* look({})).toEqual({ color: true, redraws: true })
      expect(yield* look({ NO_COLOR: "1" })).toEqual({ color: false, redraws: true })
      expect(yield* look({ NO_COLOR: "" })).toEqual({ color: true, redraws: true })
      expect(yield* look({ TERM: "dumb" })).toEqual({ color: false, redraws: false })
      expect(yield* look({}, false)).toEqual({ color: false, redraws: false })
    }),
  )

  it.effect("reads input whole, however it is cut, and refuses what is not UTF-8", () =>
    Effect.gen(function* () {
      const bytes = new TextEncoder().encode("é漢\n")
      const cut = yield* terminal({ chunks: [...bytes].map((byte) => Uint8Array.of(byte)) })
      expect(yield* cut.input(6)).toBe("é漢\n")
      const broken = yield* terminal({ chunks: [Uint8Array.of(0x61), Uint8Array.of(0xe9)] })
      expect(yield* Effect.flip(broken.input(6))).toMatchObject({
        reason: "it is not UTF-8: the byte at offset 1 belongs to no character",
      })
    }),
  )

  it.effect("reads input no further than its limit", () =>
    Effect.gen(function* () {
      let reads = 0
      const endless = yield* terminal({
        read: Effect.sync(() => {
          reads++
          return new Uint8Array(10)
        }),
      })
      expect(yield* Effect.flip(endless.input(25))).toMatchObject({ reason: "it is larger than 25 bytes" })
      expect(reads).toBe(3)
    }),
  )

  it.effect("goes on where nobody reads its output, and has a size where none is known", () =>
    Effect.gen(function* () {
      const closed = yield* terminal({ closed: "EPIPE" })
      yield* closed.out("text")
      yield* closed.closed
      expect(yield* closed.lost).toBeUndefined()
      expect(yield* Effect.all([closed.columns, closed.rows])).toEqual([80, 24])
      const silent = yield* terminal({ size: { columns: 0, rows: 0 } })
      expect(yield* Effect.all([silent.columns, silent.rows])).toEqual([80, 24])
    }),
  )

  it.effect("remembers that text was lost, and why", () =>
    Effect.gen(function* () {
      const full = yield* terminal({ closed: "ENOSPC" })
      expect(yield* full.lost).toBeUndefined()
      yield* full.out("text")
      expect(yield* full.lost).toMatchObject({ reason: "ENOSPC" })
    }),
  )
})
