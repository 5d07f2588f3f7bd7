import type { SubagentError } from "@acp-kit/orchestrator/SubagentError"
import { Subagents } from "@acp-kit/orchestrator/Subagents"
import { Health } from "@acp-kit/store/Health"
import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Cancelling } from "./Cancelling.ts"
import { type CommandFailed, failed } from "./CommandFailed.ts"
import { printable } from "./Printable.ts"
import { ProgressView } from "./ProgressView.ts"
import { Store } from "./Store.ts"

/** The children of a session with a view that follows them; the view ends after the last of them. */
export const use = <A, E, R>(options: Subagents.Options, work: (subagents: Subagents.Live) => Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.gen(function* () {
      const life = yield* Scope.make()
      const subagents = yield* Store.tried(Scope.provide(Subagents.make(options), life))
      const { health } = yield* SessionStore.Service
      const trouble = Stream.map(Health.news(health), ({ text }) => `kit: ${printable(text)}`)
      const cancelled = yield* Deferred.make<string>()
      const told = Stream.merge(trouble, Stream.fromEffect(Deferred.await(cancelled)))
      const view = yield* Effect.forkChild(ProgressView.follow(subagents.events, told))
      return { life, subagents, view, cancelled }
    }),
    ({ subagents, cancelled }) => {
      const tell = Effect.asVoid(Deferred.succeed(cancelled, Cancelling.line))
      return Cancelling.told(tell)(work(subagents))
    },
    ({ life, view }) => Effect.andThen(Scope.close(life, Exit.void), Fiber.await(view)),
  )

/** What a verb says, as a command's failure. */
export const refused = ({ code, message, retryable = false, uncertain = false, details = {} }: SubagentError): CommandFailed =>
  failed(1, code, uncertain ? `${message}; what was asked for may have happened` : message, { retryable, uncertain, details })

export * as LiveChildren from "./LiveChildren.ts"
