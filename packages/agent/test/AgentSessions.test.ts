import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Files } from "@acp-kit/platform/Files"
import { SessionStore } from "@acp-kit/store/SessionStore"
import { expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as TestClock from "effect/testing/TestClock"
import type { AgentSession, SessionEvent } from "../src/AgentSession.ts"
import { AgentSessions } from "../src/AgentSessions.ts"
import { SetupRefused } from "../src/Directories.ts"
import { ScriptedProvider } from "../src/ScriptedProvider.ts"
import type { Settings } from "../src/SessionParts.ts"
import { type Tool, TurnLoop } from "../src/TurnLoop.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "kit-sessions-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
)

const settings: Settings = {
  provider: ScriptedProvider.make(),
  selection: { model: "scripted", effort: "default" },
  system: "",
  limits: TurnLoop.defaultLimits,
  origin: "top_level",
  structured: false,
  tools: () => Effect.succeed([]),
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

it.layer(Layer.mergeAll(Files.layer, SessionStore.layerMemory))("agent sessions", (it) => {
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

  it.effect("refuses a second prompt while one runs, and takes one as soon as the stop is seen", () =>
    Effect.gen(function* () {
      const { started, tool } = yield* stuck
      const sessions = yield* sessionsOf({ tools: () => Effect.succeed([tool]) })
      const again = yield* Deferred.make<string>()
      const onStop = (_id: string, event: SessionEvent): Effect.Effect<void> =>
        event.type === "stopped" && event.stop.reason === "cancelled"
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
      const sessions = yield* sessionsOf()
      const session = yield* sessions.create({ cwd: yield* directory, view })
      const gate = yield* Deferred.make<void>()
      const turn = yield* session.begin(text("hello"), Deferred.await(gate))
      const cancelled = yield* Effect.forkChild(session.cancel)
      yield* Effect.yieldNow
      yield* Deferred.succeed(gate, undefined)
      expect(yield* turn.result).toBe("cancelled")
      yield* Effect.asVoid(Effect.yieldNow)
      expect(cancelled).toBeDefined()
      expect(session.history.items().map(({ type }) => type)).toEqual(["prompt", "stop"])
    }),
  )

  it.effect("closes a session after cancelling its work, and releases its tools", () =>
    Effect.gen(function* () {
      const { started, tool } = yield* stuck
      const log: Array<string> = []
      const tools = () =>
        Effect.as(
          Effect.addFinalizer(() => Effect.sync(() => log.push("released"))),
          [tool],
        )
      const sessions = yield* sessionsOf({ tools })
      const session = yield* sessions.create({
        cwd: yield* directory,
        view: (_id, event) => Effect.sync(() => event.type === "stopped" && log.push(event.stop.reason)),
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

  const say = Effect.fnUntraced(function* (session: AgentSession, words: string) {
    return yield* (yield* session.begin(text(words), Effect.void)).result
  })
  const shape = (session: AgentSession) => session.history.items().map(({ type }) => type)

  it.effect("opens a closed session again with its whole conversation and its choices", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const sessions = yield* sessionsOf()
      const before = yield* sessions.create({ cwd, view })
      yield* before.setOption("reasoning_effort", "high")
      yield* say(before, "one")
      yield* sessions.close(before.id)
      const after = yield* sessions.load(before.id, { cwd, view })
      expect(after.history.items()).toEqual(before.history.items())
      expect(yield* after.options).toMatchObject([{}, { current: "high" }])
      yield* say(after, "two")
      expect(shape(after)).toEqual(["selection", "prompt", "answer", "stop", "prompt", "answer", "stop"])
      expect(yield* Effect.flip(sessions.load("nobody", { cwd, view }))).toMatchObject({ _tag: "UnknownSession" })
      expect(yield* Effect.flip(sessions.load("../etc", { cwd, view }))).toMatchObject({ _tag: "UnknownSession" })
    }),
  )

  it.effect("gives the open session where its directories are the same, and opens it anew where they are not", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      mkdirSync(join(cwd, "a"))
      const sessions = yield* sessionsOf()
      const open = yield* sessions.create({ cwd, view })
      yield* say(open, "one")
      expect(yield* sessions.load(open.id, { cwd, view })).toBe(open)
      const moved = yield* sessions.load(open.id, { cwd, view, additionalDirectories: [join(cwd, "a")] })
      expect(moved).not.toBe(open)
      expect([moved.additionalDirectories, shape(moved)]).toEqual([[join(cwd, "a")], shape(open)])
    }),
  )

  it.effect("opens the first session again where it is told to resume it, and creates none in its place", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const first = yield* sessionsOf({ first: { id: "mine", resume: false } })
      yield* say(yield* first.create({ cwd, view }), "one")
      yield* first.shutdown
      const second = yield* sessionsOf({ first: { id: "mine", resume: true } })
      expect(shape(yield* second.create({ cwd, view }))).toEqual(["prompt", "answer", "stop"])
      const third = yield* sessionsOf({ first: { id: "lost", resume: true } })
      expect(yield* Effect.flip(third.create({ cwd, view }))).toMatchObject({ _tag: "UnknownSession" })
      expect((yield* third.list({})).sessions.map(({ id }) => id)).not.toContain("lost")
    }),
  )

  it.effect("finishes what a crash left unfinished when it opens a session", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const store = yield* SessionStore.Service
      yield* Effect.scoped(
        Effect.gen(function* () {
          const writer = yield* store.create({ id: "crashed", cwd })
          yield* writer.appendItem({ type: "prompt", id: "p", content: [] })
          yield* writer.appendItem({ type: "call", id: "c", name: "compose", input: {} })
          yield* writer.appendItem({ type: "from the future", id: "x" })
        }),
      )
      const session = yield* (yield* sessionsOf()).load("crashed", { cwd, view })
      expect(session.history.items().slice(2)).toMatchObject([
        { type: "result", id: "c", status: "interrupted" },
        { type: "stop", reason: "cancelled" },
      ])
      expect(yield* say(session, "next")).toBe("end_turn")
    }),
  )

  it.effect("refuses to open a session that another writer holds, and says who", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const [one, other] = [yield* sessionsOf(), yield* sessionsOf()]
      const { id } = yield* one.create({ cwd, view })
      const loading = yield* Effect.forkChild(Effect.flip(other.load(id, { cwd, view })))
      const refusal = yield* Effect.raceFirst(Fiber.join(loading), Effect.forever(TestClock.adjust("1 second")))
      expect(refusal.message).toContain("is open for writing")
    }),
  )

  it.effect("branches the completed turns of a session, waiting for one that runs", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const sessions = yield* sessionsOf()
      const source = yield* sessions.create({ cwd, view })
      yield* source.setOption("reasoning_effort", "low")
      yield* say(source, "one")
      const gate = yield* Deferred.make<void>()
      yield* source.begin(text("two"), Deferred.await(gate))
      const forking = yield* Effect.forkChild(sessions.fork(source.id, { cwd, view }))
      yield* Deferred.succeed(gate, undefined)
      const branch = yield* Fiber.join(forking)
      expect(branch.id).not.toBe(source.id)
      expect(shape(branch)).toEqual(["selection", "prompt", "answer", "stop", "prompt", "answer", "stop"])
      expect(yield* branch.options).toMatchObject([{}, { current: "low" }])
      yield* say(branch, "three")
      expect(shape(source).length).toBe(7)
      yield* sessions.close(source.id)
      expect(shape(yield* sessions.fork(source.id, { cwd, view })).length).toBe(7)
      expect(yield* Effect.flip(sessions.fork("nobody", { cwd, view }))).toMatchObject({ _tag: "UnknownSession" })
    }),
  )

  it.effect("gives a branch what was chosen since the last turn of its source", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const sessions = yield* sessionsOf()
      const source = yield* sessions.create({ cwd, view })
      yield* source.setOption("reasoning_effort", "low")
      expect(yield* (yield* sessions.fork(source.id, { cwd, view })).options).toMatchObject([{}, { current: "low" }])
      yield* say(source, "one")
      yield* source.setOption("reasoning_effort", "high")
      expect(yield* (yield* sessions.fork(source.id, { cwd, view })).options).toMatchObject([{}, { current: "high" }])
    }),
  )

  it.effect("gives a branch the id that its parent has for it, where that is an agent's", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const sessions = yield* sessionsOf()
      const source = yield* sessions.create({ cwd, view })
      const id = "s-01a22ebc-1d16-7fc7-a5c8-4773db9c93aa"
      expect((yield* sessions.fork(source.id, { cwd, view, id })).id).toBe(id)
      expect((yield* sessions.fork(source.id, { cwd, view, id: "anything" })).id).not.toBe("anything")
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

  /** A session whose compose calls go to the background at once and end when they are told to. */
  const withBackground = Effect.fnUntraced(function* (structured: boolean) {
    const end = yield* Deferred.make<void>()
    const events: Array<string> = []
    const sessions = yield* sessionsOf({
      structured,
      tools: ({ background }) =>
        Effect.succeed([
          {
            spec: { name: "compose", description: "", input: {} },
            run: (id) => background.run(id, 0, Effect.as(Deferred.await(end), { status: "completed", output: "done" } as const)),
          },
        ]),
    })
    const stops = yield* Queue.unbounded<SessionEvent & { type: "stopped" }>()
    const session = yield* sessions.create({
      cwd: yield* directory,
      view: (_id, event) =>
        Effect.suspend(() => {
          events.push(event.type === "item" ? event.item.type : event.type)
          return event.type === "stopped" ? Effect.asVoid(Queue.offer(stops, event)) : Effect.void
        }),
    })
    const turn = yield* session.begin(block, Effect.void)
    return { session, sessions, turn, end: Deferred.succeed(end, undefined), stopped: Queue.take(stops), events }
  })

  it.effect("ends a turn while its call goes on in the background, and wakes when that has ended", () =>
    Effect.gen(function* () {
      const { session, turn, end, stopped } = yield* withBackground(false)
      yield* TestClock.adjust(0)
      expect(yield* turn.result).toBe("end_turn")
      const { background } = yield* stopped
      expect(background).toEqual(session.history.items().flatMap((item) => (item.type === "call" ? [item.id] : [])))
      yield* end
      expect(yield* stopped).toMatchObject({ stop: { reason: "end_turn" }, background: [] })
      expect(shape(session)).toEqual(["prompt", "call", "result", "stop", "result", "answer", "stop"])
      expect(session.history.items().at(-2)).toMatchObject({ text: "done" })
    }),
  )

  it.effect("ends a structured turn only when its background calls have ended, and cancels them with it", () =>
    Effect.gen(function* () {
      const nested = yield* withBackground(true)
      yield* TestClock.adjust(0)
      yield* nested.end
      expect(yield* nested.turn.result).toBe("end_turn")
      expect(shape(nested.session)).toEqual(["prompt", "call", "result", "result", "answer", "stop"])
      const cancelled = yield* withBackground(true)
      yield* TestClock.adjust(0)
      yield* cancelled.session.cancel
      expect(yield* cancelled.turn.result).toBe("cancelled")
      yield* cancelled.sessions.close(cancelled.session.id)
    }),
  )
})
