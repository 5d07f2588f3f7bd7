import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { Files } from "../src/Files.ts"
import { SystemFailure } from "../src/SystemFailure.ts"
import { directory } from "./Fixture.ts"

describe("why", () => {
  it.live("tells in words why a file could not be used", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const root = yield* directory
      mkdirSync(join(root, "folder"))
      writeFileSync(join(root, "file"), "")
      symlinkSync("circle", join(root, "circle"))
      const read = (name: string) => Effect.map(Effect.flip(files.readFile(join(root, name))), SystemFailure.why)
      expect(yield* read("absent")).toBe("there is no such file or directory")
      expect(yield* read("folder")).toBe("it is a directory")
      expect(yield* read("file/below")).toBe("a part of its path is not a directory")
      expect(yield* read("circle")).toBe("its links lead nowhere")
      expect(yield* read("n".repeat(300))).toBe("its name is too long")
    }).pipe(Effect.scoped, Effect.provide(Files.layer)),
  )

  it("names the code where it has no words", () => {
    expect(SystemFailure.explain("EXDEV")).toBe("the system said EXDEV")
    expect(SystemFailure.codeOf(new Error("without a code"))).toBe("UNKNOWN")
  })
})
