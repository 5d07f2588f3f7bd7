import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Files } from "../src/Files.ts"
import { TextFile } from "../src/TextFile.ts"
import { directory } from "./Fixture.ts"

describe("read", () => {
  it.live("gives the text as it is, or says which file could not be read and why", () =>
    Effect.gen(function* () {
      const root = yield* directory
      const [text, broken, folder, absent] = ["text", "broken", "folder", "absent"].map((name) => join(root, name)) as [
        string,
        string,
        string,
        string,
      ]
      writeFileSync(text, "\ufeffé\r\n")
      writeFileSync(broken, Uint8Array.of(0x61, 0xff))
      mkdirSync(folder)
      const why = (path: string) => Effect.map(Effect.flip(TextFile.read(path)), ({ message, missing }) => [message, missing])
      expect(yield* TextFile.read(text)).toBe("\ufeffé\r\n")
      expect(TextFile.unmarked("\ufeffé")).toBe("é")
      expect(yield* why(absent)).toEqual([`could not read ${absent}: there is no such file or directory`, true])
      expect(yield* why(folder)).toEqual([`could not read ${folder}: it is a directory`, false])
      const most = (path: string, bytes: number) => Effect.mapError(TextFile.readAtMost(path, bytes), ({ message }) => message)
      expect(yield* most(text, 7)).toBe("\ufeffé\r\n")
      expect(yield* Effect.flip(most(text, 6))).toBe(`could not read ${text}: it is larger than 6 bytes`)
      expect(yield* Effect.flip(most(folder, 6))).toBe(`could not read ${folder}: it is a directory`)
      expect(yield* why(broken)).toEqual([
        `could not read ${broken}: it is not UTF-8: the byte at offset 1 belongs to no character`,
        false,
      ])
    }).pipe(Effect.scoped, Effect.provide(Files.layer)),
  )
})
