import type { Readable } from "node:stream"
import { PulledStream } from "@acp-kit/platform/PulledStream"
import * as AgentClient from "@acp-kit/protocol/AgentClient"
import type { Transport } from "@acp-kit/protocol/Transport"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

const limits: AgentClient.Limits = {
  lineBytes: 32 * 1024 * 1024,
  items: 64,
  itemBytes: 65_536,
  answerBytes: 64 * 1024 * 1024,
  orphans: 256,
  orphanBytes: 1024 * 1024,
  settle: "5 seconds",
  steer: "5 seconds",
  fork: "30 seconds",
  close: "5 seconds",
  delete: "5 seconds",
  drain: "250 millis",
}

/** The pipes of a process. */
export interface Pipes {
  readonly stdin: NodeJS.WritableStream
  readonly stdout: Readable
}

const transportOf = ({ stdin, stdout }: Pipes): Transport => ({
  read: PulledStream.make(stdout).read,
  write: (frame) => Effect.callback<void>((resume) => void stdin.write(frame, () => resume(Effect.void))),
  end: Effect.sync(() => void stdin.end()),
  closed: Effect.never,
})

/** Our client, up to an open session; `observed` has every frame handed to an observer that counts them. */
export const kitClient = async (pipes: Pipes, observed = false) => {
  const seen = { frames: 0 }
  const observe: AgentClient.Options["observe"] = (batch) =>
    Effect.sync(() => {
      seen.frames += batch.length
    })
  const scope = Scope.makeUnsafe()
  const session = await Effect.runPromise(
    AgentClient.connect(transportOf(pipes), {
      info: { name: "bench", version: "1" },
      offer: 2,
      limits,
      ...(observed ? { observe } : {}),
    }).pipe(
      Effect.flatMap((client) => client.newSession({ cwd: "/" })),
      Scope.provide(scope),
    ),
  )
  return {
    /** Follows the session, reads one update and never another. */
    subscribeAndStop: () => void Effect.runFork(Stream.runForEach(session.activity(), () => Effect.never)),
    prompt: async () => (await Effect.runPromise(session.prompt([{ type: "text", text: "go" }]))).text,
  }
}
