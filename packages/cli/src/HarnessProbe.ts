import type { Harness } from "@acp-kit/orchestrator/Harness"
import { environment } from "@acp-kit/orchestrator/Inheritance"
import { Launch } from "@acp-kit/orchestrator/Launch"
import { LaunchError } from "@acp-kit/orchestrator/LaunchError"
import { Limits } from "@acp-kit/orchestrator/Limits"
import type { SubagentError } from "@acp-kit/orchestrator/SubagentError"
import { isGone } from "@acp-kit/orchestrator/Verbs/Close"
import { Host } from "@acp-kit/platform/Host"
import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Advertised } from "./Advertised.ts"

/** One step of a start and how long it took, in milliseconds with one decimal; `ok` is false where it failed or did not end in time. */
export interface Step {
  readonly name: "spawn" | "initialize" | "session/new" | "session/close" | "session/delete" | "stop"
  readonly ms: number
  readonly ok: boolean
}

/** All that a start and one session without a prompt tell about a harness. */
export interface Report {
  readonly reference: string
  /** The versions that were offered, in order. */
  readonly offered: ReadonlyArray<number>
  readonly protocolVersion: 1 | 2
  readonly agent: { readonly name: string; readonly version: string; readonly title: string | undefined } | undefined
  readonly authMethods: ReadonlyArray<string>
  /** What Kit can use of it, by Kit's name. */
  readonly capabilities: Readonly<Record<string, boolean>>
  /** What it advertises beyond that, as paths into its capabilities. */
  readonly unused: ReadonlyArray<string>
  /** The answer to `initialize` as it arrived. */
  readonly initialized: JsonObject
  /** The answer to `session/new` as it arrived. */
  readonly opened: JsonObject
  /** The configuration options of the new session as they arrived. */
  readonly configOptions: ReadonlyArray<Json>
  /** The same, read: `values` are the choices of a select. */
  readonly options: ReadonlyArray<{
    readonly id: string
    readonly currentValue: Json | undefined
    readonly values: ReadonlyArray<string>
  }>
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

/** One attempt at a harness: what is tried, and what has been seen so far. */
interface Attempt {
  readonly profile: Harness.Profile
  readonly onLine: (line: string) => Effect.Effect<void>
  readonly steps: Array<Step>
  readonly notes: Array<string>
  readonly stray: Array<string>
  readonly offered: Array<number>
}

const now = Clock.currentTimeNanos

const versionOf = (message: unknown): number => {
  const { params } = (message ?? {}) as { readonly params?: { readonly protocolVersion?: unknown } }
  return Number(params?.protocolVersion)
}

const milliseconds = (from: bigint, to: bigint): number => Math.round(Number(to - from) / 100_000) / 10

const timed = <A, E, R>({ steps }: Attempt, name: Step["name"], effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(now, (began) =>
    Effect.onExit(effect, (exit) =>
      Effect.map(now, (at) => void steps.push({ name, ms: milliseconds(began, at), ok: Exit.isSuccess(exit) })),
    ),
  )

type Observe = NonNullable<Launch.Options["observe"]>

/** The process is there when the first frame is about to be written to it. */
const launch = Effect.fnUntraced(function* ({ profile, onLine, steps, stray, offered }: Attempt) {
  const host = yield* Host.Service
  const began = yield* now
  let asked: bigint | undefined
  const observe: Observe = (frames) =>
    Effect.map(now, (at) => {
      asked ??= at
      for (const { direction, method, message } of frames) {
        if (direction === "out" && method === "initialize") offered.push(versionOf(message))
      }
    })
  const env = environment(profile, host.env, {})
  const info = { name: "kit", version: host.version }
  return yield* Effect.onExit(
    Launch.launch(profile, { cwd: host.cwd, args: profile.args, env, info, observe, onLine }, stray),
    (exit) =>
      Effect.map(now, (at) => {
        steps.push({ name: "spawn", ms: milliseconds(began, asked ?? at), ok: asked !== undefined })
        if (asked !== undefined) steps.push({ name: "initialize", ms: milliseconds(asked, at), ok: Exit.isSuccess(exit) })
      }),
  )
})

const open = Effect.fnUntraced(function* (attempt: Attempt) {
  const { cwd } = yield* Host.Service
  const launched = yield* launch(attempt)
  const opened = timed(attempt, "session/new", launched.client.newSession({ cwd }))
  const session = yield* Effect.mapError(opened, (error) =>
    LaunchError.ofStart(attempt.profile, error, attempt.stray, launched.quote),
  )
  return { launched, session }
})

type Opened = Effect.Success<ReturnType<typeof open>>

/** Leaves nothing behind at the harness, as far as it can do that. */
const tidy = Effect.fnUntraced(function* (attempt: Attempt, { launched, session }: Opened) {
  const { capabilities } = launched.client
  const calls = [
    ["session/close", capabilities.close, session.close],
    ["session/delete", capabilities.delete, session.delete],
  ] as const
  for (const [name, can, call] of calls) {
    if (!can) continue
    yield* Effect.catch(
      timed(
        attempt,
        name,
        Effect.catchIf(call, isGone, () => Effect.void),
      ),
      (error) =>
        Effect.sync(() => {
          attempt.notes.push(`${name}: ${error.message}`)
        }),
    )
  }
  yield* timed(attempt, "stop", launched.stop())
})

const report = Effect.fnUntraced(function* (attempt: Attempt) {
  const limits = yield* Limits.Service
  const opened = yield* Effect.timeoutOrElse(open(attempt), {
    duration: limits.startupMs,
    orElse: () => Effect.fail(LaunchError.handshakeTimeout(attempt.profile, limits, attempt.stray)),
  })
  const { client } = opened.launched
  const configOptions = (yield* opened.session.configOptions) ?? []
  const options = yield* opened.session.options
  yield* tidy(attempt, opened)
  const found: Report = {
    reference: attempt.profile.reference,
    offered: attempt.offered,
    protocolVersion: client.version,
    agent: client.agentInfo,
    authMethods: client.authMethodIds,
    capabilities: usable(client.capabilities),
    unused: Advertised.unused(client.version, client.capabilities.raw),
    initialized: client.initialized,
    opened: opened.session.opened,
    configOptions,
    options: options.map(({ id, currentValue, values }) => ({ id, currentValue, values })),
    steps: attempt.steps,
    notes: attempt.notes,
  }
  return found
})

/**
 * Starts a harness in Kit's working directory, negotiates, opens one session, closes and deletes it where it can, and ends the process.
 * No prompt is sent. The start has the same deadline as that of a child (S162); `onLine` gets what the harness logs.
 */
export const probe = Effect.fn("HarnessProbe.probe")(function* (
  profile: Harness.Profile,
  onLine: (line: string) => Effect.Effect<void>,
) {
  const attempt: Attempt = { profile, onLine, steps: [], notes: [], stray: [], offered: [] }
  const { reference } = profile
  return yield* Effect.mapError(
    Effect.scoped(report(attempt)),
    (failure) => new Unusable({ reference, failure, steps: attempt.steps }),
  )
})

export * as HarnessProbe from "./HarnessProbe.ts"
