import type { Json } from "@acp-kit/runlet/Host"
import { SessionStore } from "@acp-kit/store/SessionStore"
import type { StoreError } from "@acp-kit/store/StoreError"
import * as Effect from "effect/Effect"
import { isObject } from "./Arguments.ts"

/**
 * What a branch begins with: the turns that completed. A turn that did not end is left out, so are the model's thoughts, which are bound to the
 * request that made them, and every field by which a provider goes on where it was (S131).
 */
export const sanitized = (items: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const end = items.findLastIndex((item) => isObject(item) && item.type === "stop")
  return items.slice(0, end + 1).flatMap((item) => {
    if (!isObject(item) || item.type === "thought") return []
    const { provider: _, continuation: __, ...kept } = item
    return [kept]
  })
}

/** Copies the completed transcript of an `acp.kit` child to a new session of that id, which nobody has open when this succeeds. */
export const copy = Effect.fn("TranscriptCopy.copy")(function* (options: {
  readonly from: string
  readonly to: string
  readonly cwd: string
  readonly additionalDirectories: ReadonlyArray<string>
}): Effect.fn.Return<void, StoreError, SessionStore.Service> {
  const store = yield* SessionStore.Service
  const source = yield* store.openReader(options.from)
  const items = sanitized(yield* source.items)
  yield* Effect.scoped(
    Effect.gen(function* () {
      const { to: id, cwd, additionalDirectories } = options
      const session = yield* store.create({ id, cwd, additionalDirectories, origin: "subagent" })
      yield* session.appendReplacement(items)
    }),
  )
})

export * as TranscriptCopy from "./TranscriptCopy.ts"
