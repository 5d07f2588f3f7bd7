import type { Harness } from "@acp-kit/orchestrator/Harness"
import { environment } from "@acp-kit/orchestrator/Inheritance"
import { Launch } from "@acp-kit/orchestrator/Launch"
import { LaunchError } from "@acp-kit/orchestrator/LaunchError"
import { Limits } from "@acp-kit/orchestrator/Limits"
import type { SubagentError } from "@acp-kit/orchestrator/SubagentError"
import { Host } from "@acp-kit/platform/Host"
import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** One step of a start and how long it took, in milliseconds with one decimal. */
export interface Step {
  readonly name: "spawn" | "initialize" | "session/new" | "session/close" | "session/delete" | "stop"
  readonly ms: number
}

/** All that a start and one session without a prompt tell about a harness. */
export interface Report {
  readonly reference: string
  readonly protocolVersion: 1 | 2
  readonly agent: { readonly name: string; readonly version: string; readonly title: string | undefined } | undefined
  readonly authMethods: ReadonlyArray<string>
  /** What Kit can use of it, by Kit's name. */
  readonly capabilities: Readonly<Record<string, boolean>>
  /** The answer to `initialize` as it arrived. */
  readonly initialized: JsonObject
  /** The configuration options of the new session as they arrived. */
  readonly configOptions: ReadonlyArray<Json>
  readonly steps: ReadonlyArray<Step>
  /** What did not work after the session was there; the harness is usable all the same. */
  readonly notes: ReadonlyArray<string>
}

/** The harness cannot be used; `steps` are those that had been taken. Nothing of it runs any more. */
export class Unusable extends Data.TaggedError("Unusable")<{
  readonly reference: string
  readonly failure: SubagentError
  readonly steps: ReadonlyArray<Step>
}> {}

const usable = (capabilities: Launch.Launched["client"]["capabilities"]): Report["capabilities"] => {
  const {
    image,
    audio,
    embeddedContext,
    fork,
    close,
    delete: remove,
    load,
    list,
    additionalDirectories,
    steer,
    mcp,
  } = capabilities
  return {
    image,
    audio,
    embeddedContext,
    fork,
    steer,
    close,
    delete: remove,
    load,
    list,
    additionalDirectories,
    "mcp stdio": mcp.stdio,
    "mcp http": mcp.http,
    "mcp sse": mcp.sse,
  }
}

const milliseconds = (from: bigint, to: bigint): number => Math.round(Number(to - from) / 100_000) / 10

/**
 * Starts a harness in Kit's working directory, negotiates, opens one session, closes and deletes it where it can, and ends the process.
 * No prompt is sent. The start has the same deadline as that of a child (S162); `onLine` gets what the harness logs.
 */
export const probe = Effect.fn("HarnessProbe.probe")(function* (
  profile: Harness.Profile,
  onLine: (line: string) => Effect.Effect<void>,
) {
  const host = yield* Host.Service
  const limits = yield* Limits.Service
  const now = Clock.currentTimeNanos
  const steps: Array<Step> = []
  const notes: Array<string> = []
  const stray: Array<string> = []
  const timed = <A, E, R>(name: Step["name"], effect: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const began = yield* now
      const result = yield* effect
      steps.push({ name, ms: milliseconds(began, yield* now) })
      return result
    })
  const start = Effect.gen(function* () {
    const began = yield* now
    let asked: bigint | undefined
    const launched = yield* Launch.launch(
      profile,
      {
        cwd: host.cwd,
        args: profile.args,
        env: environment(profile, host.env, {}),
        info: { name: "kit", version: host.version },
        observe: () =>
          Effect.map(now, (at) => {
            asked ??= at
          }),
        onLine,
      },
      stray,
    )
    const answered = yield* now
    steps.push({ name: "spawn", ms: milliseconds(began, asked ?? answered) })
    steps.push({ name: "initialize", ms: milliseconds(asked ?? answered, answered) })
    const opened = timed("session/new", launched.client.newSession({ cwd: host.cwd }))
    const session = yield* Effect.mapError(opened, (error) => LaunchError.ofStart(profile, error, stray))
    return { launched, session }
  })
  const deadline = {
    duration: limits.startupMs,
    orElse: () => Effect.fail(LaunchError.handshakeTimeout(profile, limits, stray)),
  }
  const work = Effect.gen(function* () {
    const { launched, session } = yield* Effect.timeoutOrElse(start, deadline)
    const { client } = launched
    const configOptions = (yield* session.configOptions) ?? []
    const tidy = <E extends { readonly message: string }>(
      name: "session/close" | "session/delete",
      effect: Effect.Effect<void, E>,
    ) => Effect.catch(timed(name, effect), (error: E) => Effect.sync(() => void notes.push(`${name}: ${error.message}`)))
    if (client.capabilities.close) yield* tidy("session/close", session.close)
    if (client.capabilities.delete) yield* tidy("session/delete", session.delete)
    yield* timed("stop", launched.stop())
    const report: Report = {
      reference: profile.reference,
      protocolVersion: client.version,
      agent: client.agentInfo,
      authMethods: client.authMethodIds,
      capabilities: usable(client.capabilities),
      initialized: client.initialized,
      configOptions,
      steps,
      notes,
    }
    return report
  })
  return yield* Effect.mapError(Effect.scoped(work), (failure) => new Unusable({ reference: profile.reference, failure, steps }))
})

export * as HarnessProbe from "./HarnessProbe.ts"
