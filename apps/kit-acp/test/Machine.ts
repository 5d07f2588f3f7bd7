import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import { type Child, Processes } from "@acp-kit/platform/Processes"
import { type Transport, TransportClosed } from "@acp-kit/protocol/Transport"
import { TestKit } from "@acp-kit/testing/TestKit"
import * as Effect from "effect/Effect"

/** `kit acp` from source; its children are the same. */
export const program = [
  process.execPath,
  "--conditions=@acp-kit/source",
  fileURLToPath(new URL("../src/main.ts", import.meta.url)),
] as const

/** A machine of its own for one test, on which `kit acp` can be started. */
export const machine = Effect.gen(function* () {
  const processes = yield* Processes.Service
  const kit = yield* TestKit.make()
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: kit.userHome,
    KIT_HOME: kit.kitHome,
    TMPDIR: kit.folder,
    KIT_CHILD_MARK: basename(kit.folder),
  }
  const start = (...args: ReadonlyArray<string>) =>
    processes.spawn({
      command: program[0],
      args: [...program.slice(1), "acp", ...args],
      cwd: kit.root,
      env,
      ladder: { eof: "5 seconds", term: "1 second" },
    })
  return { ...kit, start }
})

export type Machine = Effect.Success<typeof machine>

/** The content of a prompt. */
export const text = (text: string) => [{ type: "text" as const, text }]

const gone = new TransportClosed({ reason: "eof", exitCode: undefined, signal: undefined, stderrTail: "" })

/** The pipes of a process as the protocol's transport. */
export const transportOf = (child: Child): Transport => ({
  read: child.read,
  write: (frame) => Effect.mapError(child.write(frame), () => gone),
  end: child.endInput,
  closed: Effect.as(child.exit, gone),
})

/** The pipes of a process as web streams. */
export const streamsOf = (child: Child) => ({
  input: new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const chunk = await Effect.runPromise(child.read)
      if (chunk === undefined) controller.close()
      else controller.enqueue(chunk)
    },
  }),
  output: new WritableStream<Uint8Array>({
    write: (chunk) => Effect.runPromise(Effect.ignore(child.write(chunk))),
    close: () => Effect.runPromise(child.endInput),
  }),
})

/** All that the process still says, to its end. */
export const rest = (read: Child["read"]) =>
  Effect.gen(function* () {
    const decoder = new TextDecoder()
    let text = ""
    for (let chunk = yield* read; chunk !== undefined; chunk = yield* read) text += decoder.decode(chunk, { stream: true })
    return text
  })

/** A fenced block of the scripted model; a longer fence may hold another. */
export const block = (program: string, info = "runlet") => {
  const fence = "`".repeat(Math.max(3, 1 + Math.max(0, ...[...program.matchAll(/^`+/gm)].map(([run]) => run.length))))
  return `${fence}${info}\n${program}\n${fence}`
}
