import type { Interface as Sessions } from "@acp-kit/agent/AgentSessions"
import type { SetupRefused } from "@acp-kit/agent/Directories"
import type { Transport } from "@acp-kit/protocol/Transport"
import type { AgentConnector } from "@agentclientprotocol/sdk/unstable"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { ServerTransport } from "./ServerTransport.ts"
import type { Settings } from "./Settings.ts"

/** Which versions a client may choose; `auto` offers both. */
export type Protocol = 1 | 2 | "auto"

export interface Limits {
  /** Milliseconds after the end of input in which what was asked may still finish by itself. */
  readonly finishMs: number
  /** Milliseconds after that for cancelled work to stop and be answered. */
  readonly stopMs: number
}

export const defaultLimits: Limits = { finishMs: 500, stopMs: 1000 }

export interface Options {
  readonly protocol: Protocol
  readonly info: { readonly name: string; readonly version: string }
  /** Evaluated at the first request that needs a session, then kept. */
  readonly sessions: Effect.Effect<Sessions, SetupRefused>
  readonly limits?: Limits
  /** How messages are framed. */
  readonly framing?: ServerTransport.Options
}

/** The client sent a message that cannot be taken, and nobody can tell it which: nothing of what followed was read. */
export class InputRefused extends Data.TaggedError("InputRefused")<{ readonly message: string }> {}

/**
 * Serves one client until its input ends, then answers what was asked, stops what is still at work, and succeeds within the limits.
 * Interruption stops everything at once. Fails with {@link InputRefused}, in the same order, where the input ended at a message that was too large.
 */
export const serve = Effect.fn("AcpServer.serve")(function* (transport: Transport, options: Options) {
  const limits = options.limits ?? defaultLimits
  const server = ServerTransport.make(transport, options.framing)
  let made: Sessions | undefined
  const sessions = yield* Effect.cached(
    Effect.map(options.sessions, (sessions) => {
      made = sessions
      return sessions
    }),
  )
  const stopWork = Effect.suspend(() => made?.shutdown ?? Effect.void)
  const quiet = Effect.all([server.idle, Effect.suspend(() => made?.idle ?? Effect.void)], { discard: true })

  const app = yield* connector(options.protocol, {
    info: options.info,
    sessions,
    context: yield* Effect.context<never>(),
    transport: server,
  })
  app.connect(server.stream)
  yield* server.ended.pipe(
    Effect.andThen(Effect.timeoutOption(quiet, limits.finishMs)),
    Effect.andThen(Effect.timeoutOption(Effect.andThen(stopWork, server.idle), limits.stopMs)),
    Effect.onInterrupt(() => stopWork),
    Effect.ensuring(server.finish),
  )
  const why = server.gaveUp()
  if (why !== undefined) return yield* new InputRefused({ message: why })
})

/** The SDK's app for one version, or its router for both; a version that is not asked for is not loaded. */
const connector = (protocol: Protocol, settings: Settings): Effect.Effect<AgentConnector> =>
  Effect.promise(async () => {
    if (protocol === 1) return (await import("./AppV1.ts")).make(settings)
    if (protocol === 2) return (await import("./AppV2.ts")).make(settings)
    const { agentProtocolRouter } = await import("@agentclientprotocol/sdk/experimental/v2/unstable")
    const [v1, v2] = [await import("./AppV1.ts"), await import("./AppV2.ts")]
    return agentProtocolRouter().withV1(v1.make(settings)).withV2(v2.make(settings))
  })

export * as AcpServer from "./AcpServer.ts"
