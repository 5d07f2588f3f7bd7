import { Host } from "@acp-kit/platform/Host"
import { SystemFailure } from "@acp-kit/platform/SystemFailure"
import type { Observer } from "@acp-kit/runlet/Graph"
import { GraphLine } from "@acp-kit/runlet/GraphLine"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Queue from "effect/Queue"
import { failed } from "./CommandFailed.ts"
import { Terminal } from "./Terminal.ts"

/** A file that is told of every step of a run. */
export interface GraphFile {
  readonly observer: Observer
  /** Not every line could be written; final when the scope has ended. */
  readonly incomplete: () => boolean
}

/**
 * Makes the file anew and writes every event of a run to it, a line of JSON each, as they come. The end of the scope waits for the last line.
 * A file that cannot be made fails before anything runs; one that cannot be written later is told of on stderr and stops nothing.
 */
export const make = Effect.fnUntraced(function* (named: string) {
  if (named === "-")
    return yield* failed(2, "USAGE", "--graph needs a file; the value goes to standard output (a file of the name - is ./-)")
  const host = yield* Host.Service
  const files = yield* FileSystem.FileSystem
  const terminal = yield* Terminal.Service
  const path = (yield* Path.Path).resolve(host.cwd, named)
  const file = yield* Effect.mapError(files.open(path, { flag: "w" }), (error) =>
    failed(2, "UNWRITABLE", `could not write the graph to ${named}: ${SystemFailure.why(error)}`),
  )
  const lines = yield* Queue.make<string, Cause.Done>()
  const encoder = new TextEncoder()
  let broken = false
  const write = Effect.flatMap(Queue.takeAll(lines), (taken) =>
    broken ? Effect.void : file.writeAll(encoder.encode(`${taken.join("\n")}\n`)),
  ).pipe(
    Effect.catchTag("PlatformError", (error) => {
      broken = true
      return terminal.err(`kit: the graph in ${named} is incomplete: ${SystemFailure.why(error)}\n`)
    }),
  )
  const writing = yield* Effect.forkScoped(Effect.ignore(Effect.forever(write)))
  yield* Effect.addFinalizer(() => Effect.andThen(Queue.end(lines), Fiber.await(writing)))
  const graph: GraphFile = {
    observer: { onEvent: (event) => void Queue.offerUnsafe(lines, GraphLine.encode(event)) },
    incomplete: () => broken,
  }
  return graph
})

export * as GraphFile from "./GraphFile.ts"
