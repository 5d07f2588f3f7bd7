import type { SessionBusy } from "@acp-kit/agent/AgentSession"
import type { CursorInvalid, UnknownSession } from "@acp-kit/agent/AgentSessions"
import type { SteeringRefused } from "@acp-kit/agent/Arrivals"
import type { SetupRefused } from "@acp-kit/agent/Directories"
import type { OptionRefused } from "@acp-kit/agent/SessionOptions"
import type { TurnFailed } from "@acp-kit/agent/TurnLoop"
import type { RequestError } from "@agentclientprotocol/sdk/unstable"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"

/** What a handler may fail with. */
export type Refusal =
  | SessionBusy
  | UnknownSession
  | SetupRefused
  | OptionRefused
  | CursorInvalid
  | ParamsInvalid
  | SteeringRefused
  | TurnFailed

/** The parameters are none that the method takes. */
export class ParamsInvalid extends Data.TaggedError("ParamsInvalid")<{ readonly message: string }> {}

/** The SDK's error class, from the entry of the version that is served: the entries of the others need not be loaded. */
export type Errors = typeof RequestError

/** The JSON-RPC error of a failure. Only what a client may know is in it. */
export const errorOf = (errors: Errors, refusal: Refusal): RequestError => {
  switch (refusal._tag) {
    case "UnknownSession":
      return errors.sessionNotFound(refusal.id)
    case "SessionBusy":
      return new errors(-32600, refusal.message)
    case "SetupRefused":
    case "OptionRefused":
    case "CursorInvalid":
    case "ParamsInvalid":
      return new errors(-32602, refusal.message)
    case "SteeringRefused": {
      const { reason, messageId, message } = refusal
      return new errors(steeringCodes[reason], message, messageId === undefined ? { reason } : { reason, messageId })
    }
    case "TurnFailed":
      return new errors(-32603, refusal.message)
  }
}

const steeringCodes = { not_running: -32600, already_delivered: -32010, unknown_message_id: -32002 }

/**
 * Makes handlers for the SDK, which run in this context. A handler runs its effect, interrupts it when the request is cancelled, and turns
 * its failures into JSON-RPC errors. A defect is an internal error without details; it is logged.
 */
export const handlers = (errors: Errors, context: Context.Context<never>) => {
  const run = Effect.runPromiseExitWith(context)
  return <Request extends { readonly signal: AbortSignal }, A>(handler: (request: Request) => Effect.Effect<A, Refusal>) =>
    async (request: Request): Promise<A> => {
      const logged = Effect.tapCause(handler(request), (cause) => (Cause.hasDies(cause) ? Effect.logError(cause) : Effect.void))
      const exit = await run(logged, { signal: request.signal })
      if (Exit.isSuccess(exit)) return exit.value
      throw Option.match(Cause.findErrorOption(exit.cause), {
        onSome: (refusal) => errorOf(errors, refusal),
        onNone: () => (Cause.hasInterruptsOnly(exit.cause) ? errors.requestCancelled() : errors.internalError()),
      })
    }
}
