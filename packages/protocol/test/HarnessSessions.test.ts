import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import { modelOption } from "@acp-kit/protocol/Options"
import type { ConfigOption, Mood, Step } from "@acp-kit/testing/Mood"
import { describe, expect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { beginScript, folder, live, script, startClient, startScripted, until } from "./support/Agents.ts"
import { limits, text } from "./support/Wire.ts"

/** What real harnesses do to a client, each done by a real process. */
describe.each([1, 2] as const)("a harness that speaks version %d", (version) => {
  const start = (mood: Mood = {}, changes: Parameters<typeof startScripted>[2] = {}) => startScripted(version, mood, changes)

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
      yield* Effect.scoped(
        Effect.gen(function* () {
          const first = yield* startScripted(version, { replay: { fork: true }, sessionIds: ["first", "branch"] }, {}, ...kept)
          yield* first.session.prompt([text("one")])
          const branch = yield* first.session.fork({ cwd: first.cwd })
          expect(branch.id).toBe("branch")
          expect(branch.replay.agentMessages).toBeGreaterThan(0)
          expect((yield* branch.prompt([text("two")])).text).toBe("echo: two")
        }),
      )
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
      const turns = yield* Effect.forEach(sessions, (each) => each.prompt([text(each.id)]), { concurrency: "unbounded" })
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
      const turns = yield* Effect.forEach(
        sessions,
        (session, at) => session.prompt(script({ repeat: 40, steps: [{ say: `${at}` }, { wait: 1 }] })),
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

  live("leaves a grandchild that prints on its stdout for ever", () =>
    Effect.gen(function* () {
      const { session } = yield* start({}, { limits: { ...limits, drain: "50 millis" } })
      const error = yield* Effect.flip(session.prompt(script({ grandchild: { babbles: true, leaves: true } }, { exit: 4 })))
      expect(error).toMatchObject({ _tag: "TransportClosed", exitCode: 4 })
    }),
  )

  live("asks thousands of times and leaves before it has read one answer", () =>
    Effect.gen(function* () {
      const { session } = yield* start()
      const ask = `${JSON.stringify({ jsonrpc: "2.0", id: "x", method: "fs/read_text_file" })}\n`
      const error = yield* Effect.flip(session.prompt(script({ raw: ask.repeat(5_000) }, { exit: 4 })))
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
