import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { Utf8 } from "../src/Utf8.ts"

const bytes = (text: string, ...more: ReadonlyArray<number>) => Uint8Array.of(...new TextEncoder().encode(text), ...more)

describe("decode", () => {
  it("keeps a text as it is, a byte order mark and a replacement character included", () => {
    for (const text of ["", "é漢\u{1f600}\n", "\ufeffa", "\ufffd"]) expect(Utf8.decode(bytes(text))).toEqual(Result.succeed(text))
  })

  it.each([
    ["a stray byte", bytes("aé", 0xff, 0x41), 3],
    ["a character that is cut at the end", bytes("漢", 0xe6, 0xbc), 3],
    ["a character that another one cuts", bytes("ab", 0xe6, 0xbc, 0x41), 2],
    ["a continuation alone", bytes("", 0x80), 0],
    ["an overlong form", bytes("x", 0xc0, 0x80), 1],
    ["half of a surrogate pair", bytes("xy", 0xed, 0xa0, 0x80), 2],
  ])("says where %s stands", (_name, given, offset) => {
    expect(Utf8.decode(given)).toEqual(Result.fail(offset))
  })
})
