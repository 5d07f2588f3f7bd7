import type { Child, ExitStatus } from "@acp-kit/platform/Processes"
import type { Entry } from "@acp-kit/platform/ProcessTable"
import { ProcessTable } from "@acp-kit/platform/ProcessTable"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

/** How a `kit` ended. */
export interface Ended extends ExitStatus {
  readonly out: string
  readonly err: string
  /** Processes of its making that ran on at the moment of its end. */
  readonly left: ReadonlyArray<Entry>
}

/** Text that arrives. */
export interface Heard {
  readonly text: string
  /** Waits until the text holds this; dies where the stream ends without it. */
  readonly until: (part: string) => Effect.Effect<void>
}

/** A `kit` that runs. */
export interface RunningKit extends Pick<Child, "pid" | "mark" | "write" | "endInput" | "stop"> {
  readonly out: Heard
  readonly err: Heard
  /** Waits for its end, and for the end of what it printed. */
  readonly ended: Effect.Effect<Ended>
}

const listen = Effect.fnUntraced(function* (read: Child["read"]) {
  const decoder = new TextDecoder()
  const waiting = new Map<string, Deferred.Deferred<void>>()
  let text = ""
  const look = (over: boolean) => {
    for (const [part, done] of waiting) {
      if (text.includes(part)) Deferred.doneUnsafe(done, Effect.void)
      else if (over) Deferred.doneUnsafe(done, Effect.die(new Error(`never said ${JSON.stringify(part)}, but:\n${text}`)))
      else continue
      waiting.delete(part)
    }
  }
  let over = false
  const pump = yield* Effect.forkScoped(
    Effect.gen(function* () {
      for (let chunk = yield* read; chunk !== undefined; chunk = yield* read) {
        text += decoder.decode(chunk, { stream: true })
        look(false)
      }
      over = true
      look(true)
    }),
  )
  const heard: Heard = {
    get text() {
      return text
    },
    until: (part) =>
      Effect.suspend(() => {
        const done = waiting.get(part) ?? Deferred.makeUnsafe<void>()
        waiting.set(part, done)
        look(over)
        return Deferred.await(done)
      }),
  }
  return { heard, end: Fiber.join(pump) }
})

/** Listens to a process that was started; its scope is that of the listening. */
export const follow = Effect.fnUntraced(function* (child: Child): Effect.fn.Return<RunningKit, never, Scope.Scope> {
  const out = yield* listen(child.read)
  const err = yield* listen(child.readError)
  const ended = Effect.gen(function* () {
    const status = yield* child.exit
    const left = yield* ProcessTable.marked(child.mark)
    yield* Effect.all([out.end, err.end])
    return { ...status, out: out.heard.text, err: err.heard.text, left }
  })
  const { pid, mark, write, endInput, stop } = child
  return { pid, mark, write, endInput, stop, out: out.heard, err: err.heard, ended }
})

export * as RunningKit from "./RunningKit.ts"
