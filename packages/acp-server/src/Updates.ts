import * as Effect from "effect/Effect"
import type { ServerTransport } from "./ServerTransport.ts"

/**
 * The way of session updates to the client, past the SDK, which adds nothing to them and costs as much as all the rest. Each waits until
 * the one before is on the wire, and whoever sends an answer afterwards sends it behind them.
 */
export const sender =
  (transport: ServerTransport) =>
  (sessionId: string, updates: ReadonlyArray<unknown>): Effect.Effect<void> =>
    updates.length === 1
      ? transport.notify("session/update", { sessionId, update: updates[0] })
      : Effect.forEach(updates, (update) => transport.notify("session/update", { sessionId, update }), { discard: true })
