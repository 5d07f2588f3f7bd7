import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import { stringifyJson } from "@acp-kit/protocol/Json"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { chunk, initializedV1, initializedV2, makeWire, opened, state, text, update } from "./support/Wire.ts"

/** A generator of pseudo-random numbers below `n`; the same seed gives the same storm. */
const dice = (seed: number) => {
  let state = seed >>> 0
  return (n: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
}

const kinds = [
  "agent_message",
  "agent_thought_chunk",
  "tool_call",
  "tool_call_update",
  "plan",
  "plan_update",
  "usage_update",
  "session_info_update",
  "config_option_update",
  "notice",
  "terminal_update",
  "_custom",
  "__proto__",
  "",
]

const methods = [
  "session/update",
  "session/request_permission",
  "elicitation/create",
  "fs/read_text_file",
  "$/cancel_request",
  "initialize",
  "_x",
  "toString",
  "",
]

const makeJunk = (roll: (n: number) => number) => {
  const value = (depth: number): Json => {
    const scalars: ReadonlyArray<Json> = [
      null,
      true,
      false,
      0,
      -1,
      1.5,
      9007199254740993n,
      "",
      "text",
      "\u2028",
      "😀",
      "__proto__",
    ]
    const pick = roll(depth > 0 ? 16 : 12)
    if (pick < 12) return scalars[pick] as Json
    const size = roll(4)
    if (pick < 14) return Array.from({ length: size }, () => value(depth - 1))
    return Object.fromEntries(
      Array.from({ length: size }, (_, at) => [
        ["id", "content", "type", "text", "update", "sessionId", "__proto__"][roll(7)] ?? `k${at}`,
        value(depth - 1),
      ]),
    )
  }
  const oddId = (): Json =>
    [null, `id-${roll(1_000)}`, 1_000 + roll(1_000_000), -1 - roll(9), 0.5, 9007199254740993n][roll(6)] as Json
  const frame = (): Json => {
    switch (roll(6)) {
      case 0:
        return { jsonrpc: "2.0", method: methods[roll(methods.length)] as string, params: value(3) }
      case 1:
        return { jsonrpc: "2.0", id: oddId(), method: methods[roll(methods.length)] as string, params: value(3) }
      case 2:
        return { jsonrpc: "2.0", id: oddId(), result: value(3) }
      case 3:
        return { jsonrpc: "2.0", id: oddId(), error: value(2) }
      case 4:
        return update("elsewhere", {
          sessionUpdate: kinds[roll(kinds.length)] as string,
          content: value(3),
          toolCallId: value(1),
          messageId: value(1),
          title: value(1),
          plan: value(2),
          entries: value(2),
        })
      default:
        return value(4)
    }
  }
  const broken = (line: string): string => {
    const at = roll(line.length)
    const cut = line.slice(0, at)
    return roll(2) === 0 ? cut : `${cut}${'{}[],:"\\u0000x'[roll(13)]}${line.slice(at + 1)}`
  }
  return (): string => {
    const line = stringifyJson(frame())
    return roll(3) === 0 ? broken(line).replaceAll('"s"', '"elsewhere"') : line
  }
}

it.effect.each([
  [1, 1],
  [1, 2],
  [2, 3],
  [2, 4],
] as const)("loses no update in ten thousand random frames, valid and not (version %s)", ([version, seed]) =>
  Effect.gen(function* () {
    const roll = dice(seed)
    const junk = makeJunk(roll)
    const wire = yield* makeWire
    let noises = 0
    const { client, session } = yield* opened(wire, version === 1 ? initializedV1() : initializedV2(), {
      onNoise: () => Effect.sync(() => void noises++),
      ...(seed % 2 === 0 ? { observe: () => Effect.void } : {}),
    })
    const turn = yield* Effect.forkChild(session.prompt([text("hi")]), { startImmediately: true })
    const { id } = yield* wire.take
    const lines: Array<string> = []
    let words = ""
    const valid = (frame: JsonObject) => lines.push(stringifyJson(frame))
    if (version === 2) valid(update("s", state("running")))
    for (let at = 0; at < 10_000; at++) {
      if (roll(4) > 0) lines.push(junk())
      else {
        words += `${at} `
        valid(update("s", chunk(`${at} `, roll(2) === 0 ? "m" : undefined)))
      }
    }
    valid({ jsonrpc: "2.0", id: id as Json, result: version === 1 ? { stopReason: "end_turn" } : { messageId: "u" } })
    if (version === 2) valid(update("s", state("idle", { stopReason: "end_turn" })))
    const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""))
    for (let at = 0; at < bytes.length; ) {
      const size = 1 + roll(8_192)
      wire.bytes(bytes.slice(at, at + size))
      at += size
    }
    const { text: said } = yield* Fiber.join(turn)
    const inOrder = (numbers: string) =>
      numbers
        .trim()
        .split(" ")
        .map(Number)
        .sort((a, b) => a - b)
    expect(inOrder(said)).toEqual(inOrder(words))
    expect(noises).toBeGreaterThan(1_000)
    const again = yield* Effect.forkChild(client.newSession({ cwd: "/p" }))
    let request = yield* wire.take
    while (request.method !== "session/new") request = yield* wire.take
    wire.send({ jsonrpc: "2.0", id: request.id as Json, result: { sessionId: "after" } })
    expect((yield* Fiber.join(again)).id).toBe("after")
  }),
)
