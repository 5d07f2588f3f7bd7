import { writeFile } from "node:fs/promises"
import type { Mood, Step } from "@acp-kit/testing/Mood"
import { describe, expect } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { live, script, scriptedAgent, startAgent, startClient, startScripted, until } from "./support/Agents.ts"
import { text } from "./support/Wire.ts"

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
      yield* Effect.promise(() => writeFile(`${cwd}/login`, ""))
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
