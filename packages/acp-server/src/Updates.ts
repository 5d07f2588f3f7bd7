import * as Effect from "effect/Effect"

/** What this file needs of the SDK's client context, of either version. */
interface Client {
  readonly notify: (method: string, params: unknown) => Promise<void>
}

/** The way of session updates to the client. */
export interface Updates {
  /** Whom to tell; until then nobody is told. */
  readonly attach: (client: Client) => void
  /** Sends the updates in order; each waits until the one before is on the wire. A client that is gone is told nothing. */
  readonly send: (sessionId: string, updates: ReadonlyArray<unknown>) => Effect.Effect<void>
}

export const make = (): Updates => {
  let client: Client | undefined
  return {
    attach: (connected) => {
      client = connected
    },
    send: (sessionId, updates) =>
      Effect.forEach(
        updates,
        (update) => Effect.promise(async () => client?.notify("session/update", { sessionId, update }).catch(() => undefined)),
        { discard: true },
      ),
  }
}
