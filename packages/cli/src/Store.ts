import { Host } from "@acp-kit/platform/Host"
import { SessionStore } from "@acp-kit/store/SessionStore"
import type { StoreError } from "@acp-kit/store/StoreError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CommandFailed } from "./CommandFailed.ts"
import { printable } from "./Printable.ts"

const wrongCalls: ReadonlySet<string> = new Set<StoreError["code"]>(["NOT_FOUND", "INVALID_ID", "INVALID", "FOREIGN_SESSION"])

/** What the store says, as a command's failure: 2 where the call named something that is not there, 1 where the store could not do it. */
export const storeFailed = (error: StoreError): CommandFailed => {
  const { code, message } = error
  return new CommandFailed({ exit: wrongCalls.has(code) ? 2 : 1, text: `kit: ${printable(message)}`, error: { code, message } })
}

/** A call of the store whose failure ends the command. */
export const tried = <A, R>(call: Effect.Effect<A, StoreError | CommandFailed, R>): Effect.Effect<A, CommandFailed, R> =>
  Effect.catchTag(call, "StoreError", (error) => Effect.fail(storeFailed(error)))

/** The durable store of Kit's home. */
export const layer: Layer.Layer<SessionStore.Service, never, Host.Service> = Layer.unwrap(
  Effect.map(Host.Service, ({ kitHome }) => SessionStore.layerWith({ home: kitHome })),
)

/** Gives an effect the durable store of Kit's home. */
export const use = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, layer)

export * as Store from "./Store.ts"
