import { type Line, makeLines } from "@acp-kit/protocol/Lines"
import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

const encoder = new TextEncoder()

const bytesOf = (...parts: ReadonlyArray<string | ReadonlyArray<number>>): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === "string" ? [...encoder.encode(part)] : part)))

const split = (
  bytes: Uint8Array,
  sizes: ReadonlyArray<number>,
  limit = 1_000,
): { lines: ReadonlyArray<Line>; oversize: boolean } => {
  const lines = makeLines(limit)
  const out: Array<Line> = []
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = Math.max(1, sizes[turn % Math.max(1, sizes.length)] ?? bytes.length)
    out.push(...lines.push(bytes.slice(at, at + size)))
    at += size
  }
  return { lines: [...out, ...lines.rest()], oversize: lines.oversize() !== undefined }
}

const whole = [1_000_000]

describe("Lines", () => {
  it("splits at line feeds and nowhere else", () => {
    const text = '{"a":"\\u2028"}\n{"b":"\u2028\u2029\u0085"}\n\n  \t\n\r\n{"c":1}\r\n'
    expect(split(bytesOf(text), whole).lines).toEqual(['{"a":"\\u2028"}', '{"b":"\u2028\u2029\u0085"}', '{"c":1}'])
  })

  it("takes a byte order mark away, whatever the chunks", () => {
    for (const sizes of [[1], [2], [3], [4], whole]) {
      expect(split(bytesOf([0xef, 0xbb, 0xbf], '{"a":1}\n', [0xef, 0xbb, 0xbf], '{"b":1}\n'), sizes).lines).toEqual([
        '{"a":1}',
        '{"b":1}',
      ])
    }
  })

  it("tells a line that is not UTF-8 apart and goes on", () => {
    const bad = [[0xff], [0xc3], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf5, 0x80, 0x80, 0x80]]
    for (const bytes of bad) {
      for (const sizes of [[1], [3], whole]) {
        const { lines } = split(bytesOf('{"a":1}\n{"b":"', bytes, '"}\n{"c":"€"}\n'), sizes)
        expect(lines[0]).toBe('{"a":1}')
        expect(lines[1]).toMatchObject({ bad: "utf8", sample: expect.stringContaining("\ufffd") })
        expect(lines[2]).toBe('{"c":"€"}')
      }
    }
  })

  it("gives half a line at the end as it is", () => {
    expect(split(bytesOf('{"a":1}\n{"b":'), whole).lines).toEqual(['{"a":1}', '{"b":'])
    expect(split(bytesOf('{"a":1}\n{"b":1}'), [1]).lines).toEqual(['{"a":1}', '{"b":1}'])
    expect(split(bytesOf("a\n", [0xe2, 0x82]), [1]).lines).toEqual(["a", { bad: "utf8", sample: "\ufffd" }])
  })

  it("takes a line of exactly the limit and nothing after one that is a byte longer, but all before it", () => {
    for (const sizes of [[1], [7], [64], whole]) {
      expect(split(bytesOf(`${"x".repeat(16)}\nshort\n`), sizes, 16)).toEqual({
        lines: ["x".repeat(16), "short"],
        oversize: false,
      })
      expect(split(bytesOf(`before\n${"x".repeat(17)}\nafter\n`), sizes, 16)).toEqual({ lines: ["before"], oversize: true })
      expect(split(bytesOf(`before\n${"ä".repeat(9)}\nafter\n`), sizes, 16)).toEqual({ lines: ["before"], oversize: true })
      expect(split(bytesOf(`before\n${"x".repeat(40)}`), sizes, 16)).toEqual({ lines: ["before"], oversize: true })
    }
  })

  it("does not mind that a chunk's memory is used again", () => {
    const lines = makeLines(100)
    const chunk = bytesOf('{"a"')
    lines.push(chunk)
    chunk.fill(0x20)
    expect(lines.push(bytesOf(":1}\n"))).toEqual(['{"a":1}'])
  })

  it("holds a line that comes byte by byte in the memory of its bytes", () => {
    const lines = makeLines(2_000_000)
    const byte = bytesOf("x")
    const used = () => {
      const { arrayBuffers, heapUsed } = process.memoryUsage()
      return heapUsed + arrayBuffers
    }
    const before = used()
    for (let at = 0; at < 1_000_000; at++) lines.push(byte)
    expect(used() - before).toBeLessThan(40_000_000)
    expect(lines.push(bytesOf("\n"))).toEqual(["x".repeat(1_000_000)])
  })

  const Piece = Schema.Union([
    Schema.String,
    Schema.Literals(["\n", "\r\n", "\n\n", "\ufeff", "😀", "€", "ä", "{}", " "]),
    Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))).check(Schema.isMaxLength(4)),
  ])

  it.prop(
    "gives the same lines under any chunking",
    {
      parts: Schema.Array(Piece),
      sizes: Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))), { maxLength: 12 }),
    },
    ({ parts, sizes }) => {
      const bytes = bytesOf(...parts)
      expect(split(bytes, sizes, 24)).toEqual(split(bytes, whole, 24))
      expect(split(bytes, [1], 24)).toEqual(split(bytes, whole, 24))
    },
    { arbitrary: { runs: 500 } },
  )

  it.prop(
    "loses no line of text",
    { texts: Schema.Array(Schema.String), sizes: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))) },
    ({ texts, sizes }) => {
      const frames = texts.map((text) => JSON.stringify({ text }))
      expect(split(bytesOf(frames.map((frame) => `${frame}\n`).join("")), sizes, 1_000_000).lines).toEqual(frames)
    },
  )

  it("tells how a line that is too long begins, and goes on behind it when asked to, whatever the chunks", () => {
    const texts = ["before", "x".repeat(40), "between", "ä".repeat(9), "y".repeat(17), "after"]
    const bytes = bytesOf(`${texts.join("\n")}\n`)
    for (const size of [1, 2, 3, 7, 20, 64, 1_000]) {
      const lines = makeLines(16)
      const out: Array<Line> = []
      for (let at = 0; at < bytes.length; at += size) {
        let complete = lines.push(bytes.slice(at, at + size))
        for (;;) {
          out.push(...complete)
          const head = lines.oversize()
          if (head === undefined) break
          expect(texts.find((text) => text.startsWith(head.replace(/\ufffd$/, "")))?.length).toBeGreaterThan(8)
          out.push("…")
          complete = lines.skip()
        }
      }
      expect([...out, ...lines.rest()]).toEqual(["before", "…", "between", "…", "…", "after"])
    }
  })
})
