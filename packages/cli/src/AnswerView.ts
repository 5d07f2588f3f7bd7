import type { SessionEvent } from "@acp-kit/agent/AgentSession"
import { titleOf } from "@acp-kit/agent/ComposeInput"
import type { Item } from "@acp-kit/agent/Item"
import * as Effect from "effect/Effect"
import { Printable } from "./Printable.ts"
import { Terminal } from "./Terminal.ts"

/** Follows one session of the Kit agent for a person: what the model says on stdout, what it does on stderr. */
export interface AnswerView {
  readonly view: (event: SessionEvent) => Effect.Effect<void>
  /** Ends the last line of stdout where the model did not. */
  readonly end: Effect.Effect<void>
}

export const make = Effect.map(Terminal.Service, (terminal): AnswerView => {
  let open = false
  let answer: string | undefined

  const endLine = Effect.suspend(() => {
    if (!open) return Effect.void
    open = false
    return terminal.out("\n")
  })

  const say = (id: string, text: string) =>
    Effect.suspend(() => {
      const separate = answer !== undefined && answer !== id ? endLine : Effect.void
      answer = id
      return Effect.andThen(
        separate,
        Effect.suspend(() => {
          if (text !== "") open = !text.endsWith("\n")
          return terminal.out(text)
        }),
      )
    })

  const tell = (line: string) => Effect.andThen(endLine, terminal.err(`${line}\n`))

  return {
    view: (event) => {
      if (event.type === "delta" && event.kind === "answer") return say(event.id, event.text)
      if (event.type === "superseded") return tell("kit: the response was interrupted; its replacement follows")
      return event.type === "item" ? tellItem(event.item, tell) : Effect.void
    },
    end: endLine,
  }
})

const tellItem = (item: Item, tell: (line: string) => Effect.Effect<void>): Effect.Effect<void> => {
  if (item.type === "call") return tell(`compose: ${Printable.printable(titleOf(item.input) ?? firstLine(item.input.script))}`)
  if (item.type !== "result") return Effect.void
  if (item.status === "detached") return tell("compose: it goes on in the background")
  if (item.status === "completed") return Effect.void
  const { code, message } = item.output as { readonly code: string; readonly message: string }
  return tell(`compose: ${item.status}: ${code}: ${Printable.printable(message)}`)
}

const firstLine = (script: unknown) =>
  String(script ?? "")
    .trim()
    .split("\n", 1)[0] ?? ""

export * as AnswerViews from "./AnswerView.ts"
