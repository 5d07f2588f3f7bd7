import type { SessionBusy } from "@acp-kit/agent/AgentSession"
import type { UnknownSession } from "@acp-kit/agent/AgentSessions"
import type { SetupRefused } from "@acp-kit/agent/Directories"
import type { OptionRefused } from "@acp-kit/agent/SessionOptions"
import type { TurnFailed } from "@acp-kit/agent/TurnLoop"
import { RequestError } from "@agentclientprotocol/sdk/unstable"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"

/** What a handler may fail with. */
export type Refusal = SessionBusy | UnknownSession | SetupRefused | OptionRefused | TurnFailed

/** The JSON-RPC error of a failure. Only what a client may know is in it. */
export const errorOf = (refusal: Refusal): RequestError => {
  switch (refusal._tag) {
    case "UnknownSession":
      return RequestError.sessionNotFound(refusal.id)
    case "SessionBusy":
      return new RequestError(-32600, refusal.message)
    case "SetupRefused":
    case "OptionRefused":
      return new RequestError(-32602, refusal.message)
    case "TurnFailed":
      return new RequestError(-32603, refusal.message)
  }
}

export interface Bridge {
  /**
   * A handler for the SDK: runs the effect, interrupts it when the request is cancelled, and turns its failures into JSON-RPC errors.
   * A defect is an internal error without details; it is logged.
   */
  readonly handle: <Request extends { readonly signal: AbortSignal }, A>(
    handler: (request: Request) => Effect.Effect<A, Refusal>,
  ) => (request: Request) => Promise<A>
}

/** Bridges into the runtime of the effect that makes it. */
export const make: Effect.Effect<Bridge> = Effect.map(Effect.context<never>(), (context) => {
  const run = Effect.runPromiseExitWith(context)
  return {
    handle: (handler) => async (request: Parameters<typeof handler>[0]) => {
      const exit = await run(
        Effect.tapCause(handler(request), (cause) => (Cause.hasDies(cause) ? Effect.logError(cause) : Effect.void)),
        { signal: request.signal },
      )
      if (Exit.isSuccess(exit)) return exit.value
      throw Option.match(Cause.findErrorOption(exit.cause), {
        onSome: errorOf,
        onNone: () => (Cause.hasInterruptsOnly(exit.cause) ? RequestError.requestCancelled() : RequestError.internalError()),
      })
    },
  }
})

export * as Bridges from "./Bridge.ts"
