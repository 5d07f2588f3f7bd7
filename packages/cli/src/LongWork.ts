import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { clip } from "./Printable.ts"
import { Terminal } from "./Terminal.ts"

/** Work that is over sooner shows nothing. */
const patience = "500 millis"
const redrawEvery = "100 millis"
/** Where lines cannot be redrawn, one of them this often. */
const lineEvery = "10 seconds"

const redrawn = (terminal: Terminal.Interface, text: () => string) => {
  let drawn = false
  const draw = Effect.gen(function* () {
    const columns = yield* terminal.columns
    drawn = true
    yield* terminal.err(`\r\u001b[K${clip(text(), columns - 1)}`)
  })
  const loop = Effect.andThen(Effect.sleep(patience), Effect.forever(Effect.andThen(draw, Effect.sleep(redrawEvery))))
  return Effect.ensuring(
    loop,
    Effect.suspend(() => (drawn ? terminal.err("\r\u001b[K") : Effect.void)),
  )
}

const inLines = (terminal: Terminal.Interface, text: () => string) =>
  Effect.forever(
    Effect.andThen(
      Effect.sleep(lineEvery),
      Effect.suspend(() => terminal.err(`${text()}\n`)),
    ),
  )

/**
 * Shows on stderr how far work has come, for as long as it goes on: one line that is redrawn and goes away at the end, or on a stream that cannot be
 * redrawn a line every ten seconds. `text` is asked whenever it is shown.
 */
export const during =
  (text: () => string) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Terminal.Service> =>
    Effect.flatMap(Terminal.Service, (terminal) =>
      Effect.acquireUseRelease(
        Effect.forkChild(Effect.interruptible(terminal.redraws ? redrawn(terminal, text) : inLines(terminal, text))),
        () => work,
        Fiber.interrupt,
      ),
    )

export * as LongWork from "./LongWork.ts"
