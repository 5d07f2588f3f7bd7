import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Files } from "@acp-kit/platform/Files"
import { expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import { AgentSessions, type Settings } from "../src/AgentSessions.ts"
import { SetupRefused } from "../src/Directories.ts"
import { Histories } from "../src/History.ts"
import { ScriptedProvider } from "../src/ScriptedProvider.ts"
import { type Tool, type TurnEvent, TurnLoop } from "../src/TurnLoop.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "kit-sessions-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
)

const settings: Settings = {
  provider: ScriptedProvider.make(),
  selection: { model: "scripted", effort: "default" },
  system: "",
  limits: TurnLoop.defaultLimits,
  parts: () => Effect.succeed({ history: Histories.memory(), tools: [] }),
}

const sessionsOf = (changed: Partial<Settings> = {}) =>
  Effect.map(Layer.build(AgentSessions.layerWith({ ...settings, ...changed })), (context) =>
    Context.get(context, AgentSessions.Service),
  )

const view = () => Effect.void
const text = (text: string) => [{ type: "text", text }]

/** A tool that starts and does not end. */
const stuck = Effect.map(Deferred.make<void>(), (started) => ({
  started: Deferred.await(started),
  tool: {
    spec: { name: "compose", description: "", input: {} },
    run: () => Effect.andThen(Deferred.succeed(started, undefined), Effect.never),
  } satisfies Tool,
}))

const block = text("```runlet\nreturn 1\n```")

it.layer(Files.layer)("agent sessions", (it) => {
  it.effect("opens sessions with ids of their own, the first with the one it was given", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const sessions = yield* sessionsOf({ firstId: "first" })
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

  it.effect("leaves nothing of a session whose parts cannot be made", () =>
    Effect.gen(function* () {
      const released = yield* Ref.make(0)
      const parts = () =>
        Effect.andThen(
          Effect.addFinalizer(() => Ref.update(released, (count) => count + 1)),
          Effect.fail(new SetupRefused({ message: "no" })),
        )
      const sessions = yield* sessionsOf({ parts, firstId: "first" })
      yield* Effect.flip(sessions.create({ cwd: yield* directory, view }))
      expect(yield* Ref.get(released)).toBe(1)
      expect(yield* Effect.flip(sessions.get("first"))).toMatchObject({ _tag: "UnknownSession" })
    }),
  )

  it.effect("refuses a second prompt while one runs, and takes one as soon as the stop is seen", () =>
    Effect.gen(function* () {
      const { started, tool } = yield* stuck
      const sessions = yield* sessionsOf({ parts: () => Effect.succeed({ history: Histories.memory(), tools: [tool] }) })
      const again = yield* Deferred.make<string>()
      const onStop = (_id: string, event: TurnEvent): Effect.Effect<void> =>
        event.type === "item" && event.item.type === "stop" && event.item.reason === "cancelled"
          ? Effect.flatMap(session.begin(text("next"), Effect.void), ({ messageId }) => Deferred.succeed(again, messageId)).pipe(
              Effect.orDie,
              Effect.asVoid,
            )
          : Effect.void
      const session = yield* sessions.create({ cwd: yield* directory, view: onStop })
      const first = yield* session.begin(block, Effect.void)
      yield* started
      expect((yield* Effect.flip(session.begin(block, Effect.void))).message).toBe("session is already running a prompt")
      yield* session.cancel
      expect(yield* first.result).toBe("cancelled")
      yield* Deferred.await(again)
      yield* sessions.idle
    }),
  )

  it.effect("cancels a turn that has not started yet and records its prompt", () =>
    Effect.gen(function* () {
      const history = Histories.memory()
      const sessions = yield* sessionsOf({ parts: () => Effect.succeed({ history, tools: [] }) })
      const session = yield* sessions.create({ cwd: yield* directory, view })
      const gate = yield* Deferred.make<void>()
      const turn = yield* session.begin(text("hello"), Deferred.await(gate))
      const cancelled = yield* Effect.forkChild(session.cancel)
      yield* Effect.yieldNow
      yield* Deferred.succeed(gate, undefined)
      expect(yield* turn.result).toBe("cancelled")
      yield* Effect.asVoid(Effect.yieldNow)
      expect(cancelled).toBeDefined()
      expect(history.items().map(({ type }) => type)).toEqual(["prompt", "stop"])
    }),
  )

  it.effect("closes a session after cancelling its work, and releases its parts", () =>
    Effect.gen(function* () {
      const { started, tool } = yield* stuck
      const log: Array<string> = []
      const parts = () =>
        Effect.as(
          Effect.addFinalizer(() => Effect.sync(() => log.push("released"))),
          { history: Histories.memory(), tools: [tool] },
        )
      const sessions = yield* sessionsOf({ parts })
      const session = yield* sessions.create({
        cwd: yield* directory,
        view: (_id, event) =>
          Effect.sync(() => event.type === "item" && event.item.type === "stop" && log.push(event.item.reason)),
      })
      yield* session.begin(block, Effect.void)
      yield* started
      yield* sessions.close(session.id)
      expect(log).toEqual(["cancelled", "released"])
      expect(yield* Effect.flip(sessions.close(session.id))).toMatchObject({ _tag: "UnknownSession" })
      yield* sessions.shutdown
    }),
  )

  it.effect("applies a changed option from the next turn on", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const provider = {
        ...settings.provider,
        stream: (request: Parameters<typeof settings.provider.stream>[0]) => {
          asked.push(request.effort)
          return settings.provider.stream(request)
        },
      }
      const sessions = yield* sessionsOf({ provider })
      const session = yield* sessions.create({ cwd: yield* directory, view })
      yield* (yield* session.begin(text("a"), Effect.void)).result
      expect(yield* session.setOption("reasoning_effort", "low")).toMatchObject([{ id: "model" }, { current: "low" }])
      yield* (yield* session.begin(text("b"), Effect.void)).result
      expect(asked).toEqual(["default", "low"])
    }),
  )
})
