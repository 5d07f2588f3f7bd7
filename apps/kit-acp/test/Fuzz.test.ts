import { readFileSync } from "node:fs"
import { Processes } from "@acp-kit/platform/Processes"
import { rounds } from "@acp-kit/testing/Rounds"
import { expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { block, machine, rest, text } from "./Machine.ts"

const duration = rounds({ quick: 2_000, ci: 20_000, long: 60_000 })

const methods = [
  "initialize",
  "session/new",
  "session/load",
  "session/resume",
  "session/fork",
  "session/list",
  "session/prompt",
  "session/cancel",
  "session/close",
  "session/delete",
  "session/set_config_option",
  "session/inject",
  "session/revoke_inject",
  "$/cancel_request",
  "_vendor/thing",
  "no/such/method",
]

const garbage: ReadonlyArray<unknown> = [
  null,
  7,
  -1,
  1e300,
  "",
  "x".repeat(5000),
  true,
  [],
  {},
  [[]],
  { a: { b: null } },
  "\u0000",
  "𝔸",
]

const prompts = [
  "hello",
  block("return 1"),
  block('return shell({ command: "echo hi; sleep 0.05" })'),
  block("return ("),
  "```runlet background=1\nreturn 1\n```",
]

const pick = <A>(values: ReadonlyArray<A>) =>
  Effect.map(Random.nextIntBetween(0, values.length, { halfOpen: true }), (at) => values[at] as A)

/** A message that is right more often than not, about sessions that may be there. */
const message = Effect.fnUntraced(function* (id: number, sessions: ReadonlyArray<string>, cwd: string) {
  const chance = yield* Random.next
  if (chance < 0.05)
    return yield* pick(["{", "[]", "[1]", "null", '"x"', "\u0000", '{"jsonrpc":"1.0"}', '{"jsonrpc":"2.0","id":1}', ""])
  const method = yield* pick(methods)
  const params: Record<string, unknown> = {
    sessionId: (yield* pick(sessions)) ?? "nobody",
    cwd,
    mcpServers: [],
    prompt: text(yield* pick(prompts)),
    content: text("steer"),
    mode: "steer",
    messageId: "m-1",
    configId: "reasoning_effort",
    value: yield* pick(["low", "high", "nonsense"]),
    type: "id",
    requestId: id - 1,
    protocolVersion: 2,
    info: { name: "fuzz", version: "0" },
    capabilities: {},
    clientCapabilities: {},
  }
  if (method === "session/list") delete params.cwd
  if (chance < 0.25) params[yield* pick(Object.keys(params))] = yield* pick(garbage)
  const isNotification = method === "session/cancel" || method === "$/cancel_request" || chance > 0.95
  return JSON.stringify({
    jsonrpc: "2.0",
    method,
    params: chance < 0.03 ? yield* pick(garbage) : params,
    ...(isNotification ? {} : { id }),
  })
})

const resident = (pid: number) => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

it.layer(Processes.layer, { excludeTestServices: true })("kit acp under random messages", (it) => {
  it.effect.each([1, 2] as const)(
    "never crashes, never says anything but messages, and still answers at the end, version %d",
    (version) =>
      Effect.gen(function* () {
        const here = yield* machine
        const child = yield* here.start("--protocol-version", String(version))
        const sessions: Array<string> = ["nobody"]
        const answered = new Set<unknown>()
        let broken = ""
        let buffer = ""
        const decoder = new TextDecoder()
        const reading = yield* Effect.forkScoped(
          Effect.gen(function* () {
            for (let chunk = yield* child.read; chunk !== undefined; chunk = yield* child.read) {
              buffer += decoder.decode(chunk, { stream: true })
              const lines = buffer.split("\n")
              buffer = lines.pop() ?? ""
              for (const line of lines) {
                try {
                  const { id, method, result } = JSON.parse(line)
                  if (method === undefined) answered.add(id)
                  if (typeof result?.sessionId === "string") sessions.push(result.sessionId)
                  if (sessions.length > 20) sessions.splice(1, 10)
                } catch {
                  broken ||= line
                }
              }
            }
          }),
        )
        yield* Effect.forkScoped(rest(child.readError))
        const send = (line: string) => child.write(`${line}\n`)
        const initialize = {
          protocolVersion: version,
          clientCapabilities: {},
          capabilities: {},
          info: { name: "fuzz", version: "0" },
        }
        yield* send(JSON.stringify({ jsonrpc: "2.0", id: "first", method: "initialize", params: initialize }))
        const end = (yield* Clock.currentTimeMillis) + duration
        let id = 0
        let early: number | undefined
        while ((yield* Clock.currentTimeMillis) < end) {
          for (let burst = 0; burst < 20; burst++) yield* send(yield* message(id++, sessions, here.root))
          yield* Effect.sleep(20)
          if (early === undefined && (yield* Clock.currentTimeMillis) > end - duration / 2) early = resident(child.pid)
        }
        yield* send(JSON.stringify({ jsonrpc: "2.0", id: "last", method: "session/list", params: {} }))
        while (!answered.has("last")) yield* Effect.sleep(20)
        expect(broken).toBe("")
        if (duration >= 20_000) expect(resident(child.pid)).toBeLessThan((early ?? 0) * 1.5 + 50)
        yield* child.endInput
        expect(yield* child.exit).toMatchObject({ code: 0 })
        expect(reading).toBeDefined()
        expect(yield* here.running).toEqual([])
      }),
    180_000,
  )
})
