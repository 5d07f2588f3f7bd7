import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Limits } from "./Limits.ts"

/** What a line costs beside its characters, so that empty ones cost something. */
const perLine = 64

/** What one process says for people: its stderr, and what stands on its stdout and is no message. */
export interface ChildLog {
  /** One line, however long; what the limits do not allow is counted. */
  readonly line: (text: string) => Effect.Effect<void>
  /** The next piece of a text that comes in pieces. */
  readonly text: (piece: string) => Effect.Effect<void>
  /** The text is over: gives what stands behind its last line feed, and says once how much was left out. */
  readonly end: Effect.Effect<void>
}

/**
 * Passes lines on to `onLine`, each cut at `logLineCharacters`, no more than `logBurst` characters at once, `logPerSecond` a second after that, and
 * `logTotal` in all. The first line that is left out is announced.
 */
export const make = (limits: Limits.Interface, onLine: (line: string) => Effect.Effect<void>): ChildLog => {
  const { logBurst, logLineCharacters: longest, logPerSecond, logTotal } = limits
  let credit = logBurst
  let left = logTotal
  let asOf: number | undefined
  let lines = 0
  let characters = 0
  let rest = ""
  let cut = false

  const show = (text: string): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      credit = Math.min(logBurst, credit + ((now - (asOf ?? now)) * logPerSecond) / 1000)
      asOf = now
      const cost = Math.min(text.length, longest) + perLine
      if (cost <= credit && cost <= left) {
        credit -= cost
        left -= cost
        characters += Math.max(0, text.length - longest)
        return onLine(text.length > longest ? `${text.slice(0, longest)}…` : text)
      }
      lines += 1
      characters += text.length
      return lines === 1 ? onLine("it writes more than is shown here; what is left out is counted") : Effect.void
    })

  const flush = Effect.suspend(() => {
    const line = rest
    rest = ""
    return line === "" && cut ? Effect.void : show(line.replace(/\r$/, ""))
  })

  const text = Effect.fnUntraced(function* (piece: string) {
    for (let from = 0; from < piece.length; ) {
      const feed = piece.indexOf("\n", from)
      const to = feed === -1 ? piece.length : feed
      if (cut) characters += to - from
      else rest += piece.slice(from, to)
      if (rest.length > longest) {
        yield* flush
        cut = true
      }
      if (feed === -1) return
      yield* flush
      cut = false
      from = feed + 1
    }
  })

  return {
    line: show,
    text,
    end: Effect.gen(function* () {
      if (rest !== "") yield* flush
      if (characters > 0 || lines > 0) yield* onLine(`${lines} lines, ${characters} characters in all, of output were left out`)
      lines = 0
      characters = 0
    }),
  }
}

export * as ChildLog from "./ChildLog.ts"
