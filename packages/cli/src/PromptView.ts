import type { SessionEvent } from "@acp-kit/agent/AgentSession"
import type { ChildCard } from "@acp-kit/agent/ChildCards"
import { titleOf } from "@acp-kit/agent/ComposeInput"
import type { Item } from "@acp-kit/agent/Item"
import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { Output } from "./Output.ts"
import { printable } from "./Printable.ts"
import { Progress } from "./Progress.ts"
import { Terminal } from "./Terminal.ts"

/** A call that has no result yet. */
interface Open {
  readonly title: string
  readonly began: number
}

/** What a turn has come to, once nothing goes on in its background any more. */
export interface Ended {
  /** The last answer of the model; empty where it gave none. */
  readonly answer: string
  readonly stop: Item & { readonly type: "stop" }
}

/** Follows the turns of one prompt: the answer goes to stdout as it streams, calls go to stderr as they run. */
export interface View {
  readonly show: (event: SessionEvent) => Effect.Effect<void>
  /** Writes a line on stderr, below an answer that streams to the same screen. */
  readonly note: (line: string) => Effect.Effect<void>
  /** Waits for the end of the turn, and of what it left in the background with the turns that this woke. */
  readonly ended: Effect.Effect<Ended>
}

/** What a call is for: its intent, else the first line of its program. */
const title = (name: string, input: JsonObject): string => {
  const { script } = input
  const lines = typeof script === "string" ? script.split("\n").map((line) => line.trim()) : []
  return printable(`${name}: ${titleOf(input) ?? lines.find((line) => line !== "") ?? "…"}`)
}

const field = (output: Json, name: string): string => {
  const value = typeof output === "object" && output !== null && !Array.isArray(output) ? (output as JsonObject)[name] : undefined
  return typeof value === "string" ? value : ""
}

const outcome = ({ status, output }: Item & { readonly type: "result" }): string => {
  if (status === "completed") return "done"
  if (status === "detached") return "goes on in the background"
  return printable(`${status}: ${field(output, "code")} ${field(output, "message")}`.trimEnd())
}

const ending = (card: ChildCard): string => {
  if (card.state === "failed") return printable(`failed: ${card.code} ${card.message}`)
  return card.state === "completed" ? "done" : "cancelled"
}

/** `quiet` prints no answer, for a caller that prints it otherwise. */
export const make = Effect.fnUntraced(function* (quiet: boolean): Effect.fn.Return<View, never, Terminal.Service> {
  const terminal = yield* Terminal.Service
  const shared = terminal.outIsTerminal && terminal.errIsTerminal
  const done = yield* Deferred.make<Ended>()
  const calls = new Map<string, Open>()
  let streaming: string | undefined
  let answer = ""
  let openLine = false

  const write = (text: string) =>
    Effect.suspend(() => {
      if (quiet || text === "") return Effect.void
      openLine = !text.endsWith("\n")
      return Effect.provideService(Output.said(text), Terminal.Service, terminal)
    })
  const endLine = Effect.suspend(() => (openLine ? write("\n") : Effect.void))
  const note = (line: string) => Effect.andThen(shared ? endLine : Effect.void, terminal.err(`${line}\n`))

  const say = Effect.fnUntraced(function* (id: string, text: string) {
    if (streaming !== id) {
      yield* endLine
      answer = ""
      streaming = id
    }
    answer += text
    yield* write(text)
  })

  const item = Effect.fnUntraced(function* (entry: Item) {
    const now = yield* Clock.currentTimeMillis
    if (entry.type === "call") {
      const began = { title: title(entry.name, entry.input), began: now }
      calls.set(entry.id, began)
      yield* note(began.title)
    }
    if (entry.type === "result") {
      const call = calls.get(entry.id)
      if (call === undefined) return
      if (entry.status !== "detached") calls.delete(entry.id)
      yield* note(`${call.title}: ${outcome(entry)}, ${Progress.elapsed(now - call.began)}`)
    }
  })

  const child = Effect.fnUntraced(function* (card: ChildCard) {
    const now = yield* Clock.currentTimeMillis
    if (card.state === "started") {
      const title = `  ${printable(card.title)}`
      calls.set(card.id, { title, began: now })
      return yield* note(title)
    }
    const began = calls.get(card.id)
    if (began === undefined) return
    calls.delete(card.id)
    const title = card.state === "completed" ? `  ${printable(card.title)}` : began.title
    yield* note(`${title}: ${ending(card)}, ${Progress.elapsed(now - began.began)}`)
  })

  return {
    note,
    ended: Deferred.await(done),
    show: Effect.fnUntraced(function* (event) {
      switch (event.type) {
        case "delta":
          return event.kind === "answer" ? yield* say(event.id, event.text) : undefined
        case "superseded":
          if (!event.items.some(({ type }) => type === "answer")) return undefined
          return yield* Effect.andThen(
            endLine,
            note("kit: the model failed, and is asked again; its answer so far does not count"),
          )
        case "notice":
          return yield* note(`kit: ${printable(event.title)}`)
        case "child":
          return yield* child(event)
        case "item":
          return yield* item(event.item)
        case "stopped":
          yield* endLine
          if (event.background.length === 0) yield* Deferred.succeed(done, { answer, stop: event.stop })
      }
    }),
  }
})

export * as PromptView from "./PromptView.ts"
