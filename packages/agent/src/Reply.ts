import * as Effect from "effect/Effect"
import { Ids } from "./Ids.ts"
import type { Item } from "./Item.ts"
import type { Part } from "./ModelProvider.ts"

/** What a streaming reply shows at once: more text of the item with this id, or the size of the context in tokens. */
export type Delta =
  | { readonly type: "delta"; readonly kind: "answer" | "thought"; readonly id: string; readonly text: string }
  | { readonly type: "usage"; readonly used: number; readonly window: number }

/** One response of the model, put together from its parts. */
export interface Reply {
  readonly items: ReadonlyArray<Item>
  readonly reason: "stop" | "max_tokens" | "refusal"
}

export const empty: Reply = { items: [], reason: "stop" }

export const callsOf = (reply: Reply) => reply.items.filter((item) => item.type === "call")

/** The reply with one more part, and what a viewer sees of it. */
export const add = Effect.fnUntraced(function* (reply: Reply, part: Part): Effect.fn.Return<readonly [Reply, Delta | undefined]> {
  switch (part.type) {
    case "usage":
      return [reply, part]
    case "finish":
      return [{ ...reply, reason: part.reason }, undefined]
    case "call": {
      const call: Item = { type: "call", id: yield* Ids.next("call"), name: part.name, input: part.input }
      return [{ ...reply, items: [...reply.items, call] }, undefined]
    }
    case "text":
    case "thinking": {
      const kind = part.type === "text" ? "answer" : "thought"
      const last = reply.items.at(-1)
      const open = last?.type === kind ? last : undefined
      const id = open?.id ?? (yield* Ids.next("m"))
      const item: Item = { type: kind, id, text: (open?.text ?? "") + part.text }
      return [
        { ...reply, items: [...(open ? reply.items.slice(0, -1) : reply.items), item] },
        { type: "delta", kind, id, text: part.text },
      ]
    }
  }
})

export * as Replies from "./Reply.ts"
