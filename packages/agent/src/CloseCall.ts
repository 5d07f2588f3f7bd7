import { type Json, type Tool, ToolFailure } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import type { BackgroundCalls } from "./BackgroundCalls.ts"

/** The `close` verb, which also ends a compose call in the background where it is given `{call_id}`. */
export const wrap = (close: Tool, background: BackgroundCalls): Tool => ({
  ...close,
  summary: `${close.summary}; close({ call_id }) ends a compose call that goes on in the background`,
  parameters: [{ name: "input", schema: { type: "object", additionalProperties: true } }],
  output: { type: "object", additionalProperties: true },
  handler: (args, context) => {
    const callId = callIdOf(args[0])
    return callId === undefined ? close.handler(args, context) : stop(callId, background)
  },
})

const callIdOf = (input: Json | undefined): string | undefined =>
  typeof input === "object" && input !== null && "call_id" in input && typeof input.call_id === "string"
    ? input.call_id
    : undefined

const stop = Effect.fnUntraced(function* (callId: string, background: BackgroundCalls): Effect.fn.Return<Json, ToolFailure> {
  if (yield* background.stop(callId)) return { call_id: callId }
  return yield* new ToolFailure({ code: "UNKNOWN_CALL", message: "no such call is in the background" })
})

export * as CloseCall from "./CloseCall.ts"
