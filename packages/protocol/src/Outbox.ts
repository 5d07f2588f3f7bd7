import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { type JsonObject, stringifyJson } from "./Json.ts"
import type { Transport, TransportClosed } from "./Transport.ts"
import type { WireFrame } from "./WireFrame.ts"

/** A frame that waits to be written. */
export interface Outgoing {
  /** Asked when its turn comes, `undefined` takes it back. From then on it counts as sent. */
  readonly message: () => JsonObject | undefined
  /** How it is filed. */
  readonly filed: Pick<WireFrame, "kind" | "method" | "id" | "sessionId" | "parentSessionId" | "errorCode">
  /** Called just before the bytes go to the transport. */
  readonly onWrite?: () => void
}

/** The one writer of a connection: frames leave in the order in which they were put in, each observed before it is written. */
export interface Outbox {
  readonly put: (frame: Outgoing) => void
  /** Waits while more than `backlog` frames are unwritten: a peer that asks without reading answers is not read either. */
  readonly room: Effect.Effect<void>
  readonly crowded: () => boolean
  /** Runs until the transport no longer takes anything. */
  readonly run: Effect.Effect<TransportClosed>
  /** Nobody reads any more: nothing is kept, and nobody waits for room. */
  readonly stop: () => void
}

const backlog = 1024

/** An outbox over a transport; `observe` as in `Options`. */
export const makeOutbox = (
  transport: Transport,
  observe: ((frames: ReadonlyArray<WireFrame>) => Effect.Effect<void>) | undefined,
): Effect.Effect<Outbox> =>
  Effect.map(Queue.unbounded<Outgoing>(), (queue) => {
    let drained: Deferred.Deferred<void> | undefined
    let stopped = false
    const crowded = () => !stopped && Queue.sizeUnsafe(queue) > backlog
    const makeRoom = (): void => {
      if (drained === undefined || crowded()) return
      const awaited = drained
      drained = undefined
      Deferred.doneUnsafe(awaited, Effect.void)
    }
    const stop = (): void => {
      stopped = true
      makeRoom()
    }

    const writeNext = Effect.gen(function* () {
      const frame = yield* Queue.take(queue)
      makeRoom()
      const message = frame.message()
      if (message === undefined) return
      const line = stringifyJson(message)
      if (observe !== undefined) yield* observe([{ direction: "out", line, message, ...frame.filed }])
      frame.onWrite?.()
      yield* transport.write(`${line}\n`)
    })

    return {
      put: (frame) => {
        if (!stopped) Queue.offerUnsafe(queue, frame)
      },
      room: Effect.suspend(() => {
        if (!crowded()) return Effect.void
        drained ??= Deferred.makeUnsafe<void>()
        return Deferred.await(drained)
      }),
      crowded,
      run: Effect.ensuring(Effect.flip(Effect.forever(writeNext)), Effect.sync(stop)),
      stop,
    }
  })
