import type { Readable } from "node:stream"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** How long a pipe is read on after its owner has exited and nothing comes. */
const drain = "250 millis"

/** A readable stream whose chunks are asked for; between two reads it holds one buffer and its writer waits. */
export interface PulledStream {
  /** The next chunk, or `undefined` at the end. One reader at a time. */
  readonly read: Effect.Effect<Uint8Array | undefined>
  /** Its owner has exited: reads end when nothing comes any more, even if the pipe stays open. */
  readonly ownerExited: () => void
  /** Drops what comes from now on; a waiting read ends. */
  readonly abandon: () => void
}

const turnOfTheLoop = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

export const make = (stream: Readable): PulledStream => {
  let waiting: (() => void) | undefined
  let ended = false
  let orphaned = false
  const wake = () => {
    const resume = waiting
    waiting = undefined
    resume?.()
  }
  const end = () => {
    ended = true
    wake()
  }
  stream.on("readable", wake)
  for (const event of ["end", "close", "error"]) stream.on(event, end)

  const change = Effect.callback<void>((resume) => {
    waiting = () => resume(Effect.void)
    return Effect.sync(() => {
      waiting = undefined
    })
  })

  const lastLook = Effect.gen(function* () {
    yield* turnOfTheLoop
    yield* turnOfTheLoop
    const chunk = stream.read() as Uint8Array | null
    if (chunk !== null) return chunk
    ended = true
    return undefined
  })

  const read: Effect.Effect<Uint8Array | undefined> = Effect.suspend(() => {
    const chunk = ended ? null : (stream.read() as Uint8Array | null)
    if (chunk !== null) return Effect.succeed(chunk)
    if (ended) return Effect.succeed(undefined)
    if (!orphaned) return Effect.flatMap(change, () => read)
    return Effect.flatMap(Effect.timeoutOption(change, drain), Option.match({ onNone: () => lastLook, onSome: () => read }))
  })

  return {
    read,
    ownerExited: () => {
      orphaned = true
      wake()
    },
    abandon: () => {
      end()
      stream.off("readable", wake)
      stream.resume()
    },
  }
}

export * as PulledStream from "./PulledStream.ts"
