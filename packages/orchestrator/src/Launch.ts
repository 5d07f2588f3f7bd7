import { Processes } from "@acp-kit/platform/Processes"
import * as AgentClient from "@acp-kit/protocol/AgentClient"
import type { ProtocolError } from "@acp-kit/protocol/ProtocolError"
import type { Noise } from "@acp-kit/protocol/WireFrame"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { ChildLog } from "./ChildLog.ts"
import { ChildWords } from "./ChildWords.ts"
import type { Profile } from "./Harness.ts"
import { LaunchError } from "./LaunchError.ts"
import { Limits } from "./Limits.ts"
import { ProcessTransport } from "./ProcessTransport.ts"
import type { SubagentError } from "./SubagentError.ts"

/** A process that speaks ACP, negotiated and ready for sessions. */
export interface Launched {
  readonly client: AgentClient.AgentClient
  readonly pid: number
  /** For what it says, wherever a message of ours holds it. */
  readonly quote: ChildWords.Quote
  /** Ends the process and all it started; safe to call twice. `afterCancel` gives it half a second only. */
  readonly stop: (how?: "afterCancel") => Effect.Effect<void>
}

/** What a start needs beyond the profile. */
export interface Options {
  /** Absolute path of an existing directory. */
  readonly cwd: string
  /** The whole argument list. */
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  /** Names of variables whose values are secret, whatever they are called. */
  readonly secrets?: ReadonlyArray<string>
  readonly info: { readonly name: string; readonly version: string }
  readonly observe?: AgentClient.Options["observe"]
  /** A line of stderr, or a stray line of stdout, as it is to be shown; {@link ChildLog} bounds them. */
  readonly onLine: (line: string) => Effect.Effect<void>
}

const clientLimits = (limits: Limits.Interface): AgentClient.Limits => ({
  lineBytes: limits.lineBytes,
  items: limits.updateItems * limits.updateHeadroom,
  itemBytes: limits.updateBytes * limits.updateHeadroom,
  answerBytes: limits.answerBytes,
  orphans: limits.earlyUpdates,
  orphanBytes: limits.earlyBytes,
  settle: limits.cancelMs,
  steer: limits.steerMs,
  fork: limits.forkMs,
  close: limits.closeMs,
  delete: limits.deleteMs,
  drain: limits.drainMs,
})

interface Attempt {
  readonly profile: Profile
  readonly options: Options
  readonly limits: Limits.Interface
  /** Where stray lines are remembered. */
  readonly stray: Array<string>
}

const ladder = (limits: Limits.Interface): Processes.Ladder => ({ eof: limits.endOfInputMs, term: limits.termMs })

const impatient = (limits: Limits.Interface): Processes.Ladder => ({ eof: 0, term: limits.termAfterCancelMs })

/** One process, asked for the version once; the scope holds it. */
const attempt = Effect.fnUntraced(function* (
  { profile, options, limits, stray }: Attempt,
  offer: 1 | 2,
): Effect.fn.Return<Launched, SubagentError | ProtocolError.VersionRejected, Processes.Service | Scope.Scope> {
  const processes = yield* Processes.Service
  const outer = yield* Effect.scope
  const scope = yield* Scope.fork(outer)
  const quote = ChildWords.quoting(options.env, options.secrets)
  const child = yield* processes
    .spawn({ command: profile.command, args: options.args, cwd: options.cwd, env: options.env, ladder: ladder(limits) })
    .pipe(
      Effect.mapError((failure) => LaunchError.spawnFailure(profile, failure, options.cwd)),
      Scope.provide(scope),
    )
  const log = ChildLog.make(limits, options.onLine)
  const onNoise = ({ sample }: Noise) => {
    if (stray.length < limits.strayLines) stray.push(sample)
    return log.line(`stray line on stdout: ${sample}`)
  }
  const client = yield* ProcessTransport.make(child, {
    tailBytes: limits.stderrTailBytes,
    drainMs: limits.drainMs,
    log,
  }).pipe(
    Effect.flatMap((transport) =>
      AgentClient.connect(transport, {
        info: options.info,
        offer,
        limits: clientLimits(limits),
        onNoise,
        ...(options.observe === undefined ? {} : { observe: options.observe }),
      }),
    ),
    Effect.mapError((error) => (error._tag === "VersionRejected" ? error : LaunchError.ofStart(profile, error, stray, quote))),
    Scope.provide(scope),
    Effect.onError(() => Effect.andThen(child.stop(impatient(limits)), Scope.close(scope, Exit.void))),
  )
  const stop = (how?: "afterCancel") =>
    Effect.timeoutOption(client.flush, limits.drainMs).pipe(
      Effect.andThen(child.stop(how === undefined ? ladder(limits) : impatient(limits))),
      Effect.andThen(Scope.close(scope, Exit.void)),
      Effect.uninterruptible,
    )
  return { client, pid: child.pid, quote, stop }
})

/**
 * Starts a harness and negotiates; version 2 is offered, and a child that rejects it and ends is started once more and offered version 1
 * (decision 10). The process lives until `stop` or the end of the scope. It has no deadline of its own; interrupted, it leaves nothing running.
 */
export const launch = Effect.fn("Launch.launch")(function* (
  profile: Profile,
  options: Options,
  stray: Array<string> = [],
): Effect.fn.Return<Launched, SubagentError, Processes.Service | Scope.Scope> {
  const tried: Attempt = { profile, options, limits: yield* Limits.Service, stray }
  return yield* attempt(tried, 2).pipe(
    Effect.catchTag("VersionRejected", () => attempt(tried, 1)),
    Effect.catchTag("VersionRejected", ({ closed }) => Effect.fail(LaunchError.earlyExit(profile, closed, stray))),
  )
})

export * as Launch from "./Launch.ts"
