import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { SetupRefused } from "../src/Directories.ts"
import { directory, machine, say, sessionsOf, text, view } from "./Sessions.ts"

it.layer(machine)("agent sessions", (it) => {
  it.effect("opens sessions with ids of their own, the first with the one it was given", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const sessions = yield* sessionsOf({ first: { id: "first", resume: false } })
      const [one, two] = [yield* sessions.create({ cwd, view }), yield* sessions.create({ cwd, view })]
      expect(one.id).toBe("first")
      expect(two.id).not.toBe("first")
      expect(yield* sessions.get("first")).toBe(one)
      expect(yield* Effect.flip(sessions.get("nobody"))).toMatchObject({ _tag: "UnknownSession" })
    }),
  )

  it.effect("takes additional directories that exist, each once, without the working directory", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      for (const name of ["a", "b"]) mkdirSync(join(cwd, name))
      symlinkSync(join(cwd, "a"), join(cwd, "link"))
      writeFileSync(join(cwd, "file"), "")
      const sessions = yield* sessionsOf()
      const at = (...names: ReadonlyArray<string>) =>
        sessions.create({ cwd, view, additionalDirectories: names.map((name) => join(cwd, name)) })
      expect((yield* at("a", "link", "b", ".")).additionalDirectories).toEqual([join(cwd, "a"), join(cwd, "b")])
      expect((yield* Effect.flip(at("gone"))).message).toContain("invalid additional directories")
      expect((yield* Effect.flip(at("file"))).message).toContain("additional directories must be directories")
    }),
  )

  it.effect("refuses a working directory that is relative, missing, a file, or not the one of the process", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      writeFileSync(join(cwd, "file"), "")
      mkdirSync(join(cwd, "sub"))
      const sessions = yield* sessionsOf({ root: cwd })
      const refusal = (cwd: string) => Effect.map(Effect.flip(sessions.create({ cwd, view })), (error) => error.message)
      expect(yield* refusal("sub")).toContain("cwd must be absolute")
      expect(yield* refusal(join(cwd, "gone"))).toContain("cwd does not exist")
      expect(yield* refusal(join(cwd, "file"))).toContain("cwd must be a directory")
      expect(yield* refusal(join(cwd, "sub"))).toBe(`this Kit runtime is fixed to ${cwd}`)
    }),
  )

  it.effect("leaves nothing of a session whose tools cannot be made", () =>
    Effect.gen(function* () {
      const released = yield* Ref.make(0)
      const tools = () =>
        Effect.andThen(
          Effect.addFinalizer(() => Ref.update(released, (count) => count + 1)),
          Effect.fail(new SetupRefused({ message: "no" })),
        )
      const cwd = yield* directory
      const sessions = yield* sessionsOf({ tools, first: { id: "unmade", resume: false } })
      yield* Effect.flip(sessions.create({ cwd, view }))
      expect(yield* Ref.get(released)).toBe(1)
      expect(yield* sessions.list({ cwd })).toEqual({ sessions: [] })
      expect(yield* Effect.flip(sessions.get("unmade"))).toMatchObject({ _tag: "UnknownSession" })
    }),
  )

  it.effect("lists sessions by pages, newest first, without those of agents, and of one directory", () =>
    Effect.gen(function* () {
      const [cwd, other] = [yield* directory, yield* directory]
      const sessions = yield* sessionsOf()
      const titled = yield* sessions.create({ cwd, view })
      yield* say(titled, "  the\n first  words ")
      const agents = yield* sessionsOf({ origin: "subagent" })
      yield* agents.create({ cwd, view })
      const page = yield* sessions.list({ cwd })
      expect(page.sessions.map(({ id, info }) => [id, info?.title])).toEqual([[titled.id, "the first words"]])
      for (let count = 0; count < 101; count++) yield* sessions.close((yield* sessions.create({ cwd: other, view })).id)
      const first = yield* sessions.list({ cwd: other })
      const rest = yield* sessions.list({ cwd: other, cursor: first.next! })
      expect([first.sessions.length, rest.sessions.length, rest.next]).toEqual([100, 1, undefined])
      expect(yield* Effect.flip(sessions.list({ cursor: "17" }))).toMatchObject({ message: "invalid session list cursor" })
      expect(yield* Effect.flip(sessions.list({ cwd: "here" }))).toMatchObject({ _tag: "SetupRefused" })
    }),
  )

  it.effect("calls a session after its first prompt that has text", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const sessions = yield* sessionsOf()
      const session = yield* sessions.create({ cwd, view })
      const title = Effect.map(sessions.list({ cwd }), (page) => page.sessions[0]?.info?.title)
      const image = { type: "image", data: "aGk=", mimeType: "image/png" }
      yield* (yield* session.begin([image], Effect.void)).result
      expect(yield* title).toBeUndefined()
      yield* (yield* session.begin([image, ...text("what is this?")], Effect.void)).result
      yield* say(session, "something else")
      expect(yield* title).toBe("what is this?")
    }),
  )

  it.effect("removes a session, open or not, and one that is gone", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const sessions = yield* sessionsOf()
      const { id } = yield* sessions.create({ cwd, view })
      yield* sessions.remove(id)
      yield* sessions.remove(id)
      yield* sessions.remove("../..")
      expect(yield* sessions.list({ cwd })).toEqual({ sessions: [] })
      expect(yield* Effect.flip(sessions.get(id))).toMatchObject({ _tag: "UnknownSession" })
    }),
  )
})
