import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Files from "@acp-kit/platform/Files"
import type { JsonObject } from "@acp-kit/runlet/Host"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { Edit } from "../src/Edit.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "kit-edit-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, force: true })),
)

const context = { operationId: "o", dispatchId: "o:0", attempt: 0, line: 1, column: 1 }

const editIn = (root: string, limits: Partial<Edit.Limits> = {}) =>
  Effect.map(Edit.make({ root, limits }), (tool) => (input: JsonObject) => tool.handler([input], context))

const prepare = Effect.gen(function* () {
  const root = yield* directory
  const edit = yield* editIn(root)
  const at = (name: string) => join(root, name)
  return {
    edit,
    at,
    read: (name: string) => Fs.readFileSync(at(name), "utf8"),
    write: (name: string, content: string | Uint8Array) => Fs.writeFileSync(at(name), content),
    change: (path: string, old: string, text: string) => edit({ op: "edit", path, hunks: [{ old, new: text }] }),
    names: () => Fs.readdirSync(root).sort(),
  }
})

it.layer(Files.layer)("edit", (it) => {
  it.effect("adds a file and the directories above it, and nothing over a file that exists", () =>
    Effect.gen(function* () {
      const { edit, read, names } = yield* prepare
      expect(yield* edit({ op: "add", path: "a/b/c.txt", content: "héllo\r\n" })).toEqual({ path: "a/b/c.txt", status: "added" })
      expect(read("a/b/c.txt")).toBe("héllo\r\n")
      expect(yield* Effect.flip(edit({ op: "add", path: "a/b/c.txt", content: "x" }))).toMatchObject({
        code: "EXISTS",
        message: "a/b/c.txt already exists",
      })
      expect(read("a/b/c.txt")).toBe("héllo\r\n")
      expect(names()).toEqual(["a"])
    }),
  )

  it.effect("adds nothing through a dangling link", () =>
    Effect.gen(function* () {
      const { edit, at } = yield* prepare
      Fs.symlinkSync(at("nowhere"), at("link"))
      expect(yield* Effect.flip(edit({ op: "add", path: "link", content: "x" }))).toMatchObject({ code: "EXISTS" })
      expect(Fs.existsSync(at("nowhere"))).toBe(false)
    }),
  )

  it.effect("changes every hunk or none, and leaves no temporary file", () =>
    Effect.gen(function* () {
      const { edit, read, write, names } = yield* prepare
      write("f", "one\ntwo\nthree\n")
      const hunks = [
        { context_before: "two\n", old: "three", new: "3" },
        { old: "one", new: "1", context_after: "\ntwo" },
      ]
      expect(yield* edit({ op: "edit", path: "f", hunks })).toEqual({ path: "f", status: "edited" })
      expect(read("f")).toBe("1\ntwo\n3\n")
      const refused = yield* Effect.flip(
        edit({
          op: "edit",
          path: "f",
          hunks: [
            { old: "two", new: "2" },
            { old: "four", new: "4" },
          ],
        }),
      )
      expect(refused).toMatchObject({ code: "NO_MATCH", message: "f: hunk anchor did not match (hunk 2)" })
      expect(read("f")).toBe("1\ntwo\n3\n")
      expect(names()).toEqual(["f"])
    }),
  )

  it.effect("refuses an anchor that stands twice, is empty, or overlaps another", () =>
    Effect.gen(function* () {
      const { edit, write } = yield* prepare
      write("f", "aaa b")
      const refuse = (...hunks: ReadonlyArray<JsonObject>) => Effect.flip(edit({ op: "edit", path: "f", hunks }))
      expect((yield* refuse({ old: "aa", new: "x" })).message).toContain("hunk anchor is ambiguous")
      expect((yield* refuse({ old: "", new: "x" })).message).toContain("an edit hunk needs an anchor")
      expect((yield* refuse({ old: "aaa b", new: "x" }, { old: "b", new: "y" })).message).toContain("overlap")
    }),
  )

  it.effect("keeps mode, line ends, byte order mark and what it does not touch", () =>
    Effect.gen(function* () {
      const { read, write, change, at, edit } = yield* prepare
      write("crlf", "\ufeffone\r\ntwo\r\nthree")
      Fs.chmodSync(at("crlf"), 0o751)
      yield* change("crlf", "one\ntwo", "1\n2\n2.5")
      expect(read("crlf")).toBe("\ufeff1\r\n2\r\n2.5\r\nthree")
      expect(Fs.statSync(at("crlf")).mode & 0o7777).toBe(0o751)
      write("mixed", "a\nb\r\nc\nd\n")
      yield* edit({ op: "edit", path: "mixed", hunks: [{ old: "c\n", new: "C\nC\n" }] })
      expect(read("mixed")).toBe("a\nb\r\nC\nC\nd\n")
    }),
  )

  it.effect("changes the file behind a link and keeps the link", () =>
    Effect.gen(function* () {
      const { read, write, change, at } = yield* prepare
      write("real", "x")
      Fs.symlinkSync("real", at("link"))
      yield* change("link", "x", "y")
      expect(read("real")).toBe("y")
      expect(Fs.lstatSync(at("link")).isSymbolicLink()).toBe(true)
    }),
  )

  it.effect("refuses what is missing, no text, no file, or too large", () =>
    Effect.gen(function* () {
      const { write, change, edit, at } = yield* prepare
      write("binary", new Uint8Array([0x78, 0xff]))
      Fs.mkdirSync(at("dir"))
      const small = yield* editIn(at(""), { fileBytes: 1 })
      expect(yield* Effect.flip(change("gone", "x", "y"))).toMatchObject({ code: "NOT_FOUND" })
      expect(yield* Effect.flip(change("binary", "x", "y"))).toMatchObject({ code: "NOT_TEXT" })
      expect(yield* Effect.flip(change("dir", "x", "y"))).toMatchObject({ code: "NOT_A_FILE" })
      expect(yield* Effect.flip(edit({ op: "delete", path: "dir" }))).toMatchObject({ code: "NOT_A_FILE" })
      expect(yield* Effect.flip(edit({ op: "delete", path: "gone" }))).toMatchObject({ code: "NOT_FOUND" })
      expect(yield* Effect.flip(edit({ op: "delete", path: " " }))).toMatchObject({ message: "path must be non-empty" })
      const hunks = [{ old: "x", new: "y" }]
      expect(yield* Effect.flip(small({ op: "edit", path: "binary", hunks }))).toMatchObject({ code: "TOO_LARGE" })
      expect(yield* Effect.flip(edit({ op: "add", path: "binary/below", content: "" }))).toMatchObject({
        code: "IO",
        message: "could not add binary/below: a part of its path is not a directory",
      })
    }),
  )

  it.effect("deletes a file, and of a link the link", () =>
    Effect.gen(function* () {
      const { write, edit, at, names } = yield* prepare
      write("real", "x")
      Fs.symlinkSync("real", at("link"))
      expect(yield* edit({ op: "delete", path: "link" })).toEqual({ path: "link", status: "deleted" })
      expect(names()).toEqual(["real"])
    }),
  )

  it.effect("refuses a file that someone changed between reading and writing", () =>
    Effect.gen(function* () {
      const root = yield* directory
      const path = join(root, "f")
      Fs.writeFileSync(path, "one")
      const files = yield* FileSystem.FileSystem
      const meddling = Layer.succeed(FileSystem.FileSystem, {
        ...files,
        chmod: (file, mode) => Effect.tap(files.chmod(file, mode), () => Effect.sync(() => Fs.writeFileSync(path, "two"))),
      })
      const edit = yield* Effect.provide(editIn(root), meddling)
      expect(yield* Effect.flip(edit({ op: "edit", path: "f", hunks: [{ old: "one", new: "1" }] }))).toMatchObject({
        code: "CHANGED",
      })
      expect(Fs.readFileSync(path, "utf8")).toBe("two")
      expect(Fs.readdirSync(root)).toEqual(["f"])
    }),
  )

  it.effect("loses no change of many that are made at once", () =>
    Effect.gen(function* () {
      const { read, write, change } = yield* prepare
      const lines = Array.from({ length: 20 }, (_, index) => `line ${index};`)
      write("f", lines.join("\n"))
      yield* Effect.forEach(lines, (line) => change("f", line, line.toUpperCase()), { concurrency: "unbounded" })
      expect(read("f")).toBe(lines.join("\n").toUpperCase())
    }),
  )
})
