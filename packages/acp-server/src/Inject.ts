import type { Blocks } from "@acp-kit/agent/Item"
import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import type { Errors } from "./Bridge.ts"
import { isObject, readerOf, strings } from "./Params.ts"

/** Guidance for a running turn (S30), which the SDK does not know: the marker in the capabilities of a session. */
export const capability = { inject: { modes: ["steer"], steerInStream: ["finish"], pending: { replace: {} } } }

interface WithContent {
  readonly sessionId: string
  readonly content: Blocks
}

interface WithMessage {
  readonly sessionId: string
  readonly messageId: string
}

/**
 * The methods around guidance and what reads their parameters. `inject` takes guidance for the running turn, and its receipt carries the
 * message id; `revoke` takes back what was not delivered yet; `replace` exchanges it.
 */
export const methods = (errors: Errors) => {
  const reader = readerOf(errors)
  return {
    inject: ["session/inject", reader((params) => (params.mode === "steer" ? withContent(params) : undefined))],
    revoke: ["session/revoke_inject", reader(withMessage)],
    replace: ["session/replace_inject", reader((params) => both(withMessage(params), withContent(params)))],
  } as const
}

const withContent = ({ sessionId, content }: JsonObject): WithContent | undefined =>
  typeof sessionId === "string" && Array.isArray(content) && content.length > 0 && content.every(isBlock)
    ? { sessionId, content }
    : undefined

const isBlock = (block: Json) => isObject(block) && typeof block.type === "string"

const withMessage = (params: JsonObject): WithMessage | undefined => strings(params, "sessionId", "messageId")

const both = <A, B>(left: A | undefined, right: B | undefined): (A & B) | undefined =>
  left === undefined || right === undefined ? undefined : { ...left, ...right }

export * as Inject from "./Inject.ts"
