import { CompactJson } from "@acp-kit/agent/CompactJson"
import type { Input, Json, JsonObject } from "@acp-kit/runlet/Host"
import { uuid } from "@acp-kit/store/AgentId"
import type { SessionStore } from "@acp-kit/store/SessionStore"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { CommandFailed } from "./CommandFailed.ts"
import type { Program } from "./Program.ts"
import { Store } from "./Store.ts"
import { Terminal } from "./Terminal.ts"

/** Characters of a value that a record keeps whole; a longer one stands as its beginning. */
const wholeCharacters = 8_192
const previewCharacters = 2_048

/** A program that was run in a session, as its transcript tells it. */
export interface Run {
  readonly id: string
  /** Unix milliseconds. */
  readonly began: number
  /** How the call named it: a file, `-e` or `standard input`. */
  readonly path: string
  readonly source: string
  /** Names of the inputs; their values are not recorded. */
  readonly inputs: ReadonlyArray<string>
  /** `unknown` where its process ended before it did. */
  readonly status: "succeeded" | "failed" | "cancelled" | "unknown"
  /** `value` (or `preview` and its length `characters`), or `error` with `code`, `message` and its place. */
  readonly outcome: JsonObject
}

const valueFields = (value: Json): JsonObject => {
  const text = CompactJson.encode(value)
  return text.length <= wholeCharacters ? { value } : { preview: text.slice(0, previewCharacters), characters: text.length }
}

const outcomeOf = (exit: Exit.Exit<Json, CommandFailed>): JsonObject => {
  if (Exit.isSuccess(exit)) return { status: "succeeded", ...valueFields(exit.value) }
  if (Cause.hasInterruptsOnly(exit.cause)) return { status: "cancelled" }
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  const { code, message = "", line, column } = error?.error ?? { code: "INTERNAL", message: "internal error" }
  return { status: "failed", error: { code, message, ...(line && column ? { line, column } : {}) } }
}

/**
 * Runs a program and records it in the transcript of its session: the program before it runs, then what it came to. A program that cannot be recorded
 * does not run; an outcome that cannot be is told of on stderr and changes nothing.
 */
export const recorded =
  (session: SessionStore.SessionWriter, { path, source }: Program, inputs: ReadonlyArray<Input>) =>
  <R>(work: Effect.Effect<Json, CommandFailed, R>) =>
    Effect.gen(function* () {
      const terminal = yield* Terminal.Service
      const id = yield* uuid
      const names = inputs.map(({ name }) => name)
      yield* Store.tried(session.appendItem({ type: "run", id, path, source, inputs: names }))
      const settle = (outcome: JsonObject) =>
        Effect.catchTag(session.appendItem({ type: "run_result", id, ...outcome }), "StoreError", ({ message }) =>
          terminal.err(`kit: what the program came to is not recorded: ${message}\n`),
        )
      return yield* Effect.onExit(work, (exit) => settle(outcomeOf(exit)))
    })

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "")

const isObject = (item: Json): item is JsonObject => typeof item === "object" && item !== null && !Array.isArray(item)

/** The programs that were run in a session, in order. */
export const of = Effect.fnUntraced(function* (session: SessionStore.Session) {
  const runs = new Map<string, Run>()
  const note = (item: Json, time: number) => {
    if (!isObject(item)) return
    const id = textOf(item.id)
    if (item.type === "run") {
      const inputs = Array.isArray(item.inputs) ? item.inputs.map(textOf) : []
      const { path, source } = item
      runs.set(id, { id, began: time, path: textOf(path), source: textOf(source), inputs, status: "unknown", outcome: {} })
    }
    const run = runs.get(id)
    if (item.type !== "run_result" || run === undefined) return
    const { type: _type, id: _id, status, ...outcome } = item
    const known = status === "succeeded" || status === "failed" || status === "cancelled"
    runs.set(id, { ...run, status: known ? status : "unknown", outcome })
  }
  yield* Stream.runForEach(session.records, (record) =>
    Effect.sync(() => (record.kind === "item" ? note(record.item, record.time) : undefined)),
  )
  return [...runs.values()]
})

export * as RunRecord from "./RunRecord.ts"
