import type { Mood } from "@acp-kit/testing/Mood"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { failure, script, World, watch } from "./support/World.ts"

const start = Effect.fnUntraced(function* (mood: Mood, limits: { readonly startupMs?: number; readonly drainMs?: number } = {}) {
  const world = yield* World.make({ harnesses: { review: { mood } }, limits })
  const parent = yield* world.open()
  const events = yield* watch(parent)
  const error = yield* failure(parent.subagent({ prompt: "hi", name: "A" }))
  expect(world.alive()).toEqual([])
  expect(yield* parent.subagents({})).toEqual([])
  const logs = () => events.seen.flatMap((event) => (event.type === "log" ? [`ACP harness ${event.harness}: ${event.line}`] : []))
  return { world, parent, error, logs, events }
})

const where = '(harness="acp.review", source=configured ACP profile, cwd=configured working directory)'

describe("a start that fails", () => {
  it.live("S163 says spawn failure, of what, where, and what to look at", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { command: "/nowhere/secret-agent" } } })
      const parent = yield* world.open()
      const errors = yield* Effect.all(
        Array.from({ length: 64 }, () => failure(parent.subagent({ prompt: "hi" }))),
        { concurrency: "unbounded" },
      )
      for (const error of errors) {
        expect(error).toMatchObject({
          code: "SPAWN",
          retryable: true,
          message: `ACP harness spawn failure: ENOENT: there is no "/nowhere/secret-agent" (harness="acp.review", source=configured ACP profile, cwd=${JSON.stringify(world.root)}); verify its installation, PATH, the working directory, and command of [acp.review] in config.toml`,
          details: { reason: "ENOENT", command: "/nowhere/secret-agent", cwd: world.root },
        })
      }
      expect(yield* parent.subagents({})).toEqual([])
    }),
  )

  it.live("S163 says handshake timeout where nothing comes, and ends the process", () =>
    Effect.gen(function* () {
      const { error, world } = yield* start(
        { on: { initialize: { silent: true } }, deaf: ["eof", "SIGTERM"] },
        { startupMs: 300 },
      )
      expect(error).toMatchObject({
        code: "HANDSHAKE_TIMEOUT",
        retryable: true,
        message: `ACP harness handshake timeout: no response within 0.3 seconds ${where}`,
      })
      expect(world.received()[0]).toBe("initialize")
    }),
  )

  it.live("S162 spends one deadline on the whole start: the session and its options count too", () =>
    Effect.gen(function* () {
      const { error, world } = yield* start({ on: { "session/new": { silent: true } } }, { startupMs: 600 })
      expect(error.code).toBe("HANDSHAKE_TIMEOUT")
      expect(world.received().slice(0, 2)).toEqual(["initialize", "session/new"])
    }),
  )

  it.live("S163 says nested agent exited during startup, with status and the end of stderr as details", () =>
    Effect.gen(function* () {
      const { error, logs } = yield* start({ start: [{ stderr: "no licence" }, { exit: 42 }] })
      expect(error).toMatchObject({
        code: "EXITED",
        message: `nested agent exited during startup: exit status 42 ${where}`,
        details: { exitCode: 42, stderr: "no licence\n" },
      })
      expect(logs()).toContain("ACP harness review: no licence")
    }),
  )

  it.live("S163 knows the status and the end of stderr where something that was left behind holds stderr open", () =>
    Effect.gen(function* () {
      const holding = { grandchild: { holdsPipes: "stderr", leaves: true } } as const
      const mood: Mood = { start: [{ stderr: "no licence" }, holding, { closeOutput: true }, { exit: 42 }] }
      const { error } = yield* start(mood, { drainMs: 1_000 })
      expect(error).toMatchObject({ code: "EXITED", details: { exitCode: 42, stderr: "no licence\n" } })
    }),
  )

  it.live("S163 says whose message was too large, and how large one may be", () =>
    Effect.gen(function* () {
      const long = { harnesses: { review: { mood: { start: [{ longLine: 70_000 }] } } }, limits: { lineBytes: 65_536 } }
      const parent = yield* (yield* World.make(long)).open()
      expect(yield* failure(parent.subagent({ prompt: "hi" }))).toMatchObject({
        code: "EXITED",
        message: `nested agent exited during startup: a message of the agent is larger than 65536 bytes ${where}`,
      })
      const world = yield* World.make({ limits: { lineBytes: 65_536 } })
      expect(yield* failure((yield* world.open()).subagent({ prompt: script({ longLine: 70_000 }) }))).toMatchObject({
        code: "LOST",
        uncertain: true,
        message: "nested agent process exited without a response: a message of the agent is larger than 65536 bytes",
      })
      expect(world.alive()).toEqual([])
    }),
  )

  it.live("S163 says protocol handshake failure where the child answers with an error or with nonsense", () =>
    Effect.gen(function* () {
      const refused = yield* start({ on: { "session/new": { error: { code: -32603, message: 'no model "x" is installed' } } } })
      expect(refused.error).toMatchObject({
        code: "HANDSHAKE_FAILED",
        message: `ACP harness protocol handshake failure: the child answered session/new with error -32603: no model "x" is installed ${where}`,
      })
      const nonsense = yield* start({ on: { "session/new": { result: { session: 5 } } } })
      expect(nonsense.error).toMatchObject({
        code: "HANDSHAKE_FAILED",
        message: `ACP harness protocol handshake failure: malformed answer to session/new: no sessionId ${where}`,
      })
    }),
  )

  it.live("S163 passes on what the child says of its failure: bounded, on one line, without the secrets it was given", () =>
    Effect.gen(function* () {
      const at = (method: "initialize" | "session/new", error: { message: string; data?: unknown }): World.HarnessSpec => ({
        mood: { on: { [method]: { error: { code: -32_603, ...error } } } },
      })
      const internal = { message: "Internal error", data: { details: "sk-live-123456 is no \u001b[31mkey\n\u202eat all" } }
      const world = yield* World.make({
        harnesses: {
          early: at("initialize", internal),
          late: at("session/new", { message: `${"a".repeat(490)} held-secret ${"b".repeat(9_000_000)}` }),
          kit: { isKit: true, ...at("session/new", { message: "no credit on held-secret" }) },
        },
        env: { SOME_API_KEY: "sk-live-123456" },
        inherited: { secrets: { PLAIN_NAME: "held-secret" } },
      })
      const parent = yield* world.open()
      const words = (harness: string) =>
        Effect.map(failure(parent.subagent({ prompt: "hi", harness })), ({ message }) =>
          message.replace(/^.* with error -32603: /, "").replace(/ \(harness=.*$/, ""),
        )
      expect(yield* words("acp.early")).toBe("Internal error: [redacted] is no \\u001b[31mkey\\n\\u202eat all")
      expect(yield* words("acp.late")).toBe(`${"a".repeat(490)} held-secr…`)
      expect(yield* words("acp.kit")).toBe("no credit on [redacted]")
    }),
  )

  it.live("S110 fails before a session opens where the child wants another version", () =>
    Effect.gen(function* () {
      const { error, world } = yield* start({ versions: [7], otherVersion: { answer: 7 } })
      expect(error).toMatchObject({ code: "UNSUPPORTED_VERSION", message: "ACP harness selected unsupported protocol version 7" })
      expect(world.received()).toEqual(["initialize"])
    }),
  )

  it.live("S120 reports stray lines, and blames them where no answer follows", () =>
    Effect.gen(function* () {
      const { error, logs } = yield* start(
        { start: [{ line: "Welcome!" }], on: { initialize: { silent: true } } },
        { startupMs: 400 },
      )
      expect(error.message).toBe(
        `ACP harness handshake timeout: no response within 0.4 seconds; its stdout carried lines that are no protocol messages ${where}`,
      )
      expect(error.details).toEqual({ stray: ["Welcome!"] })
      expect(logs()).toContain("ACP harness review: stray line on stdout: Welcome!")
    }),
  )

  it.live("S123 keeps the login that is missing even where the child leaves right after it", () =>
    Effect.gen(function* () {
      const { error } = yield* start({
        authMethods: [{ id: "key", name: "Key" }],
        auth: { at: ["session/new"], exit: 42, message: "secret" },
      })
      expect(error.code).toBe("AUTH_REQUIRED")
      expect(error.message).toMatch(
        /^ACP harness "acp\.review": child authentication required \(auth_required; methodId: "key"\)/,
      )
    }),
  )

  it.live("S122 knows its harnesses: unknown and malformed references fail before anything starts", () =>
    Effect.gen(function* () {
      const world = yield* World.make()
      const parent = yield* world.open()
      expect(yield* failure(parent.subagent({ prompt: "x", harness: "acp.reviev" }))).toMatchObject({
        code: "UNKNOWN_HARNESS",
        message: 'unknown ACP harness "acp.reviev"; did you mean "acp.review"?',
      })
      expect(yield* failure(parent.subagent({ prompt: "x", harness: "review" }))).toMatchObject({
        code: "BAD_HARNESS_REFERENCE",
        message: 'ACP harness references must use acp.<name>, got "review"',
      })
      expect(world.events()).toEqual([])
    }),
  )
})

describe("a start that succeeds", () => {
  it.live("S120 reports a stray line and goes on", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood: { start: [{ line: "Welcome!" }] } } } })
      const parent = yield* world.open()
      const events = yield* watch(parent)
      expect((yield* parent.subagent({ prompt: "hi" })).output).toBe("echo: hi")
      yield* events.until((event) => event.type === "log" && event.line === "stray line on stdout: Welcome!")
    }),
  )

  it.live.each(["refuse", "refuse-and-exit"] as const)("S110 asks a child that rejects v2 again with v1: %s", (otherVersion) =>
    Effect.gen(function* () {
      const world = yield* World.make({ harnesses: { review: { mood: { versions: [1], otherVersion } } } })
      const parent = yield* world.open()
      expect((yield* parent.subagent({ prompt: "hi" })).output).toBe("echo: hi")
      const initialize = world.frames().filter((frame) => frame.dir === "in" && frame.message.method === "initialize")
      expect(initialize.map(({ message }) => (message.params as { protocolVersion: number }).protocolVersion)).toEqual([2, 1])
      expect(new Set(initialize.map(({ pid }) => pid)).size).toBe(otherVersion === "refuse" ? 1 : 2)
      expect(world.alive()).toHaveLength(1)
    }),
  )

  it.live("S96 gives a generic child the parent's environment without the keys that Kit holds, and acp.kit its own", () =>
    Effect.gen(function* () {
      const world = yield* World.make({
        env: { OPENROUTER_API_KEY: "or-secret", ANTHROPIC_API_KEY: "user-key", KIT_PLAIN: "plain" },
        inherited: { secrets: { KIT_PROVIDER_KEY: "held" } },
      })
      const parent = yield* world.open({ harnesses: { review: {}, kit: { isKit: true } } })
      const variables = ["OPENROUTER_API_KEY", "KIT_PROVIDER_KEY", "ANTHROPIC_API_KEY", "KIT_PLAIN", "HOME"]
      const prompt = JSON.stringify({ script: variables.flatMap((env) => [{ env }, { say: "," }]) })
      const generic = yield* parent.subagent({ prompt })
      expect(generic.output).toBe(`unset,unset,user-key,plain,${process.env.HOME},`)
      const kit = yield* parent.subagent({ prompt, harness: "acp.kit" })
      expect(kit.output).toBe(`or-secret,held,user-key,plain,${process.env.HOME},`)
      expect(JSON.stringify(world.events("kit"))).not.toMatch(/or-secret|held/)
    }),
  )

  it.live("has acp.kit keep nothing on disk where its parent keeps nothing, and tells no other harness of it", () =>
    Effect.gen(function* () {
      const world = yield* World.make({ inherited: { ephemeral: true } })
      const parent = yield* world.open({ harnesses: { review: {}, kit: { isKit: true } } })
      yield* parent.subagent({ prompt: "hi", harness: "acp.kit" })
      yield* parent.subagent({ prompt: "hi" })
      expect(world.events("kit")[0]?.detail.args).toContain("--no-session")
      expect(world.events("review")[0]?.detail.args).not.toContain("--no-session")
    }),
  )

  it.live("S91 S92 S94 appends what acp.kit inherits after its base arguments", () =>
    Effect.gen(function* () {
      const world = yield* World.make({
        inherited: { provider: "scripted", model: "m", reasoningEffort: "high", mcpConfig: "/x/mcp.json" },
      })
      const parent = yield* world.open({ harnesses: { kit: { isKit: true } }, depth: 1 })
      const child = yield* parent.subagent({ prompt: "hi" })
      const { args } = world.events("kit")[0]?.detail ?? { args: [] }
      expect(args.slice(args.indexOf("--root"))).toEqual(
        `--root ${world.root} --model m --provider scripted --reasoning-effort high --mcp-config /x/mcp.json --session-id ${child.id} --subagent-depth 2`.split(
          " ",
        ),
      )
    }),
  )
})
