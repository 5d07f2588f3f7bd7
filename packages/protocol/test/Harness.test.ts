import { Processes } from "@acp-kit/platform/Processes"
import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import { modelOption } from "@acp-kit/protocol/Options"
import type { ConfigOption, Mood, Step } from "@acp-kit/testing/Mood"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { beginScript, folder, script, scriptedAgent, startAgent, startClient, startScripted, until } from "./support/Agents.ts"
import { limits, text } from "./support/Wire.ts"

const live = (name: string, effect: () => Effect.Effect<unknown, unknown, Processes.Service | Scope.Scope>) =>
  it.live(name, () => Effect.provide(effect(), Processes.layer))

/** What real harnesses do to a client, each done by a real process. */
describe.each([1, 2] as const)("a harness that speaks version %d", (version) => {
  const start = (mood: Mood = {}, changes: Parameters<typeof startScripted>[2] = {}) => startScripted(version, mood, changes)

  live("R1 echoes the offered number", () =>
    Effect.gen(function* () {
      const { client, problems, session } = yield* start({ on: { initialize: { extra: { protocolVersion: 2 } } } })
      expect(client.version).toBe(version)
      expect((yield* session.prompt([text("hi")])).text).toBe("echo: hi")
      expect(problems).toEqual([])
    }),
  )

  for (const otherVersion of ["latest", "refuse"] as const) {
    live(`R1 S110 ${otherVersion === "latest" ? "answers with what it speaks" : "rejects what it does not speak"}`, () =>
      Effect.gen(function* () {
        const { client, problems, session } = yield* start({ otherVersion })
        expect(client).toMatchObject({ version, agentInfo: { name: "scripted-agent" } })
        expect((yield* session.prompt([text("hi")])).text).toBe("echo: hi")
        expect(problems).toEqual([])
      }),
    )
  }

  live("R2 hangs at initialize or at session/new: whoever waits can leave", () =>
    Effect.gen(function* () {
      for (const method of ["initialize", "session/new"] as const) {
        const asked = yield* Deferred.make<void>()
        const observe = (frames: ReadonlyArray<{ readonly direction: string; readonly method?: string }>) =>
          frames.some((frame) => frame.direction === "out" && frame.method === method)
            ? Effect.asVoid(Deferred.succeed(asked, undefined))
            : Effect.void
        const starting = yield* Effect.forkChild(Effect.scoped(start({ on: { [method]: { silent: true } } }, { observe })))
        yield* Deferred.await(asked)
        yield* Fiber.interrupt(starting)
      }
    }),
  )

  live("R3 sends notifications before and right after the answers that open a session", () =>
    Effect.gen(function* () {
      const early: ReadonlyArray<Step> = [
        { notify: { method: "_auth/status_update", params: { status: "ok" } } },
        { commands: [] },
        { title: "early" },
      ]
      const { noises, session } = yield* start({
        start: [{ notify: { method: "_hello" } }],
        on: { "session/new": { before: early, after: [{ commands: [] }, { commands: [] }, { usage: { used: 1, size: 2 } }] } },
      })
      yield* until(session, (view) => view.usage !== undefined)
      expect(yield* session.view).toMatchObject({ title: "early", usage: { used: 1, size: 2 } })
      expect(yield* session.prompt([text("hi")])).toMatchObject({ text: "echo: hi", items: [] })
      expect(noises).toEqual([])
    }),
  )

  live("R4 leaves everything optional out", () =>
    Effect.gen(function* () {
      const bare = version === 1 ? { protocolVersion: 1 } : { protocolVersion: 2, capabilities: { session: {} } }
      const { client, session } = yield* start({ on: { initialize: { result: bare } } })
      expect(client).toMatchObject({ agentInfo: undefined, authMethodIds: [], capabilities: { image: false, fork: false } })
      expect((yield* session.prompt([text("hi")])).text).toBe("echo: hi")
    }),
  )

  live("R4 S123 wants a login at session/new though it advertises none", () =>
    Effect.gen(function* () {
      const auth = { at: ["session/new"], message: "token=secret", data: { methodId: "sso", token: "secret" } } as const
      const error = yield* Effect.flip(start({ auth }))
      expect(error).toMatchObject({ _tag: "AuthRequired", method: "session/new", methodIds: ["sso"] })
      expect(JSON.stringify(error)).not.toContain("secret")
    }),
  )

  live("R4 S123 wants a login and leaves at once", () =>
    Effect.gen(function* () {
      const authMethods = [
        { id: "b", name: "B" },
        { id: "a", name: "A" },
      ]
      const error = yield* Effect.flip(start({ authMethods, auth: { at: ["session/new"], exit: 3 } }))
      expect(error).toMatchObject({ _tag: "AuthRequired", methodIds: ["a", "b"] })
    }),
  )

  live("R4 S123 wants a login at a prompt, after which the session is what it was", () =>
    Effect.gen(function* () {
      const { cwd, session } = yield* start({ auth: { at: ["session/prompt"], until: "login" } })
      expect(yield* Effect.flip(session.prompt([text("hi")]))).toMatchObject({ _tag: "AuthRequired", method: "session/prompt" })
      yield* Effect.promise(() => Bun.write(`${cwd}/login`, ""))
      expect((yield* session.prompt([text("hi")])).text).toBe("echo: hi")
    }),
  )

  for (const requestIds of ["number", "uuid"] as const) {
    live(`R5 R24 S113 S140 S141 asks for permission, input and files under ids of its own (${requestIds})`, () =>
      Effect.gen(function* () {
        const { frames, problems, session } = yield* start({ requestIds })
        const { text: said } = yield* session.prompt(
          script(
            { permission: "usual" },
            { say: ";" },
            { permission: "reject-only" },
            { say: ";" },
            { elicit: "form" },
            { say: ";" },
            { elicit: "url" },
            { say: ";" },
            { request: { method: "fs/write_text_file", params: { path: "/x", content: "" } } },
            { say: ";" },
            { request: { method: "terminal/create", params: { command: "ls" } } },
            { say: ";" },
            { request: { method: "craft/drainMidTurnQueue" } },
          ),
        )
        const notFound = 'answer: {"code":-32601,"message":"Method not found"}'
        expect(said.split(";").map((part) => part.trim())).toEqual([
          expect.stringMatching(/^permission: (?!cancelled)/),
          "permission: cancelled",
          "elicitation: cancel",
          "elicitation: cancel",
          notFound,
          notFound,
          notFound,
        ])
        const asked = frames.filter(({ direction, kind }) => direction === "in" && kind === "request").map(({ id }) => id)
        expect(asked[0]).toEqual(requestIds === "number" ? 0 : expect.stringMatching(/-/))
        expect(problems).toEqual([])
      }),
    )
  }

  live("R6 R35 answers notifications with errors without an id, and prints between its frames and on stderr", () =>
    Effect.gen(function* () {
      const { noises, session } = yield* start({
        start: [{ line: "npm WARN deprecated" }, { stderr: "x".repeat(1_000), times: 500 }],
      })
      const orphan = '{"jsonrpc":"2.0","error":{"code":-32601,"message":"no such notification"}}'
      const { text: said } = yield* session.prompt(
        script(
          { say: "a" },
          { line: orphan },
          { line: "debug: 1" },
          { line: '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}' },
          { line: "[1]" },
          { badUtf8: true },
          { stderr: "noise" },
          { say: "b" },
        ),
      )
      expect(said.replaceAll(/[^ab]/g, "")).toBe("ab")
      expect(noises.map(({ why }) => why)).toEqual(["json", "stray", "json", "stray", "shape", "utf8"])
    }),
  )

  live("R7 sends frames of more than half a megabyte", () =>
    Effect.gen(function* () {
      const commands = Array.from({ length: 6_000 }, (_, at) => ({ name: `command-${at}`, description: "d".repeat(60) }))
      const { session } = yield* start({ on: { "session/new": { after: [{ commands }] } } })
      const { text: said, truncated } = yield* session.prompt(script({ commands }, { longLine: 800_000 }, { say: "!" }))
      expect(said.length).toBeGreaterThan(700_000)
      expect(truncated).toBe(true)
    }),
  )

  for (const busy of ["queue", "reject", "cancel-first", "mute"] as const) {
    live(`R8 would ${busy} a second prompt: it never sees two at once`, () =>
      Effect.gen(function* () {
        const { session } = yield* start({ busy })
        const turns = yield* Effect.all(
          [1, 2, 3].map((n) => session.prompt([text(String(n))])),
          { concurrency: "unbounded" },
        )
        expect(turns.map((turn) => turn.text)).toEqual(["echo: 1", "echo: 2", "echo: 3"])
      }),
    )
  }

  live("R9 goes on talking after the end of the turn", () =>
    Effect.gen(function* () {
      const after: ReadonlyArray<Step> = [
        { say: "afterthought" },
        { notify: { method: "qwen/notify/session/prompt-suggestion" } },
        { tool: { toolCallId: "late", title: "Late" } },
        { title: "After" },
      ]
      const { session } = yield* start({ on: { "session/prompt": { after } } })
      expect(yield* session.prompt([text("one")])).toMatchObject({ text: "echo: one", items: [], tools: [] })
      yield* until(session, (view) => view.title === "After")
      expect(yield* session.view).toMatchObject({ state: "idle", tool: undefined, title: "After" })
      expect((yield* session.prompt([text("two")])).text).toBe("echo: two")
    }),
  )

  live("R10 ends a turn well that said nothing", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      expect(yield* session.prompt(script({ stop: "end_turn" }))).toMatchObject({ empty: true, text: "" })
      expect(yield* session.prompt(script({ usage: { used: 1, size: 2 } }))).toMatchObject({ empty: true })
      expect(yield* session.prompt(script({ say: "x" }))).toMatchObject({ empty: false })
    }),
  )

  live("R11 ends a turn as cancelled though nobody cancelled it", () =>
    Effect.gen(function* () {
      const { frames, session } = yield* start()
      const error = yield* Effect.flip(session.prompt(script({ permission: "reject-only" }, { stop: "cancelled" })))
      expect(error).toMatchObject({ _tag: "TurnFailed", reason: "cancelled", result: { text: "permission: cancelled" } })
      expect(frames.some(({ method }) => method === "session/cancel")).toBe(false)
      expect((yield* session.prompt([text("hi")])).text).toBe("echo: hi")
    }),
  )

  live("R12 fails with codes and data of every kind", () =>
    Effect.gen(function* () {
      const errors = [
        { code: 400, message: "Bad Request" },
        { code: 500, message: "Internal error", data: {} },
        { code: -32603, message: "Internal error", data: { details: "Session not found" } },
        { code: -32603, message: "x", data: "text" },
      ]
      const { session } = yield* start({ on: { "session/prompt": errors.map((error, at) => ({ call: at + 1, error })) } })
      for (const error of errors) {
        expect(yield* Effect.flip(session.prompt([text("hi")]))).toMatchObject({
          _tag: "RpcError",
          method: "session/prompt",
          ...error,
        })
      }
      expect((yield* session.prompt([text("hi")])).text).toBe("echo: hi")
    }),
  )

  live("R13 says nothing until it is cancelled", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      const turn = yield* beginScript(session, { awaitCancel: true })
      expect(yield* turn.cancel).toBe("settled")
      expect(yield* Effect.flip(turn.result)).toMatchObject({ reason: "cancelled" })
    }),
  )

  live("R18 does not stream: everything comes in one piece at the end, the answer with it", () =>
    Effect.gen(function* () {
      const { session } = yield* start({ coalesce: true })
      const words = "0123456789".repeat(100)
      for (let at = 0; at < 20; at++) {
        const turn = yield* session.prompt(
          script({ say: words, chunks: 200 }, { tool: { toolCallId: "t", title: "T", status: "completed" } }),
        )
        expect(turn).toMatchObject({ text: words, tools: [{ id: "t", status: "completed" }] })
      }
    }),
  )

  live("R14 S153 ends with every stop reason there is", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      for (const stop of ["max_turn_requests", "refusal"]) {
        expect(yield* Effect.flip(session.prompt(script({ say: "x" }, { stop })))).toMatchObject({
          _tag: "TurnFailed",
          reason: stop,
          result: { text: "x" },
        })
      }
      expect(yield* Effect.flip(session.prompt(script({ stop: "_tired" })))).toMatchObject({ reason: "unknown" })
      expect(yield* session.prompt(script({ say: "x" }, { stop: "max_tokens" }))).toMatchObject({
        stopReason: "max_tokens",
        text: "x",
      })
    }),
  )

  live("R15 would never recover from an empty prompt, which is never sent", () =>
    Effect.gen(function* () {
      const { frames, session } = yield* start()
      expect(yield* Effect.flip(session.prompt([]))).toMatchObject({ _tag: "ContentRefused", reason: "empty" })
      expect(frames.some(({ method }) => method === "session/prompt")).toBe(false)
    }),
  )

  live("R16 reports usage in the answer and in updates, which are different things", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
      const turn = yield* session.prompt(
        script(
          { usage: { used: 100, size: 200, cost: { amount: 1.5, currency: "USD" } } },
          { say: "x" },
          { stop: "end_turn", usage },
        ),
      )
      expect(turn.usage).toEqual({ used: 100, size: 200, cost: { amount: 1.5, currency: "USD" } })
      expect(version === 1 ? turn.answer : turn.idle).toMatchObject({ usage })
    }),
  )

  live("R17 mixes its own words into the answer", () =>
    Effect.gen(function* () {
      const { session } = yield* start({ on: { "session/new": { after: [{ say: "Info: welcome" }, { title: "said" }] } } })
      yield* until(session, (view) => view.title === "said")
      expect(
        (yield* session.prompt(script({ say: "**Warning:** x\n" }, { think: "secret thought" }, { say: "answer" }))).text,
      ).toBe("**Warning:** x\nanswer")
    }),
  )

  live("R19 shows tool calls late, twice, backwards, and through permission requests first", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      const raw = (update: JsonObject): Step => ({ update })
      const { tools } = yield* session.prompt(
        script(
          { permission: { options: "usual", toolCall: { toolCallId: "gemini", title: "Edit", kind: "edit" } } },
          raw({ sessionUpdate: "tool_call_update", toolCallId: "gemini", status: "completed" }),
          raw({ sessionUpdate: "tool_call_update", toolCallId: "cline", status: "pending" }),
          raw({ sessionUpdate: "tool_call_update", toolCallId: "cline", status: "completed" }),
          raw({ sessionUpdate: "tool_call", toolCallId: "cline", title: "Run", status: "pending" }),
          raw({ sessionUpdate: "tool_call", toolCallId: "claude", title: "Read", status: "pending" }),
          raw({ sessionUpdate: "tool_call", toolCallId: "claude", title: "Read", status: "pending" }),
          raw({ sessionUpdate: "tool_call", toolCallId: "nano", title: "Write", status: "completed" }),
        ),
      )
      expect(tools.map(({ id, status, title }) => [id, title, status])).toEqual([
        ["gemini", "Edit", "completed"],
        ["cline", "Run", "completed"],
        ["claude", "Read", "pending"],
        ["nano", "Write", "completed"],
      ])
    }),
  )

  live("R20 leaves tool calls open for ever when it is cancelled", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      const turn = yield* beginScript(
        session,
        { tool: { toolCallId: "t", title: "Sleep", status: "in_progress" } },
        { awaitCancel: true },
      )
      yield* until(session, (view) => view.tool === "Sleep")
      expect(yield* turn.cancel).toBe("settled")
      expect(yield* Effect.flip(turn.result)).toMatchObject({
        result: { tools: [{ id: "t", status: "in_progress", open: true }] },
      })
      expect((yield* session.view).tool).toBeUndefined()
    }),
  )

  live("R21 uses the same tool call ids in every turn", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      const first = yield* session.prompt(
        script(
          { tool: { toolCallId: "call_1", title: "A", status: "pending" } },
          { toolUpdate: { toolCallId: "call_1", status: "completed" } },
        ),
      )
      const second = yield* session.prompt(
        script({ tool: { toolCallId: "call_1", title: "B", status: "pending" } }, { toolUpdate: { toolCallId: "call_1" } }),
      )
      expect(first.tools).toMatchObject([{ title: "A", status: "completed", open: false }])
      expect(second.tools).toMatchObject([{ title: "B", status: "pending", open: true }])
    }),
  )

  for (const withdraw of [true, false]) {
    live(
      `R22 ${withdraw ? "withdraws its permission request" : "waits for the answer to its permission request"} when it is cancelled`,
      () =>
        Effect.gen(function* () {
          const asked = yield* Deferred.make<void>()
          const go = yield* Deferred.make<void>()
          let held = true
          const { session } = yield* start(
            { cancelled: { withdraw } },
            {
              observe: (frames) => {
                const answers = frames.some(
                  ({ direction, kind, method }) =>
                    direction === "out" && kind === "response" && method === "session/request_permission",
                )
                if (!answers || !held) return Effect.void
                held = false
                return Effect.andThen(Deferred.succeed(asked, undefined), Deferred.await(go))
              },
            },
          )
          const turn = yield* beginScript(session, { permission: "usual" }, { permission: "usual" }, { awaitCancel: true })
          yield* Deferred.await(asked)
          const cancelling = yield* Effect.forkChild(turn.cancel, { startImmediately: true })
          yield* Deferred.succeed(go, undefined)
          expect(yield* Fiber.join(cancelling)).toBe("settled")
          expect((yield* session.prompt([text("hi")])).text).toBe("echo: hi")
        }),
    )
  }

  live("R23 fails the prompt after a cancelled one", () =>
    Effect.gen(function* () {
      const { session } = yield* start({
        on: { "session/prompt": { call: 2, error: { code: -32603, message: "Tool result is missing" } } },
      })
      const turn = yield* beginScript(session, { awaitCancel: true })
      expect(yield* turn.cancel).toBe("settled")
      expect(yield* Effect.flip(session.prompt([text("hi")]))).toMatchObject({
        _tag: "RpcError",
        message: "Tool result is missing",
      })
      expect((yield* session.prompt([text("hi")])).text).toBe("echo: hi")
    }),
  )

  live("R24b S113 is offered neither files nor terminals nor elicitation", () =>
    Effect.gen(function* () {
      const { frames } = yield* start()
      const params = (frames[0]?.message as JsonObject | undefined)?.params
      expect(JSON.stringify(params)).not.toMatch(/elicitation|"terminal":true|"(read|write)TextFile":true/)
    }),
  )

  live("R25 R27 S104 advertises what it cannot do: load, fork, close and delete fail with what it said", () =>
    Effect.gen(function* () {
      const method = version === 1 ? "session/load" : "session/resume"
      const error = { code: -32603, message: "No previous sessions" }
      const gone = { code: -32601, message: "Method not found" }
      const { client, cwd, session } = yield* start({
        on: {
          [method]: { error },
          "session/fork": { error: gone },
          "session/close": { error: gone },
          "session/delete": { error: gone },
        },
      })
      expect(yield* Effect.flip(client.attach({ sessionId: "lost", cwd }))).toMatchObject({ _tag: "RpcError", ...error })
      expect(yield* Effect.flip(session.fork({ cwd }))).toMatchObject({ _tag: "RpcError", ...gone })
      expect((yield* session.prompt([text("hi")])).text).toBe("echo: hi")
      expect(yield* Effect.flip(session.close)).toMatchObject({ _tag: "RpcError", ...gone })
      expect(yield* Effect.flip(session.delete)).toMatchObject({ _tag: "RpcError", ...gone })
    }),
  )

  live("R26 S104 replays on fork and on load, before the answer; none of it is output", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const kept = ["--state-dir", home]
      const first = yield* startScripted(version, { replay: { fork: true }, sessionIds: ["first", "branch"] }, {}, ...kept)
      yield* first.session.prompt([text("one")])
      const branch = yield* first.session.fork({ cwd: first.cwd })
      expect(branch.id).toBe("branch")
      expect(branch.replay.agentMessages).toBeGreaterThan(0)
      expect((yield* branch.prompt([text("two")])).text).toBe("echo: two")
      const second = yield* startClient(version, {}, {}, ...kept)
      const again = yield* second.client.attach({ sessionId: "branch", cwd: second.cwd })
      expect(again.replay.userMessages).toBeGreaterThan(0)
      expect(yield* again.prompt([text("three")])).toMatchObject({ text: "echo: three", items: [], tools: [] })
      expect((yield* again.prompt(script({ recall: true }))).text).toContain("two")
    }),
  )

  live("R27 S104 knows nothing of a session, by error or by an empty success", () =>
    Effect.gen(function* () {
      const { client, cwd } = yield* start()
      expect(yield* Effect.flip(client.attach({ sessionId: "nobody", cwd }))).toMatchObject({ _tag: "RpcError", code: -32002 })
      const forgetful = yield* start({ unknownSession: "empty" })
      expect((yield* forgetful.client.attach({ sessionId: "nobody", cwd })).replay).toEqual({
        updates: expect.any(Number),
        userMessages: 0,
        agentMessages: 0,
      })
    }),
  )

  live("R28 S22 S124 S125 answers an option with the list, with nothing, with a notice, or with an error", () =>
    Effect.gen(function* () {
      const option = (id: string, currentValue: string, values: ReadonlyArray<string>, category: string): ConfigOption => ({
        id,
        category,
        currentValue,
        options: values.map((value) => ({ value, name: value })),
      })
      const before = [option("llm", "m1", ["m1", "m2"], "model"), option("effort", "low", ["low"], "thought_level")]
      const after = [option("llm", "m2", ["m1", "m2"], "model"), option("effort", "high", ["low", "high"], "thought_level")]
      const { problems, session } = yield* start({
        options: before,
        optionEffects: [{ id: "llm", value: "m2", options: after }],
        on: { "session/set_config_option": [{ call: 2, result: {}, idle: true, before: [{ options: before }] }] },
      })
      expect(modelOption(yield* session.options)?.id).toBe("llm")
      expect((yield* session.setOption("llm", "m2")).find(({ id }) => id === "effort")).toMatchObject({
        currentValue: "high",
        values: ["low", "high"],
      })
      expect((yield* session.setOption("effort", "high")).map(({ currentValue }) => currentValue)).toEqual(["m1", "low"])
      expect(yield* Effect.flip(session.setOption("llm", "m9"))).toMatchObject({ _tag: "RpcError" })
      expect(problems).toEqual([])
    }),
  )

  live("S74 keeps the latest snapshot, what came between prompts included; snapshots replace", () =>
    Effect.gen(function* () {
      const { session } = yield* start({
        options: [
          { id: "a", currentValue: true },
          { id: "b", currentValue: true },
        ],
      })
      const first = yield* session.prompt(script({ options: [{ id: "c", currentValue: false }] }, { say: "x" }))
      expect(first.configOptions).toMatchObject([{ [version === 1 ? "id" : "configId"]: "c" }])
      expect(first.items).toEqual([])
      expect(first.rich).toBe(false)
    }),
  )

  live("R29 uses ids of every shape", () =>
    Effect.gen(function* () {
      const ids = ["../../etc/passwd", "https://x/y?z#w", "1796…_TcCo-_cli", "p:subagent:c", "__proto__"]
      const { client, cwd, session } = yield* start({
        sessionIds: ids,
        options: [
          {
            id: "m/[x]$|(y)",
            currentValue: "a/[b]",
            options: [
              { value: "a/[b]", name: "A" },
              { value: "$c|d", name: "C" },
            ],
          },
        ],
      })
      const sessions = [session, ...(yield* Effect.forEach(ids.slice(1), () => client.newSession({ cwd })))]
      expect(sessions.map(({ id }) => id)).toEqual(ids)
      const turns = yield* Effect.all(
        sessions.map((each) => each.prompt([text(each.id)])),
        { concurrency: "unbounded" },
      )
      expect(turns.map((turn) => turn.text)).toEqual(ids.map((id) => `echo: ${id}`))
      expect(yield* session.setOption("m/[x]$|(y)", "$c|d")).toMatchObject([{ currentValue: "$c|d" }])
    }),
  )

  live("R30 R31 gets cwd, folders and MCP servers as they were given", () =>
    Effect.gen(function* () {
      const { client, cwd, problems } = yield* start()
      const servers: ReadonlyArray<JsonObject> = [
        version === 1 ? { name: "fs", command: "/bin/x", args: [], env: [] } : { type: "stdio", name: "fs", command: "/bin/x" },
        { type: "http", name: "h", url: "http://127.0.0.1:1", headers: [{ name: "Authorization", value: "Bearer t" }] },
      ]
      const session = yield* client.newSession({ cwd, additionalDirectories: ["/tmp"], mcpServers: servers })
      const where = JSON.parse((yield* session.prompt(script({ where: true }))).text) as Json
      expect(where).toMatchObject({ cwd, additionalDirectories: ["/tmp"], mcpServers: servers })
      expect(problems).toEqual([])
    }),
  )

  live("R32 streams updates of sessions that nobody created", () =>
    Effect.gen(function* () {
      const { frames, session } = yield* start({ sessionIds: ["main"] })
      const foreign = yield* Effect.forkChild(
        Stream.runCollect(
          Stream.take(
            Stream.filter(session.activity(), ({ from }) => from !== undefined),
            3,
          ),
        ),
        { startImmediately: true },
      )
      const words = (said: string): JsonObject => ({
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text: said },
      })
      const turn = yield* session.prompt(
        script(
          { update: { sessionUpdate: "subagent_update", sessionId: "a36f" } },
          { update: words("one"), session: "a36f" },
          { update: words("two"), session: "main:subagent:1" },
          { update: words("three"), session: "stranger" },
          { say: "mine" },
        ),
      )
      expect(turn.text).toBe("mine")
      expect((yield* Fiber.join(foreign)).map(({ from }) => from)).toEqual(["a36f", "main:subagent:1", "stranger"])
      expect(frames.filter(({ parentSessionId }) => parentSessionId === "main").map(({ sessionId }) => sessionId)).toEqual([
        "a36f",
        "main:subagent:1",
        "stranger",
      ])
    }),
  )

  live("R33 ignores a cancel: the turn is given up in time and the process can be ended", () =>
    Effect.gen(function* () {
      const { session } = yield* start({ deaf: ["cancel", "eof", "SIGTERM"] }, { limits: { ...limits, settle: "100 millis" } })
      const turn = yield* beginScript(session, { say: "x" }, { awaitCancel: true })
      expect(yield* turn.cancel).toBe("unsettled")
      expect(yield* Effect.flip(session.prompt([text("hi")]))).toMatchObject({ _tag: "SessionRetired" })
    }),
  )

  live("R34 runs many sessions in one process, truly interleaved", () =>
    Effect.gen(function* () {
      const { client, cwd } = yield* start()
      const sessions = yield* Effect.forEach(Array.from({ length: 8 }), () => client.newSession({ cwd }))
      const turns = yield* Effect.all(
        sessions.map((session, at) => session.prompt(script({ repeat: 40, steps: [{ say: `${at}` }, { wait: 1 }] }))),
        { concurrency: "unbounded" },
      )
      expect(turns.map((turn) => turn.text)).toEqual(sessions.map((_, at) => String(at).repeat(40)))
    }),
  )

  live("R36 keeps what it likes below the home that it is given", () =>
    Effect.gen(function* () {
      const { cwd, session } = yield* start()
      expect((yield* session.prompt(script({ env: "HOME" }))).text).toBe(cwd)
    }),
  )

  live("dies in the middle of a turn, by exit and by signal, with half a line and with words on stderr", () =>
    Effect.gen(function* () {
      const ends: ReadonlyArray<[ReadonlyArray<Step>, JsonObject]> = [
        [
          [{ stderr: "panic: at the disco" }, { raw: '{"jsonrpc":"2.0","method":"sess' }, { exit: 7 }],
          { exitCode: 7, stderrTail: expect.stringContaining("disco") },
        ],
        [[{ signal: "SIGKILL" }], { signal: "SIGKILL", exitCode: undefined as never }],
      ]
      for (const [steps, known] of ends) {
        const { session } = yield* start()
        const other = yield* Effect.forkChild(Effect.flip(session.prompt(script({ say: "x" }, ...steps))), {
          startImmediately: true,
        })
        expect(yield* Fiber.join(other)).toMatchObject({ _tag: "TransportClosed", reason: "eof", ...known })
      }
    }),
  )

  live("keeps the last 8 KiB of stderr", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      const error = yield* Effect.flip(
        session.prompt(script({ stderr: "x".repeat(99), times: 1_000 }, { stderr: "the end" }, { exit: 1 })),
      )
      expect(error).toMatchObject({ _tag: "TransportClosed", exitCode: 1 })
      const tail = error._tag === "TransportClosed" ? error.stderrTail : ""
      expect(tail.length).toBe(8_192)
      expect(tail.trimEnd().endsWith("the end")).toBe(true)
    }),
  )

  live("leaves a grandchild that holds its pipes", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      const error = yield* Effect.flip(session.prompt(script({ grandchild: { holdsPipes: true } }, { exit: 4 })))
      expect(error).toMatchObject({ _tag: "TransportClosed", exitCode: 4 })
    }),
  )

  live("floods", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      const turn = yield* session.prompt(script({ flood: 50_000 }))
      expect(turn.text.length).toBe(50_000 * 16)
    }),
  )

  live("stops reading: what cannot be written does not hang whoever gives up", () =>
    Effect.gen(function* () {
      const { session } = yield* start({}, { limits: { ...limits, settle: "100 millis", close: "100 millis" } })
      const turn = yield* beginScript(session, { say: "x" }, { stopReading: true }, { awaitCancel: true })
      yield* until(session, () => true)
      const big = "y".repeat(4 * 1024 * 1024)
      const stuck = yield* Effect.forkChild(session.setOption(big, "v"), { startImmediately: true })
      expect(yield* turn.cancel).toBe("unsettled")
      expect(yield* Effect.flip(session.close)).toMatchObject({ _tag: "DeadlineExceeded" })
      yield* Fiber.interrupt(stuck)
    }),
  )
})

describe("a harness of version 1", () => {
  live("rejects 2 and ends: a fresh process is asked for", () =>
    Effect.gen(function* () {
      const command = yield* scriptedAgent({ versions: [1], otherVersion: "refuse-and-exit" })
      expect(yield* Effect.flip(startAgent(command))).toMatchObject({ _tag: "VersionRejected", closed: { exitCode: 1 } })
      expect((yield* startAgent(command, { offer: 1 })).client.version).toBe(1)
    }),
  )
})

describe("a harness of another version", () => {
  live("S110 fails before a session opens", () =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(startClient(1, { otherVersion: { answer: 3 }, versions: [3] }))).toMatchObject({
        _tag: "UnsupportedVersion",
        got: 3,
      })
    }),
  )
})

describe("a harness of version 2", () => {
  const revisions: Readonly<Record<string, NonNullable<Mood["v2"]>>> = {
    "answers the prompt with {}": { answer: "empty" },
    "answers the prompt with null": { answer: "null" },
    "leaves message ids out": { noMessageIds: true },
    "is idle without having been running": { running: false },
    "is idle before it answers": { order: "last" },
    "answers after running": { order: "running" },
    "reports idle three times": { idle: 3 },
    "gives no stop reason": { noStopReason: true },
    "echoes nothing": { echo: false },
  }
  for (const [name, v2] of Object.entries(revisions)) {
    live(`S111 S112 ${name}`, () =>
      Effect.gen(function* () {
        const { session } = yield* startScripted(2, { v2 })
        for (const words of ["one", "two"]) expect((yield* session.prompt([text(words)])).text).toBe(`echo: ${words}`)
        expect(yield* Effect.flip(session.prompt(script({ say: "x" }, { stop: "refusal" })))).toMatchObject({
          reason: "refusal",
          result: { text: "x" },
        })
        const turn = yield* beginScript(session, { awaitCancel: true })
        expect(yield* turn.cancel).toBe("settled")
        expect((yield* session.prompt([text("three")])).text).toBe("echo: three")
      }),
    )
  }

  live("S153 stops with an error", () =>
    Effect.gen(function* () {
      const { session } = yield* startScripted(2, {})
      const error = yield* Effect.flip(
        session.prompt(script({ say: "x" }, { stop: "error", error: { code: -32603, message: "boom" } })),
      )
      expect(error).toMatchObject({
        _tag: "TurnFailed",
        reason: "error",
        message: "nested agent turn failed",
        result: { text: "x", idle: { error: { message: "boom" } } },
      })
    }),
  )

  live("S112 replaces whole messages", () =>
    Effect.gen(function* () {
      const { session } = yield* startScripted(2, {})
      const turn = yield* session.prompt(
        script(
          { say: "draft", messageId: "a" },
          { say: "second", messageId: "b" },
          { message: { messageId: "a", content: [{ type: "text", text: "final" }] } },
          { message: { messageId: "b" } },
          { say: "!", messageId: "a" },
          { say: "gone", messageId: "c" },
          { message: { messageId: "c", content: null } },
        ),
      )
      expect(turn.text).toBe("final!second")
    }),
  )

  live("S30 S31 S33 is steered while it works", () =>
    Effect.gen(function* () {
      const { session } = yield* startScripted(2, {})
      const turn = yield* beginScript(session, { say: "waiting" }, { awaitInject: true })
      const receipt = yield* session.steer([text("left")])
      expect(receipt).toMatchObject({ messageId: expect.any(String) })
      expect((yield* turn.result).text).toContain("steered: left")
      expect(yield* Effect.flip(session.steer([text("late")]))).toMatchObject({ _tag: "NotWorking" })
    }),
  )

  live("S33 acknowledges steering late or never; the turn goes on", () =>
    Effect.gen(function* () {
      const { cwd, session } = yield* startScripted(
        2,
        { on: { "session/inject": { silent: true } } },
        { limits: { ...limits, steer: "100 millis" } },
      )
      const turn = yield* beginScript(session, { say: "x" }, { gate: `go` })
      yield* until(session, ({ state }) => state === "working")
      expect(yield* Effect.flip(session.steer([text("left")]))).toMatchObject({ _tag: "DeadlineExceeded", delivery: "unknown" })
      yield* Effect.promise(() => Bun.write(`${cwd}/go`, ""))
      expect((yield* turn.result).text).toBe("xsteered: left")
    }),
  )
})
