import type { Blocks } from "@acp-kit/agent/Item"
import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import type { Errors } from "./Bridge.ts"

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
  const reader =
    <A>(read: (params: JsonObject) => A | undefined) =>
    (params: unknown): A => {
      const value = isObject(params as Json) ? read(params as JsonObject) : undefined
      if (value === undefined) throw new errors(-32602, "Invalid params")
      return value
    }
  return {
    inject: ["session/inject", reader((params) => (params.mode === "steer" ? withContent(params) : undefined))],
    revoke: ["session/revoke_inject", reader(withMessage)],
    replace: ["session/replace_inject", reader((params) => both(withMessage(params), withContent(params)))],
  } as const
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const withContent = ({ sessionId, content }: JsonObject): WithContent | undefined =>
  typeof sessionId === "string" && Array.isArray(content) && content.length > 0 && content.every(isBlock)
    ? { sessionId, content }
    : undefined

const isBlock = (block: Json) => isObject(block) && typeof block.type === "string"

const withMessage = ({ sessionId, messageId }: JsonObject): WithMessage | undefined =>
  typeof sessionId === "string" && typeof messageId === "string" ? { sessionId, messageId } : undefined

const both = <A, B>(left: A | undefined, right: B | undefined): (A & B) | undefined =>
  left === undefined || right === undefined ? undefined : { ...left, ...right }

export * as Inject from "./Inject.ts"
