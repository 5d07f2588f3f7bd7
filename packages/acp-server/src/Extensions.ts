import * as Effect from "effect/Effect"
import type { Errors } from "./Bridge.ts"
import { readerOf, strings } from "./Params.ts"
import type { SessionMethods } from "./SessionMethods.ts"

/** The marker in the `_meta` of the capabilities. */
export const capability = { "kit/compose/detach": {}, "kit/background/cancel": {} }

/**
 * Kit's own methods, the same in both versions: `kit/compose/detach {session_id}` sends the running programs of a session to the background,
 * `kit/background/cancel {session_id, call_id}` ends one that is there. Both say whether there was anything to do.
 */
export const methods = (errors: Errors, { find }: Pick<ReturnType<typeof SessionMethods.make>, "find">) => {
  const reader = readerOf(errors)
  return {
    detach: ["kit/compose/detach", reader((params) => strings(params, "session_id"))],
    cancel: ["kit/background/cancel", reader((params) => strings(params, "session_id", "call_id"))],
    detached: Effect.fnUntraced(function* ({ session_id }: { readonly session_id: string }) {
      return { detached: yield* (yield* find(session_id)).background.detach }
    }),
    cancelled: Effect.fnUntraced(function* ({ session_id, call_id }: { readonly session_id: string; readonly call_id: string }) {
      return { cancelled: yield* (yield* find(session_id)).background.stop(call_id) }
    }),
  } as const
}

export * as Extensions from "./Extensions.ts"
