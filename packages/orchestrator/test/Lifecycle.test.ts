import * as Fs from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { appears, failure, isObject, script, touch, World, watch } from "./support/World.ts"

const id = /^s-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe.each([1, 2] as const)("a child that speaks v%i", (version) => {
  const review = { harnesses: { review: { mood: { versions: [version] } } } }

  it.live("S10 S11 S18 S42 starts, continues and refuses an old value, in one session", () =>
    Effect.gen(function* () {
      const world = yield* World.make(review)
      const parent = yield* world.open()
      const first = yield* parent.subagent({ prompt: "hello", name: "Reviewer" })
      expect(first).toEqual({ id: expect.stringMatching(id), name: "Reviewer", output: "echo: hello", generation: 1 })
      const second = yield* parent.prompt({ subagent: first, prompt: "again" })
      expect(second).toEqual({ ...first, output: "echo: again", generation: 2 })
      const stale = yield* failure(parent.prompt({ subagent: first, prompt: "old" }))
      expect(stale).toMatchObject({ code: "STALE_GENERATION", message: "stale subagent generation 1; current generation is 2" })
      expect(world.received()).toEqual(["initialize", "session/new", "session/prompt", "session/prompt"])
      const third = yield* parent.prompt({ subagent: { id: first.id, generation: 2 }, prompt: script({ recall: true }) })
      expect(third.output).toBe('["hello","again"]')
    }),
  )

  it.live("S110 S120 S121 is started directly in its directory and offered v2 with Kit's name and version", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ ...review, env: { KIT_TEST_MARK: "a b $HOME" } })
      Fs.mkdirSync(world.file("root", "sub"))
      const parent = yield* world.open()
      const child = yield* parent.subagent({
        prompt: script({ where: true }, { say: " " }, { env: "KIT_TEST_MARK" }),
        cwd: "sub",
      })
      expect(child.output).toBe(
        `${JSON.stringify({ cwd: `${world.root}/sub`, additionalDirectories: [], mcpServers: [] })} a b $HOME`,
      )
      expect(world.events()[0]).toMatchObject({ event: "start", detail: { cwd: `${world.root}/sub` } })
      const [initialize] = world.frames().filter((frame) => frame.message.method === "initialize")
      expect(initialize?.message.params).toMatchObject({ protocolVersion: 2, clientInfo: { name: "kit", version: "9.9.9" } })
    }),
  )

  it.live("S153 fails for every stop reason but end_turn and max_tokens, and says which", () =>
    Effect.gen(function* () {
      const world = yield* World.make(review)
      const parent = yield* world.open()
      const partial = yield* parent.subagent({ prompt: script({ say: "half" }, { stop: "max_tokens" }) })
      expect(partial).toMatchObject({ output: "half", generation: 1 })
      const stops = [
        ["refusal", "REFUSED", "nested agent refused the prompt"],
        ["max_turn_requests", "TURN_LIMIT", "nested agent reached its turn-request limit"],
        ["cancelled", "CANCELLED", "nested agent cancelled"],
        ["bored", "TURN_FAILED", 'nested agent returned an unknown stop reason: "bored"'],
      ] as const
      for (const [stop, code, message] of stops) {
        expect(yield* failure(parent.subagent({ prompt: script({ stop }) }))).toMatchObject({ code, message })
      }
      const broken = yield* failure(parent.subagent({ prompt: script({ fail: { code: -32603, message: "boom" } }) }))
      expect(broken).toMatchObject({ code: "TURN_FAILED" })
      expect(broken.message).toMatch(/^nested agent turn failed/)
    }),
  )

  it.live("S156 leaves no child where the first turn fails: no process, no name, no place", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ ...review, limits: { liveChildren: 1 } })
      const parent = yield* world.open()
      const error = yield* failure(parent.subagent({ prompt: script({ stop: "refusal" }), name: "Reviewer" }))
      expect(error.code).toBe("REFUSED")
      expect(world.alive()).toEqual([])
      expect(yield* parent.subagents({})).toEqual([])
      const child = yield* parent.subagent({ prompt: "hi", name: "Reviewer" })
      expect(child.name).toBe("Reviewer")
    }),
  )

  it.live("S43 S154 retires a child whose dispatched continuation fails, and frees its name", () =>
    Effect.gen(function* () {
      const world = yield* World.make(review)
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi", name: "Reviewer" })
      const error = yield* failure(parent.prompt({ subagent: child, prompt: script({ stop: "refusal" }) }))
      expect(error.code).toBe("REFUSED")
      expect(world.alive()).toEqual([])
      const reuse = yield* failure(parent.prompt({ subagent: child, prompt: "again" }))
      expect(reuse).toMatchObject({ code: "SUBAGENT_RETIRED", message: "subagent session is retired" })
      expect((yield* parent.subagent({ prompt: "hi", name: "Reviewer" })).name).toBe("Reviewer")
    }),
  )

  it.live("S153 S154 fails a turn whose answer is larger than can be kept, and retires its child before the answer is over", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ ...review, limits: { answerBytes: 64 * 1024 } })
      const parent = yield* world.open()
      const whole = "x".repeat(64 * 1024)
      const child = yield* parent.subagent({ prompt: script({ say: whole }) })
      expect(child.output).toBe(whole)
      const endless = script({ say: `${whole}x`, chunks: 8 }, { gate: world.file("never") })
      expect(yield* failure(parent.prompt({ subagent: child, prompt: endless }))).toMatchObject({
        code: "TURN_FAILED",
        message: `the agent's answer is larger than 65536 bytes`,
      })
      expect(world.received().filter((method) => method === "session/cancel")).toHaveLength(1)
      expect(world.alive()).toEqual([])
      expect(yield* failure(parent.prompt({ subagent: child, prompt: "again" }))).toMatchObject({
        code: "SUBAGENT_RETIRED",
        message: "subagent session is retired",
      })
      expect(yield* failure(parent.subagent({ prompt: endless }))).toMatchObject({ code: "TURN_FAILED" })
      expect(yield* parent.subagents({})).toEqual([])
      expect(world.alive()).toEqual([])
    }),
  )

  it.live("S163 says that the process exited without a response, and of one that ended in between", () =>
    Effect.gen(function* () {
      const world = yield* World.make(review)
      const parent = yield* world.open()
      const events = yield* watch(parent)
      const error = yield* failure(parent.subagent({ prompt: script({ stderr: "oh no" }, { exit: 3 }) }))
      expect(error).toMatchObject({
        code: "LOST",
        message: "nested agent process exited without a response (exit status 3)",
        uncertain: true,
      })
      expect(error.details).toMatchObject({ exitCode: 3 })
      const killed = yield* failure(parent.subagent({ prompt: script({ signal: "SIGKILL" }) }))
      expect(killed.message).toBe("nested agent process exited without a response (signal SIGKILL)")
      const child = yield* parent.subagent({ prompt: "hi" })
      const [pid] = world.alive()
      process.kill(pid!, "SIGKILL")
      yield* events.until((event) => event.type === "removed" && event.id === child.id)
      expect(events.seen.filter((event) => event.type === "removed" && event.id === child.id)).toHaveLength(1)
      const reuse = yield* failure(parent.prompt({ subagent: child, prompt: "again" }))
      expect(reuse).toMatchObject({ code: "LOST", message: "nested agent process is no longer running" })
    }),
  )

  it.live("S123 S129 reports the login that is missing, keeps nothing, and succeeds after it", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const login = world.file("login")
      const mood = (at: "session/new" | "session/prompt") => ({
        versions: [version],
        authMethods: [
          { id: "oauth", name: "Browser" },
          { id: "key", name: "Key" },
        ],
        auth: { at: [at], until: login, message: "secret text", data: { methodId: "device", token: "secret" } },
      })
      const parent = yield* world.open({
        harnesses: { early: { mood: mood("session/new") }, late: { mood: mood("session/prompt") } },
      })
      const ask = (harness: string) => parent.subagent({ prompt: "hi", harness, name: "A" })
      const message = (prefix: string) =>
        `${prefix}child authentication required (auth_required; methodId: "device", "key", "oauth"); log in to the configured ACP harness outside Kit, then retry. Kit does not run child authentication commands`
      const early = yield* failure(ask("acp.early"))
      expect(early).toMatchObject({ code: "AUTH_REQUIRED", retryable: true, message: message('ACP harness "acp.early": ') })
      const late = yield* failure(ask("acp.late"))
      expect(late).toMatchObject({ code: "AUTH_REQUIRED", message: message("") })
      expect(JSON.stringify([early, late])).not.toContain("secret")
      expect([...world.alive("early"), ...world.alive("late")]).toEqual([])
      expect(yield* parent.subagents({})).toEqual([])
      yield* touch(login)
      for (const harness of ["acp.early", "acp.late"]) expect((yield* ask(harness)).output).toBe("echo: hi")
      expect(world.received("early")).not.toContain("authenticate")
    }),
  )

  it.live("S154 keeps a child as it was where a continuation was not taken: login missing", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open({
        harnesses: {
          review: {
            mood: { versions: [version], on: { "session/prompt": { call: 2, error: { code: -32000, message: "secret" } } } },
          },
        },
      })
      const child = yield* parent.subagent({ prompt: "hi" })
      expect((yield* failure(parent.prompt({ subagent: child, prompt: "x" }))).code).toBe("AUTH_REQUIRED")
      expect(yield* parent.subagents({})).toMatchObject([{ id: child.id, status: "idle", generation: 1, task: "hi" }])
      expect(yield* parent.session.children).toMatchObject([{ id: child.id, lifecycle: "Idle", generation: 1 }])
      expect(yield* parent.prompt({ subagent: child, prompt: "y" })).toMatchObject({ output: "echo: y", generation: 2 })
    }),
  )
})

describe("a child", () => {
  it.live("S19 takes prompts one at a time in the order of their calls, each checked when its turn comes", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      const gate = world.file("gate")
      const [first, second] = yield* Effect.all(
        [
          Effect.ensuring(
            parent.prompt({ subagent: child, prompt: script({ touch: world.file("in") }, { gate }, { say: "one" }) }),
            Effect.void,
          ),
          failure(Effect.tap(parent.prompt({ subagent: child, prompt: "two" }), () => Effect.die("not stale"))),
          Effect.andThen(appears(world.file("in")), touch(gate)),
        ],
        { concurrency: "unbounded" },
      )
      expect(first).toMatchObject({ output: "one", generation: 2 })
      expect(second).toMatchObject({ code: "STALE_GENERATION", message: "stale subagent generation 1; current generation is 2" })
      expect(world.received().filter((method) => method === "session/prompt")).toHaveLength(2)
    }),
  )

  it.live("S19 runs beside others", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const meet = (mine: string, other: string) =>
        script({ touch: world.file(mine) }, { gate: world.file(other) }, { say: mine })
      const met = yield* Effect.all([parent.subagent({ prompt: meet("a", "b") }), parent.subagent({ prompt: meet("b", "a") })], {
        concurrency: 2,
      })
      expect(met.map((child) => child.output)).toEqual(["a", "b"])
    }),
  )

  it.live("S20 keeps harness, model, cwd and name: they are refused, not ignored", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const child = yield* parent.subagent({ prompt: "hi" })
      for (const key of ["harness", "model", "cwd", "name", "agent"]) {
        const error = yield* failure(parent.prompt({ subagent: child, prompt: "x", [key]: "y" }))
        expect(error).toMatchObject({ code: "INVALID_ARGUMENT" })
        expect(error.message).toContain(`unknown argument "${key}" of prompt: ${key} belongs to subagent`)
      }
      for (const key of ["harness", "model", "cwd", "agent"]) {
        expect((yield* failure(parent.fork({ subagent: child, prompt: "x", [key]: "y" }))).code).toBe("INVALID_ARGUMENT")
      }
      expect((yield* failure(parent.subagent({ promt: "x" }))).message).toBe(
        'unknown argument "promt" of subagent; did you mean "prompt"?',
      )
      expect(world.received()).toEqual(["initialize", "session/new", "session/prompt"])
    }),
  )

  it.live("S21 resolves a relative directory from Kit's own, and fails before any start where there is none", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      yield* touch(world.file("root", "file"))
      const missing = yield* failure(parent.subagent({ prompt: "x", cwd: "nowhere" }))
      expect(missing.message).toBe(
        `could not open subagent working directory ${world.root}/nowhere: there is no such file or directory`,
      )
      const file = yield* failure(parent.subagent({ prompt: "x", cwd: "file" }))
      expect(file.message).toBe(`subagent working directory is not a directory: ${world.root}/file`)
      expect(world.events()).toEqual([])
    }),
  )

  it.live("S23 S40 S41 S43 S50 is listed from its start on with id, name, status, generation and task", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const events = yield* watch(parent)
      const gate = world.file("gate")
      const running = yield* Effect.forkChild(parent.subagent({ prompt: script({ touch: world.file("in") }, { gate }) }))
      yield* appears(world.file("in"))
      const [row] = yield* parent.subagents({})
      expect(row).toEqual({
        id: expect.stringMatching(id),
        name: "Agent 1",
        status: "working",
        generation: 1,
        task: expect.any(String),
      })
      yield* touch(gate)
      const child = yield* Fiber.join(running)
      const twin = yield* parent.subagent({ prompt: "  do\n this ", name: "agent 1" })
      expect(twin.name).toBe("agent 1 2")
      expect(yield* parent.subagents({})).toMatchObject([
        { id: child.id, status: "idle", generation: 1 },
        { id: twin.id, status: "idle", generation: 1, task: "do this" },
      ])
      const statuses = events.seen.flatMap((event) =>
        event.type === "changed" && event.row.id === child.id ? [event.row.status] : [],
      )
      expect([...new Set(statuses)]).toEqual(["starting", "working", "idle"])
      expect(yield* failure(Effect.asVoid(parent.subagents({ all: true })))).toMatchObject({
        message: "subagents input must be an empty object",
      })
    }),
  )

  it.live("S160 is not started at the deepest level, and never forked there", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open({ depth: 2 })
      const limit = { code: "DEPTH_LIMIT", message: "subagent depth limit (2) reached" }
      expect(yield* failure(parent.subagent({ prompt: "x" }))).toMatchObject(limit)
      expect(yield* failure(parent.fork({ subagent: { id: "s-x", generation: 1 }, prompt: "x" }))).toMatchObject(limit)
      expect(world.events()).toEqual([])
    }),
  )

  it.live("S161 is refused where all places are taken; the refusal says by whom, and a close frees one", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ limits: { liveChildren: 2 } })
      const parent = yield* world.open()
      const first = yield* parent.subagent({ prompt: "x", name: "First" })
      yield* parent.subagent({ prompt: "x", name: "Second" })
      const full = yield* failure(parent.subagent({ prompt: "x" }))
      expect(full).toMatchObject({ code: "CAPACITY", retryable: true })
      expect(full.message).toMatch(/^live subagent session limit \(2\) reached: held by First \(idle\), Second \(idle\)/)
      yield* parent.close(first)
      expect((yield* parent.subagent({ prompt: "x" })).name).toBe("Agent 1")
    }),
  )

  it.live("S170 S171 gets the parent's additional directories, and is refused where it cannot take them", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open({
        harnesses: { able: {}, unable: { mood: { capabilities: { additionalDirectories: false } } } },
        additionalDirectories: [world.home],
      })
      const child = yield* parent.subagent({ prompt: script({ where: true }) })
      expect(JSON.parse(String(child.output))).toMatchObject({ additionalDirectories: [world.home] })
      const refused = yield* failure(parent.subagent({ prompt: "x", harness: "acp.unable" }))
      expect(refused.message).toBe('ACP harness "acp.unable" does not advertise additional project directory support')
      expect(world.received("unable")).toEqual(["initialize"])
      expect(world.alive("unable")).toEqual([])
    }),
  )

  it.live("K01 K02 K03 K07 K08 has its directory with four files before it runs, and every frame in its log", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      const child = yield* parent
        .subagent({ prompt: script({ say: "one" }, { exit: 1 }) })
        .pipe(Effect.flip, Effect.andThen(parent.subagent({ prompt: "hello" })))
      const folder = world.file("home", "sessions", parent.session.id, "subagents", child.id)
      expect(
        Fs.readdirSync(folder)
          .filter((name) => !name.startsWith("."))
          .sort(),
      ).toEqual(["context.json", "meta.json", "prompt.txt", "wire.log"])
      const meta = JSON.parse(Fs.readFileSync(`${folder}/meta.json`, "utf8"))
      expect(meta).toMatchObject({
        agent_id: child.id,
        session_id: parent.session.id,
        status: "idle",
        spec: { harness: "acp.review" },
      })
      expect(Fs.readFileSync(`${folder}/prompt.txt`, "utf8")).toBe("")
      const log = Fs.readFileSync(`${folder}/wire.log`, "utf8")
      for (const { message } of world.frames().filter((frame) => frame.pid === world.alive()[0])) {
        expect(log).toContain(JSON.stringify(message))
      }
      const loaded = yield* parent.session.subagents.load(child.id)
      expect(loaded.context).toMatchObject({
        messages: [
          { role: "user", content: [{ type: "text", text: "hello" }] },
          { role: "agent", text: "echo: hello" },
        ],
        last_output: "echo: hello",
        generation: 1,
      })
      expect(isObject(loaded.context)).toBe(true)
    }),
  )
})
