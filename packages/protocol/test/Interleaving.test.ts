import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import { stringifyJson } from "@acp-kit/protocol/Json"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import { chunk, connected, initializedV1, initializedV2, makeWire, state, text, update } from "./support/Wire.ts"

const small = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

/** What a session says in its turn: words of one of two messages, or a tool call. */
const Said = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("words"), text: Schema.String, message: small(1) }),
  Schema.Struct({ kind: Schema.Literal("tool"), id: small(3), done: Schema.Boolean }),
])

const updateOf = (said: typeof Said.Type): JsonObject =>
  said.kind === "words"
    ? chunk(said.text, `m${said.message}`)
    : { sessionUpdate: "tool_call_update", toolCallId: `t${said.id}`, status: said.done ? "completed" : "in_progress" }

const expected = (all: ReadonlyArray<typeof Said.Type>) => {
  const order: Array<number> = []
  const ended = new Map<string, string>()
  for (const said of all) {
    if (said.kind === "words") {
      if (!order.includes(said.message)) order.push(said.message)
    } else if (ended.get(`t${said.id}`) !== "completed") ended.set(`t${said.id}`, said.done ? "completed" : "in_progress")
  }
  const words = order.flatMap((message) =>
    all.flatMap((said) => (said.kind === "words" && said.message === message ? [said.text] : [])),
  )
  return { text: words.join(""), tools: [...ended] }
}

it.effect.prop(
  "folds every session the same, however their frames interleave and the bytes are cut",
  {
    version: Schema.Literals([1, 2]),
    sessions: Schema.Array(Schema.Array(Said).check(Schema.isMaxLength(12))).check(Schema.isMinLength(1), Schema.isMaxLength(3)),
    picks: Schema.Array(small(1_000)),
    cuts: Schema.Array(small(300)),
  },
  ({ cuts, picks, sessions, version }) =>
    Effect.scoped(
      Effect.gen(function* () {
        const wire = yield* makeWire
        const client = yield* connected(wire, version === 1 ? initializedV1() : initializedV2())
        const turns: Array<
          Fiber.Fiber<
            { readonly text: string; readonly tools: ReadonlyArray<{ readonly id: string; readonly status: string }> },
            unknown
          >
        > = []
        const left: Array<Array<JsonObject>> = []
        for (const [at, all] of sessions.entries()) {
          const id = `s${at}`
          const opening = yield* Effect.forkChild(client.newSession({ cwd: "/p" }), { startImmediately: true })
          yield* wire.answer("session/new", { sessionId: id })
          const session = yield* Fiber.join(opening)
          turns.push(yield* Effect.forkChild(session.prompt([text("go")]), { startImmediately: true }))
          const request = yield* wire.take
          const answer = (result: Json): JsonObject => ({ jsonrpc: "2.0", id: request.id as Json, result })
          const said = all.map((one) => update(id, updateOf(one)))
          left.push(
            version === 1
              ? [...said, answer({ stopReason: "end_turn" })]
              : [
                  answer({ messageId: "u" }),
                  update(id, state("running")),
                  ...said,
                  update(id, state("idle", { stopReason: "end_turn" })),
                ],
          )
        }
        const lines: Array<string> = []
        for (let turn = 0; left.some((frames) => frames.length > 0); turn++) {
          const open = left.filter((frames) => frames.length > 0)
          lines.push(stringifyJson((open[(picks[turn] ?? turn) % open.length] as Array<JsonObject>).shift() as JsonObject))
        }
        const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""))
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = 1 + (cuts[turn % Math.max(1, cuts.length)] ?? 1_000)
          wire.bytes(bytes.slice(at, at + size))
          at += size
        }
        for (const [at, all] of sessions.entries()) {
          const result = yield* Fiber.join(turns[at] as (typeof turns)[number])
          expect({ text: result.text, tools: result.tools.map(({ id, status }) => [id, status]) }).toEqual(expected(all))
        }
      }),
    ),
  { arbitrary: { runs: 300 } },
)
